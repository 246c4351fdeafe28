from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented_documents import clusters, documents

from refreader_spacy.corpora.conll2012 import conll2012_lines, read_conll2012
from refreader_spacy.corpora.document import GoldDocument, GoldMention, Turn

ROWS = """#begin document (a); part 000
a 0 0 Ann - (1)
a 0 1 told - -
a 0 2 the - (2
a 0 3 captain - (3)
a 0 4 of - -
a 0 5 Bob - 2)|(4)

a 0 0 She - (1)
a 0 1 left - -

#end document
#begin document (a); part 001
a 0 0 Cy - (1)
"""


def read(folder: Path, text: str) -> list[GoldDocument]:
    path = folder / "file.v4_gold_conll"
    path.write_text(text, "utf8")
    return list(read_conll2012(path, "test"))


def test_parts_are_documents_with_entities_and_sentences(tmp_path):
    first, second = read(tmp_path, ROWS)
    assert first.words == ["Ann", "told", "the", "captain", "of", "Bob", "She", "left"]
    assert first.sentence_starts == [0, 6]
    assert clusters(first) == [[(0, 1), (6, 7)], [(2, 6)], [(3, 4)], [(5, 6)]]
    assert (first.id, second.id) == ("a", "a_1")
    assert second.entities == {"1": [GoldMention(0, 1)]}


def test_tabs_keep_empty_columns(tmp_path):
    (document,) = read(tmp_path, "a\t0\t0\tAnn\t_\t(7)\na\t0\t1\tsang\t_\t\n")
    assert document.id == "file"
    assert document.words == ["Ann", "sang"]
    assert document.entities == {"7": [GoldMention(0, 1)]}


def test_an_entity_twice_begun_ends_from_within(tmp_path):
    (document,) = read(tmp_path, "a 0 0 x - (1\na 0 1 y - (1)\na 0 2 z - 1)\n")
    assert clusters(document) == [[(0, 3), (1, 2)]]


def test_the_tenth_of_all_columns_is_the_speaker(tmp_path):
    rows = (
        "a 0 0 I X * - - - Ann * -\na 0 1 do X * - - - Ann * -\na 0 2 . X * - - - - * -"
    )
    (document,) = read(tmp_path, rows)
    assert document.turns == [Turn(0, 2, "Ann")]


def test_spaces_are_guessed(tmp_path):
    (document,) = read(tmp_path, "a 0 0 No - -\na 0 1 , - -\na 0 2 no - -\n")
    assert document.spaces == [False, True, True]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a 0 0 Ann - 1)", "R355.*line 1: '1\\)'"),
        ("a 0 0 Ann - (1", "R355.*line 1: '\\(1'"),
        ("a 0 0 Ann - 1", "R355.*'1'"),
        ("only text", "R354.*line 1.*'only text'"),
    ],
)
def test_broken_columns_are_a_clear_error(tmp_path, rows, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, rows)


@given(st.lists(documents(), min_size=1, max_size=3))
def test_what_was_written_is_read_again(tmp_path, written):
    found = read(tmp_path, "".join(f"{line}\n" for line in conll2012_lines(written)))
    for before, after in zip(written, found, strict=True):
        assert clusters(after) == clusters(before)
        same = {"spaces": after.spaces, "entities": after.entities}
        assert after == replace(before, **same)


def test_no_white_space_is_inside_a_column(tmp_path):
    document = GoldDocument("a b", "test", words=["he", " \n", "1 2"])
    document.add_turn(0, 3, "Ann Lee")
    (again,) = read(tmp_path, "\n".join(conll2012_lines([document])))
    assert again.words == ["he", "12"]
    assert (again.id, again.turns) == ("a_b", [Turn(0, 2, "Ann_Lee")])


def test_mentions_that_cross_within_an_entity_are_left_out_and_logged(tmp_path, caplog):
    document = GoldDocument("a", "test", words=["a", "b", "c", "d"])
    document.add_mention("1", GoldMention(0, 3))
    document.add_mention("1", GoldMention(1, 4))
    document.add_mention("2", GoldMention(1, 4))
    (again,) = read(tmp_path, "\n".join(conll2012_lines([document])))
    assert clusters(again) == [[(0, 3)], [(1, 4)]]
    assert "a: 1 mentions cross" in caplog.text


@settings(
    max_examples=200,
)
@given(st.data())
def test_damage_is_read_or_said_never_a_bug(tmp_path, data):
    place = data.draw(st.integers(0, len(ROWS)))
    end = data.draw(st.integers(place, min(len(ROWS), place + 9)))
    new = data.draw(st.text(st.sampled_from("\t\n()-_1|# "), max_size=4))
    said = ""
    try:
        read(tmp_path, ROWS[:place] + new + ROWS[end:])
    except ValueError as error:
        said = str(error)
    assert not said or said.startswith("[R35")
    assert not said or "file.v4_gold_conll, line" in said
