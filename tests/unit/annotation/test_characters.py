from io import BytesIO

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked import marked

from refreader_spacy.annotation.characters import Character, characters, together
from refreader_spacy.annotation.gexf import gexf

TEXT = (
    "[a:Captain Ahab] called [b:Starbuck]. [a:Ahab]’s leg hurt, and [a:he] swore. "  # noqa: RUF001
    "[c:Nantucket] slept. [b:Starbuck], [b:the mate], came; [b:he] sighed. "
    "[d:Mary] wept. [c:It] was far."
)


def test_characters_are_the_people():
    found = characters(marked(TEXT))
    assert [(who.name, who.n_mentions, who.n_names) for who in found] == [
        ("Starbuck", 4, 2),
        ("Captain Ahab", 3, 2),
        ("Mary", 1, 1),
    ]
    starbuck, ahab, mary = found
    assert starbuck.called == {"Starbuck": 2, "the mate": 1}
    assert ahab.called == {"Captain Ahab": 1, "Ahab": 1}
    assert (ahab.pronoun, mary.pronoun) == ("he", "")
    assert (ahab.first, ahab.last) == (0, TEXT_PLAIN.index(" swore"))
    assert len(characters(marked(TEXT), minimum=2)) == 2


TEXT_PLAIN = marked(TEXT).text


def test_nobody_is_called_a_name_with_an_article():
    (who,) = characters(marked("[a:A Lakeman] sat. [a:The Lakeman] swore. [a:He] ran."))
    assert who.name == "Lakeman"


@pytest.mark.parametrize(
    ("kind", "found"), [("person", 1), ("place", 0), ("animal", 1), ("", 0)]
)
def test_types_tell_who_is_a_character(kind, found):
    assert len(characters(marked("[a:Nantucket] slept.", {"a": kind}))) == found


def test_a_speaker_who_is_hardly_named_is_called_i():
    (who,) = characters(marked("[a:Ahab], " + "[a:I] " * 40))
    assert (who.name, who.called) == ("I", {"Ahab": 1})


def test_the_narrator_is_one_all_through():
    doc = marked('[a:I] ran. "Stop, [b:I] fell," said Ann. [c:I] rose. So did [c:I.]')
    assert [(who.name, who.n_mentions) for who in characters(doc)] == [("I", 3)]
    assert [who.name for who in characters(doc, join=False)] == ["I", "I"]


def test_quotation_marks_may_be_single():
    text = (
        "[a:I] ran. 'Stop, [b:I] fell. The boys' cat ran,' said Ann. 'So [b:I] rose.'"
    )
    (who,) = characters(marked(text))
    assert (who.name, who.n_mentions) == ("I", 1)
    assert (
        characters(marked("'[a:I] ran. I don't know,' said Ann. '[a:I] fell.'")) == []
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a:He] ran. [a:He] fell.", []),
        ("[a:We] ran. [a:We] fell.", []),
        ('"[a:I] am ill. Tell [a:me]."', []),
        (
            "[a:A man] ran. [a:The cook] sat. [a:the cook] ate. [a:He] slept.",
            "The cook",
        ),
        ("[a:The man who hid his hat in a tree] ran. [a:He] fell.", "The man"),
        ("[a:Moby Dick;--] [a:he] swam.", "Moby Dick"),
        ("[a:Ahab!--shudder], [a:he] swam.", "Ahab"),
        ("[a:Mr.\n\n Stubb] ran. [a:He] fell.", "Mr. Stubb"),
        ("[a:Stubb's] hat fell. [a:His] coat fell.", "Stubb"),
        ("[a:Mrs. Lee] ran. [a:Mr. Lee] sat. [a:He] ate.", "Mr. Lee"),
        ("[a:King Lee] ran. [a:Mr. Lee] ate. [a:Mr. Lee] sat.", "Mr. Lee"),
        ("[a:Sir], go. [a:The cook] ate. [a:My dear sir], eat.", "The cook"),
        ("[a:Sir], go. [a:My dear boy], eat.", ""),
        ("[a:Bouton de Rose,] (sick). [a:She] sank.", "Bouton de Rose"),
        ("[a:for] ran. [a:for] fell.", ""),
    ],
)
def test_a_name_is_what_a_reader_would_call_somebody(text, expected):
    doc = marked(text, {"a": "person"})
    names = [who.name for who in characters(doc)]
    assert names == ([expected] if expected else [])


def test_words_that_differ_in_capitals_are_counted_together():
    text = "[a:The cook] sat. [a:PIP] ate. [a:Pip], [a:the cook]. [a:Pip]."
    (who,) = characters(marked(text, {"a": "person"}))
    assert who.called == {"Pip": 3, "The cook": 2}


def test_nobody_is_called_a_possessive_ending():
    (who,) = characters(
        marked("[a:Ann]'s hat fell. [b:Ann] [b:'s] hat?", {"a": "person"})
    )
    assert who.called == {"Ann": 2}


def test_somebody_who_comes_back_is_the_same():
    doc = marked("[a:Ahab] ran; [a:he] fell. [b:Captain Ahab] swore. [b:He] wept.")
    assert [who.n_mentions for who in characters(doc)] == [4]
    assert [who.n_mentions for who in characters(doc, join=False)] == [2, 2]


def person(number: int, heads: list[int]) -> Character:
    return Character(number, f"P{number}", "", {}, len(heads), 0, "", heads, 0, 0)


def test_the_network_can_be_read_by_others():
    found = characters(marked(TEXT))
    graph = nx.read_gexf(BytesIO(gexf(found, together(found)).encode()))
    assert {graph.nodes[n]["label"] for n in graph} == {who.name for who in found}
    assert graph.nodes["1"]["mentions"] == 4
    assert graph.nodes["2"]["called"] == "Captain Ahab; Ahab"
    pair = next(pair for pair in together(found) if pair[:2] == (1, 2))
    assert graph.edges["1", "2"]["weight"] == pair.n_times


@given(
    st.lists(st.sets(st.integers(0, 30), max_size=6), min_size=1, max_size=4),
    st.integers(1, 8),
)
def test_together_counts_who_was_mentioned_shortly_before(places, window):
    heads, taken = [], set()
    for some in places:
        heads.append(sorted(some - taken))
        taken |= some
    found = [person(number, some) for number, some in enumerate(heads, start=1)]
    for one, other, count in together(found, window):
        expected = sum(
            any(0 < head - before <= window for before in second)
            for first, second in (
                (heads[one - 1], heads[other - 1]),
                (heads[other - 1], heads[one - 1]),
            )
            for head in first
        )
        assert count == expected > 0
