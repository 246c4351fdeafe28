from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented_documents import clusters, documents

from refreader_spacy.corpora.corefud import read_corefud
from refreader_spacy.corpora.corefud_writer import corefud_lines
from refreader_spacy.corpora.document import GoldDocument, GoldMention, Turn

GUM = """\
# newdoc id = GUM_bio_ada
# global.Entity = GRP-etype-infstat-minspan-identity
# meta::genre = bio
# sent_id = 1
# speaker = Ann
# text = Ada's friend Bo-Li saw her.
1-2|Ada's||||
1|Ada|PROPN|3|Entity=(1-person-new-3-x(2-person-new-1-Ada_%28a-b%29|SpaceAfter=No
2|'s|PART|1|Entity=2)
3|friend|NOUN|5|_
4|Bo-Li|PROPN|3|Entity=1)
4.1|who|PRON|_|_
5|saw|VERB|0|_
6|her|PRON|5|Entity=(2-person-giv-1)|SpaceAfter=No
7|.|PUNCT|5|_

# sent_id = 2
# speaker = Ann
# text = They left
1|They|PRON|2|Entity=(3-person-giv-1)|SplitAnte=1<3,2<3
2|left|VERB|0|_

# newdoc id = GUM_news_bo
# sent_id = 1
# text = He
1|He|PRON|0|Entity=(1-person-giv-1)
"""


def conllu(rows: str) -> str:
    """CoNLL-U of rows of `id|form|tag|head|misc`."""
    lines = []
    for line in rows.splitlines():
        if line and not line.startswith("#"):
            id, form, tag, head, misc = line.split("|", 4)
            columns = [id, form, "_", tag, "_", "_", head, "_", "_", misc]
            line = "\t".join(columns)
        lines.append(line)
    return "\n".join(lines) + "\n"


def read(folder: Path, text: str) -> list[GoldDocument]:
    path = folder / "file.conllu"
    path.write_text(text, "utf8")
    return list(read_corefud(path, "gum"))


def mention_texts(document: GoldDocument) -> dict[str, list[str]]:
    return {
        entity: [" ".join(document.words[m.start : m.end]) for m in mentions]
        for entity, mentions in document.entities.items()
    }


def places_and_heads(document: GoldDocument) -> list[GoldMention]:
    return sorted(m for mentions in document.entities.values() for m in mentions)


def test_documents_are_read_with_all_that_they_say(tmp_path):
    ada, bo = read(tmp_path, conllu(GUM))
    assert (ada.id, ada.genre, ada.scheme) == ("GUM_bio_ada", "bio", "gum")
    assert ada.words == [
        "Ada",
        "'s",
        "friend",
        "Bo-Li",
        "saw",
        "her",
        ".",
        "They",
        "left",
    ]
    assert ada.spaces == [False, True, True, True, True, False, True, True, True]
    assert ada.sentence_starts == [0, 7]
    assert mention_texts(ada) == {
        "2": ["Ada 's", "her"],
        "1": ["Ada 's friend Bo-Li"],
        "3": ["They"],
    }
    assert ada.entities["1"] == [GoldMention(0, 4, 2, "person")]
    assert ada.entities["2"][0].head == 0
    assert ada.split_antecedents == {"3": ["1", "2"]}
    assert ada.turns == [Turn(0, 9, "Ann")]
    assert (bo.id, bo.words, bo.turns) == ("GUM_news_bo", ["He"], [])


def test_a_file_may_have_no_comments_at_all(tmp_path):
    (document,) = read(tmp_path, conllu("1|He|PRON|0|Entity=(e1-person-1-)"))
    assert document.id == "file"
    assert document.entities == {"e1": [GoldMention(0, 1, 0, "person")]}


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        # Given, whatever the tree says
        ("1|a|NOUN|2|Entity=(e1--2-\n2|b|NOUN|0|Entity=e1)", 1),
        ("1|a|NOUN|2|Entity=(e1--1-\n2|b|NOUN|0|Entity=e1)", 0),
        # Of the tree: the word whose parent is outside
        ("1|a|ADJ|2|Entity=(e1---\n2|b|NOUN|0|Entity=e1)", 1),
        # Two such words: the first noun
        ("1|a|ADJ|3|Entity=(e1---\n2|b|NOUN|3|Entity=e1)\n3|c|VERB|0|_", 1),
        ("1|a|NOUN|3|Entity=(e1---\n2|b|NOUN|3|Entity=e1)\n3|c|VERB|0|_", 0),
        ("1|a|ADJ|3|Entity=(e1---\n2|b|ADJ|3|Entity=e1)\n3|c|VERB|0|_", 0),
        # No tree, or one that is a circle
        ("1|a|NOUN|_|Entity=(e1---\n2|b|NOUN|_|Entity=e1)", None),
        ("1|a|NOUN|2|Entity=(e1---\n2|b|NOUN|1|Entity=e1)", 0),
        # An empty node counts in the number of the head, which is then not used
        ("1|a|ADJ|2|Entity=(e1--3-\n1.1|z|X|_|_\n2|b|NOUN|0|Entity=e1)", 1),
    ],
)
def test_heads_are_given_or_found_in_the_tree(tmp_path, rows, head):
    (document,) = read(tmp_path, conllu(rows))
    assert document.entities["e1"][0].head == head


