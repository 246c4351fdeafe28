import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_documents import clusters, documents

from refreader_spacy.corpora.document import Turn
from refreader_spacy.corpora.jsonlines import jsonlines_lines, read_jsonlines

ROW = {
    "doc_key": "nw/a_0",
    "sentences": [["Ann", "left", "."], ["She", "did"]],
    "speakers": [["A", "A", "A"], ["-", "-"]],
    "clusters": [[[0, 0], [3, 3]], [[0, 1]]],
}


def read(folder, *rows):
    path = folder / "file.jsonlines"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), "utf8")
    return list(read_jsonlines(path, "test"))


def test_mentions_are_first_and_last_token(tmp_path):
    (document,) = read(tmp_path, ROW, "")
    assert document.id == "nw/a_0"
    assert document.words == ["Ann", "left", ".", "She", "did"]
    assert document.spaces == [True, False, True, True, True]
    assert document.sentence_starts == [0, 3]
    assert clusters(document) == [[(0, 1), (3, 4)], [(0, 2)]]
    assert document.turns == [Turn(0, 3, "A")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "AttributeError"),
        ({}, "'sentences'"),
        ({**ROW, "sentences": "Ann"}, "list"),
        ({**ROW, "sentences": ["Ann left"]}, "list of words"),
        ({**ROW, "sentences": [["Ann", 3]]}, "list of words"),
        ({**ROW, "clusters": [[[0, 5]]]}, "no tokens from 0 to 5"),
        ({**ROW, "clusters": [[[2, 1]]]}, "no tokens from 2 to 1"),
        ({**ROW, "clusters": [[["a", 1]]]}, "TypeError"),
        ({**ROW, "clusters": [[0]]}, "TypeError"),
        ({**ROW, "speakers": [["A"]]}, "1 speakers of 5 words"),
    ],
)
def test_what_is_broken_is_said_with_its_place(tmp_path, row, message):
    with pytest.raises(ValueError, match=rf"R411.*line 2.*{message}"):
        read(tmp_path, ROW, row)


@given(st.lists(documents(), min_size=1, max_size=3))
def test_what_was_written_is_read_again(tmp_path, written):
    found = read(tmp_path, *jsonlines_lines(written))
    for before, after in zip(written, found, strict=True):
        assert clusters(after) == clusters(before)
        same = {"spaces": after.spaces, "entities": after.entities}
        assert after == replace(before, **same)
