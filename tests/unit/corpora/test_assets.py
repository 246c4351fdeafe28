from pathlib import Path

import pytest
from weasel.util import get_checksum

from refreader_spacy.corpora.assets import check_asset, place_asset
from refreader_spacy.files import copy_atomically

WRONG = "0" * 32


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "mirror" / "rows.tsv"
    path.parent.mkdir()
    path.write_text("Ada met Bo.")
    return path


def content(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_an_asset_is_copied_once(source: Path, tmp_path: Path) -> None:
    dest = tmp_path / "assets" / "rows.tsv"
    assert place_asset(source, dest, get_checksum(source))
    assert dest.read_text() == "Ada met Bo."
    assert not place_asset(source, dest, get_checksum(source))


def test_a_right_asset_stays_when_its_mirror_is_damaged(
    source: Path, tmp_path: Path
) -> None:
    dest = tmp_path / "assets" / "rows.tsv"
    checksum = get_checksum(source)
    place_asset(source, dest, checksum)
    source.write_text("Ada")
    assert not place_asset(source, dest, checksum)
    assert dest.read_text() == "Ada met Bo."


def test_a_wrong_checksum_says_what_to_do_and_changes_nothing(
    source: Path, tmp_path: Path
) -> None:
    dest = tmp_path / "assets" / "rows.tsv"
    copy_atomically(source, dest)
    source.write_text("Cy met Di.")
    found = get_checksum(source)
    with pytest.raises(ValueError, match=rf"R180.*{WRONG}.*{found}.*fetch it") as error:
        place_asset(source, dest, WRONG)
    assert str(source) in str(error.value)
    assert dest.read_text() == "Ada met Bo."
    assert content(dest.parent) == ["rows.tsv"]


def test_a_damaged_asset_in_place_is_replaced(source: Path, tmp_path: Path) -> None:
    dest = tmp_path / "rows.tsv"
    dest.write_text("Ada m")
    with pytest.raises(ValueError, match="R180"):
        check_asset(dest, get_checksum(source))
    assert place_asset(source, dest, get_checksum(source))
    check_asset(dest, get_checksum(source))


def test_a_folder_is_copied_with_all_below_it(source: Path, tmp_path: Path) -> None:
    (source.parent / "vocab").mkdir()
    (source.parent / "vocab" / "keys").write_bytes(b"\x00")
    source.parent.chmod(0o555)
    dest = tmp_path / "vectors"
    assert place_asset(source.parent, dest, None)
    assert content(dest) == ["rows.tsv", "vocab", "vocab/keys"]
    assert dest.stat().st_mode & 0o200, "the copy of a read-only folder can be changed"
    assert not place_asset(source.parent, dest, None)
