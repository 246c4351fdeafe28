from pathlib import Path

import pytest

from refreader_spacy.files import atomic_write, copy_atomically


def content(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def write_half(dest: Path) -> None:
    with atomic_write(dest) as draft:
        draft.write_text("Ada m")
        raise RuntimeError("only half was written")


def test_a_new_folder_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    source, dest = tmp_path / "mirror" / "rows.tsv", tmp_path / "vectors"
    source.parent.mkdir()
    source.write_text("Ada met Bo.")
    dest.mkdir()
    (dest / "old").touch()
    copy_atomically(source.parent, dest)
    assert content(dest) == ["rows.tsv"]


@pytest.mark.parametrize("earlier", ["Ada met Bo.", None])
def test_nothing_is_written_half(tmp_path: Path, earlier: str | None) -> None:
    dest = tmp_path / "metrics" / "scores.json"
    if earlier:
        dest.parent.mkdir()
        dest.write_text(earlier)
    with pytest.raises(RuntimeError, match="half"):
        write_half(dest)
    assert content(dest.parent) == (["scores.json"] if earlier else [])
    assert not earlier or dest.read_text() == earlier
