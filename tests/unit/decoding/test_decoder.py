"""Which cluster each mention is in, with decisions made by hand."""

import pytest
from decisions import (
    NESTED,
    PERSON,
    PLACE,
    decode,
    heads_in,
    named_parts,
    part_of,
    spans,
    with_clues,
)

from refreader_spacy.decoding import decoder
from refreader_spacy.decoding.decoder import Decoder, Forgotten


def test_parts_decode_as_the_whole():
    whole = list(Decoder(0.3).decide(part_of(NESTED)))
    decoder, pieces = Decoder(0.3), []
    for i, row in enumerate(NESTED):
        part = part_of([row], first=i, held=[0, 1])
        pieces += decoder.decide(part)
        decoder.release(part)
    assert pieces == whole


def test_what_the_memory_forgot_is_released():
    decoder = Decoder(0.3)
    part = part_of(NESTED, held=[1])
    list(decoder.decide(part))
    assert decoder.release(part) == {1}
    assert list(decoder.clusters) == [1]


def test_each_cluster_that_nothing_holds_any_more_is_forgotten_at_once():
    # The first is forgotten for the second; the third was "he", and is the first
    part = named_parts([0, 1, 2, 2], [7, 8, 0, 7], [-1, 0, -1, -1])
    events = list(Decoder(0.3).decide(part))
    gone = [(e.head, e.cluster) for e in events if isinstance(e, Forgotten)]
    assert gone == [(1, 0), (3, 2)]
    # A mention of somebody forgotten, who stays so
    part = named_parts([0, 1, 1], [7, 8, 7], [-1, 0, -1])
    events = list(Decoder(0.3).decide(part))
    gone = [(e.head, e.cluster) for e in events if isinstance(e, Forgotten)]
    assert gone == [(1, 0), (2, 0)]


@pytest.mark.parametrize(
    ("name", "gender", "labels", "expected"),
    [
        pytest.param(
            [7, 8, 0],
            [2, 2, 2],
            [PLACE, PERSON],
            [[(0, 2), (3, 4)]],
            id="Anna de Vries",
        ),
        pytest.param(
            [7, 8, 0], [0, 0, 0], [PLACE, PLACE], [[(0, 2), (3, 4)]], id="Lake Como"
        ),
        pytest.param(
            [7, 8, 0],
            [0, 0, 0],
            [PLACE, PERSON],
            [[(0, 1), (3, 4)]],
            id="Berlin's mayor",
        ),
        pytest.param(
            [7, 0, 0], [2, 2, 2], [PERSON, PERSON], [[(0, 1), (3, 4)]], id="her sister"
        ),
    ],
)
def test_who_was_stored_by_a_first_name_is_whoever_the_whole_name_is_of(
    name, gender, labels, expected
):
    rows = [
        (0, 0, 1, 0, True, 0.9, labels[0], 0.9),
        (1, 0, 2, 1, True, 0.9, labels[1], 0.9),
        (3, 3, 4, 0, False, 0.9, labels[0], 0.9),
    ]
    part = with_clues(rows, name=name, is_name=[True, True, False], gender=gender)
    assert spans(decode(part, 0.3, singletons=False)) == expected


def test_a_name_that_goes_on_counts_if_its_beginning_does():
    rows = [
        (1, 0, 2, 0, True, 0.9, PERSON, 0.9),  # her brother
        (2, 2, 3, 0, False, 0.9, PERSON, 0.9),  # Martin
        (3, 2, 4, 1, True, 0.9, PERSON, 0.1),  # Martin Calder
        (5, 5, 6, 1, False, 0.9, PERSON, 0.9),  # he
    ]
    part = with_clues(
        rows, name=[0, 7, 8, 0], is_name=[False, True, True, False], gender=[1] * 4
    )
    assert spans(decode(part, 0.3, scheme=0)) == [[(0, 2), (2, 4), (5, 6)]]


def test_a_first_name_that_goes_on_leaves_nobody_behind():
    rows = [
        (0, 0, 2, 0, True, 0.9, 1, 0.9),  # Tim Cook
        (4, 4, 5, 1, True, 0.9, 1, 0.9),  # Tim
        (5, 4, 6, 0, False, 0.9, 1, 0.9),  # Tim Cook
        (7, 7, 8, 1, False, 0.9, 1, 0.9),  # he, as Tim
    ]
    part = with_clues(rows, name=[8, 7, 8, 0], is_name=[True] * 4, gender=[1] * 4)
    assert spans(decode(part, 0.3)) == [[(0, 2), (4, 6), (7, 8)]]


@pytest.mark.parametrize(
    ("known", "expected"),
    [(False, [[(0, 2)], [(3, 6)], [(7, 8)]]), (True, [[(0, 2), (7, 8)], [(3, 6)]])],
    ids=["new", "known"],
)
def test_a_noun_before_another_is_no_mention_of_its_own(known, expected):
    rows = [
        (1, 0, 2, 0, True, 0.9, 0, 0.9),  # the software
        (4, 3, 5, 0 if known else 1, not known, 0.9, 0, 0.9),  # the software
        (5, 3, 6, 2, True, 0.9, 0, 0.9),  # the software giant
        (7, 7, 8, 0 if known else 1, False, 0.9, 0, 0.9),  # it, as the software
    ]
    part = part_of(rows)
    assert spans(decode(part, 0.3)) == expected


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        pytest.param([(0, 0, 1), (1, 0, 2)], [0, 0], id="her mother"),
        pytest.param([(1, 0, 2), (3, 0, 4)], [0, 0], id="her mother's house"),
        pytest.param([(1, 0, 2), (2, 2, 3)], [0, 0], id="gave the girl flowers"),
        pytest.param([(1, 0, 2), (2, 0, 3)], [7, 0], id="New York mayor"),
    ],
)
def test_a_mention_in_another_stays(rows, names):
    decided = [(*row, i, True, 0.9, 0, 0.9) for i, row in enumerate(rows)]
    part = with_clues(decided, name=names, is_name=[name > 0 for name in names])
    assert spans(decode(part, 0.3)) == [[row[1:]] for row in rows]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_many_mentions_are_decoded_in_blocks(monkeypatch, size):
    rows = heads_in([(i, i % 3, i < 3, 0.9) for i in range(8)])
    names = [0, 7, 0, 0, 7, 0, 0, 7]
    part = with_clues(rows, name=names, is_name=[bool(name) for name in names])
    whole = decode(part, 0.3)
    monkeypatch.setattr(decoder, "BLOCK", size)
    assert decode(part, 0.3) == whole
    assert [[m.head for m in c.mentions] for c in whole] == [
        [0, 3, 6],
        [1, 4, 7],
        [2, 5],
    ]
