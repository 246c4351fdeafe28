from pathlib import Path

import pytest

from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.formats import Format
from refreader_spacy.corpora.selection import Selection, listed_documents
from refreader_spacy.corpora.splits import Part, annotated_files, part_of

DOCUMENTS = [
    GoldDocument("a", "x", "news", ["a"] * 4, [True] * 4, [0, 2]),
    GoldDocument("b", "x", "fiction", ["b"]),
    GoldDocument("c", "x", "", ["c"]),
]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), "abc"),
        (Selection(listed=frozenset("ac")), "ac"),
        (Selection(listed=frozenset()), ""),
        (Selection(without_genres=frozenset(["fiction"])), "ac"),
        (Selection(genres=frozenset(["news", "bio"])), "a"),
        (Selection(window=2), "aabc"),
    ],
)
def test_some_documents_are_taken(selection, expected):
    assert "".join(document.id for document in selection.of(DOCUMENTS)) == expected


def test_a_list_has_a_name_a_line(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# The dev set\na\n\n b  # comment\nc d\n", "utf8")
    assert listed_documents(path) == {"a", "b", "c d"}


def test_of_ten_files_one_is_for_testing_and_one_for_development():
    files = [Path(f"{i}.conll") for i in range(12)]
    assert part_of(files, Part.TEST) == [files[0], files[10]]
    assert part_of(files, Part.DEV) == [files[1], files[11]]
    assert part_of(files, Part.TRAIN) == files[2:10]
    assert part_of(files, Part.ALL) == files
    with pytest.raises(ValueError, match=r"R358.*--part train"):
        part_of(files[:2], Part.TRAIN)


def test_files_of_folders_come_in_order_of_their_names(tmp_path):
    for name in ("b/1.conllu", "a/2.conllu", "3.jsonl.xz", "4.md", "5.conll"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def names(format: Format | None = None) -> list[str]:
        return [file.name for file in annotated_files([tmp_path], format)]

    assert names() == ["1.conllu", "2.conllu", "3.jsonl.xz", "5.conll"]
    assert names(Format.COREFUD) == ["1.conllu", "2.conllu"]
    assert names(Format.CRAFT) == ["3.jsonl.xz"]
    assert annotated_files([tmp_path / "4.md"]) == [tmp_path / "4.md"]
    with pytest.raises(ValueError, match=r"R414.*missing"):
        annotated_files([tmp_path / "missing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"R415.*empty"):
        annotated_files([tmp_path / "empty"])