def test_a_core_counts_where_the_tree_does_not_say(tmp_path):
    rows = "# global.Entity = GRP-minspan\n1|a|X|_|Entity=(1-2\n2|b|X|_|Entity=1)"
    (document,) = read(tmp_path, conllu(rows))
    assert document.entities["1"] == [GoldMention(0, 2, 1)]


def test_several_brackets_at_a_token_nest_by_entity(tmp_path):
    rows = """\
1|a|X|0|Entity=(e1--1-(e2--1-(e1--1-
2|b|X|1|Entity=e1)(e3--1-)(e1--1-
3|c|X|1|Entity=e1)e2)e1)"""
    (document,) = read(tmp_path, conllu(rows))
    assert clusters(document) == [[(0, 2), (0, 3), (1, 3)], [(0, 3)], [(1, 2)]]


def test_discontinuous_and_empty_mentions_are_skipped_and_counted(tmp_path):
    rows = """\
1|a|X|0|Entity=(e1[1/2]--1-)
2|b|X|1|Entity=(e2--1-)
2.1|z|X|_|Entity=(e3--1-)(e4---
3|c|X|1|Entity=(e1[2/2]--1-)e4)(e5---
3.1|z|X|_|Entity=e5)"""
    (document,) = read(tmp_path, conllu(rows))
    assert document.n_skipped == 2
    assert clusters(document) == [[(1, 2)], [(2, 3)], [(2, 3)]]


def test_a_word_that_is_not_written_as_such_stands_apart(tmp_path):
    rows = "1-2|du|X|_|SpaceAfter=No\n1|de|X|0|_\n2|le|X|1|_\n3|.|X|1|_"
    (document,) = read(tmp_path, conllu(rows))
    assert document.spaces == [True, False, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\tonly\tthree", r"R401.*line 1: .*10 columns.*found 3"),
        (conllu("x|a|X|0|_"), r"R402.*line 1.*'x a'"),
        (conllu("1||X|0|_"), r"R402.*line 1"),
        (conllu("1|a|X|0|Entity=e1"), r"R403.*line 1.*'e1'"),
        (conllu("1|a|X|0|Entity=()"), r"R403.*line 1"),
        (conllu("1|a|X|0|_\n2|b|X|0|Entity=e1)"), r"R404.*line 2: 'e1\)'"),
        (conllu("1|a|X|0|Entity=(e1\n2|b|X|0|_"), r"R404.*line 1: '\(e1'"),
        (conllu("1|a|X|0|SplitAnte=e1"), r"R405.*line 1.*'e1'"),
        (conllu("1|a|X|7|_"), r"R406.*line 1.*'7'"),
        (conllu("1|a|X|0|Entity=(e1--2-)"), r"R407.*line 1: .*1 to 1.*'2'"),
        (conllu("1|a|X|0|Entity=(e1--x-)"), r"R407.*line 1.*'x'"),
    ],
)
def test_what_is_broken_is_said_with_its_place(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


def test_other_bytes_than_utf8_are_said(tmp_path):
    path = tmp_path / "file.conllu"
    path.write_bytes(b"# text = a\n\xff\n")
    with pytest.raises(ValueError, match=r"R400.*file\.conllu.*utf-8"):
        list(read_corefud(path))


@given(st.lists(documents(), min_size=1, max_size=3))
def test_what_was_written_is_read_again(tmp_path, written):
    for document in written:
        document.split_antecedents = {}
    found = read(tmp_path, "".join(f"{line}\n" for line in corefud_lines(written)))
    assert len(found) == len(written)
    for before, after in zip(written, found, strict=True):
        assert clusters(after) == clusters(before)
        same = {"scheme": "gum", "entities": after.entities}
        assert after == replace(before, **same)
        assert places_and_heads(after) == places_and_heads(before)


def test_types_and_split_antecedents_are_written(tmp_path):
    (ada, bo) = read(tmp_path, conllu(GUM))
    lines = list(corefud_lines([ada, bo]))
    again = read(tmp_path, "\n".join(lines))
    assert [mention.label for mention in again[0].entities["e1"]] == ["person"] * 2
    assert again[0].split_antecedents == {"e3": ["e2", "e1"]}
    assert set(again[1].entities) == {"e4"}  # unique in the file
    assert "# text = Ada's friend Bo-Li saw her." in lines


def test_any_type_can_be_written(tmp_path):
    label = "a-b|c(d)=e%f ü"
    document = GoldDocument("a", "gum", words=["he"], sentence_starts=[0])
    document.spaces = [True]
    document.add_mention("x", GoldMention(0, 1, None, label))
    (again,) = read(tmp_path, "\n".join(corefud_lines([document])))
    assert again.entities == {"e1": [GoldMention(0, 1, None, label)]}


def test_white_space_tokens_are_left_out(tmp_path):
    document = GoldDocument("a", "gum", words=["he", "\n\n", "left"])
    document.spaces = [False, False, True]
    (again,) = read(tmp_path, "\n".join(corefud_lines([document])))
    assert again.words == ["he", "left"]
    assert again.spaces == [True, True]


@settings(
    max_examples=300,
)
@given(st.data())
def test_damage_is_read_or_said_never_a_bug(tmp_path, data):
    text = conllu(GUM)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(place, min(len(text), place + 9)))
        new = data.draw(st.text(st.sampled_from("\t\n()-_1e[/]|=<,# "), max_size=3))
        text = text[:place] + new + text[end:]
    said = ""
    try:
        read(tmp_path, text)
    except ValueError as error:
        said = str(error)
    assert not said or said.startswith("[R4")
    assert not said or "file.conllu, line" in said
