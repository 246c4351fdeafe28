"""Clusters from what a reader decided, with decisions made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from refreader_spacy.decoding import decoder
from refreader_spacy.decoding.decoder import Decoder
from refreader_spacy.protocol import Clues, Mentions, Part

LABELS = ("", "person", "place")


def part_of(rows, first=0, closed=None, held=None):
    """rows: (head, start, end, entity, is_new, probability, label, scheme)."""
    head, start, end, entity, is_new, probability, label, scheme = (
        zip(*rows, strict=True) if rows else [()] * 8
    )
    mentions = Mentions(
        first,
        np.array(head, np.int64),
        np.array(start, np.int64),
        np.array(entity, np.int64),
        np.array(is_new, bool),
        np.array(probability, np.float32),
        np.array(label, np.int64),
        np.array(scheme, np.float32).reshape(len(head), 1),
    )
    numbers = np.arange(first, first + len(head))
    held = np.array(sorted({*entity}) if held is None else held, np.int64)
    return Part(mentions, numbers, np.array(end, np.int64), held)


# "Ann 's mother saw Ann . She left": two people, one mention inside another
NESTED = [
    (0, 0, 1, 0, True, 0.9, 1, 0.9),
    (2, 0, 3, 1, True, 0.9, 1, 0.9),
    (4, 4, 5, 0, False, 0.8, 1, 0.9),
    (6, 6, 7, 1, False, 0.4, 1, 0.9),
]


def decode(part, threshold, **settings):
    return decoder.decode(part, threshold, labels=LABELS, **settings)


def spans(clusters):
    return [[(m.start, m.end) for m in cluster.mentions] for cluster in clusters]


def test_nested_mentions_are_in_their_clusters():
    clusters = decode(part_of(NESTED), 0.3)
    assert spans(clusters) == [[(0, 1), (4, 5)], [(0, 3), (6, 7)]]
    assert [m.head for m in clusters[1].mentions] == [2, 6]
    assert {m.label for c in clusters for m in c.mentions} == {"person"}
    ((antecedent, anaphor, probability),) = clusters[1].links
    assert (antecedent.head, anaphor.head) == (2, 6)
    assert probability == pytest.approx(0.4)


def test_a_weak_link_leaves_its_mention_alone():
    assert spans(decode(part_of(NESTED), 0.5, singletons=False)) == [[(0, 1), (4, 5)]]
    everything = spans(decode(part_of(NESTED), 0.5))
    assert everything == [[(0, 1), (4, 5)], [(0, 3)], [(6, 7)]]


def test_an_entity_goes_on_without_a_weak_link():
    rows = [
        (0, 0, 1, 0, True, 0.9, 0, 0.9),
        (1, 1, 2, 0, False, 0.1, 0, 0.9),
        (2, 2, 3, 0, False, 0.9, 0, 0.9),
    ]
    clusters = decode(part_of(rows), 0.5)
    assert spans(clusters) == [[(0, 1), (2, 3)], [(1, 2)]]
    assert clusters[0].links[0].antecedent.head == 0


def test_raising_the_threshold_only_takes_mentions_out_of_clusters():
    for low, high in ((0.0, 0.3), (0.3, 0.6), (0.6, 0.95)):
        some, fewer = (
            {tuple(c) for c in spans(decode(part_of(NESTED), t, singletons=False))}
            for t in (low, high)
        )
        assert all(any({*f} <= {*s} for s in some) for f in fewer)


def test_a_scheme_leaves_mentions_out():
    rows = [*NESTED]
    rows[2] = (*rows[2][:-1], 0.1)
    assert spans(decode(part_of(rows), 0.3, scheme=0)) == [[(0, 1)], [(0, 3), (6, 7)]]


def test_a_label_is_what_most_mentions_have():
    rows = [
        (i, i, i + 1, 0, i == 0, 0.9, label, 0.9)
        for i, label in enumerate((0, 2, 1, 1))
    ]
    (cluster,) = decode(part_of(rows), 0.3)
    assert {m.label for m in cluster.mentions} == {"person"}


def test_the_same_span_twice_is_one_mention():
    rows = [(0, 0, 2, 0, True, 0.9, 0, 0.9), (1, 0, 2, 1, True, 0.9, 0, 0.9)]
    assert spans(decode(part_of(rows), 0.3)) == [[(0, 2)]]


def test_a_name_that_goes_on_is_one_mention():
    rows = [
        (0, 0, 1, 0, True, 0.9, 0, 0.9),  # Ruth
        (1, 0, 2, 0, False, 0.9, 0, 0.9),  # Ruth Calder
        (3, 3, 4, 0, False, 0.9, 0, 0.9),  # she
    ]
    (cluster,) = decode(part_of(rows), 0.3)
    assert spans([cluster]) == [[(0, 2), (3, 4)]]
    assert [(x.antecedent.head, x.anaphor.head) for x in cluster.links] == [(1, 3)]


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


def test_nothing_decided_is_no_cluster():
    assert decode(part_of([]), 0.3) == []


def with_clues(rows, **clues):
    """A part whose mentions have these clues; those that aren't given are nothing."""
    part = part_of(rows)
    nothing = {"name": 0, "is_name": False, "gender": 0, "person": 0, "lost": -1}
    columns = {k: clues.get(k, [v] * len(rows)) for k, v in nothing.items()}
    columns["words"] = clues.get("words", [[name] for name in columns["name"]])
    found = Clues(**{k: np.array(v) for k, v in columns.items()})
    return replace(part, mentions=replace(part.mentions, clues=found))


def heads_in(rows):
    return [(head, head, head + 1, *rest, 1, 0.9) for head, *rest in rows]


@pytest.mark.parametrize(
    ("gender", "expected"),
    [
        pytest.param([0, 0, 0], [[0, 2]], id="same name"),
        pytest.param([1, 0, 0], [[0, 2]], id="title, then none"),
        pytest.param([1, 0, 2], [], id="Mr. and Mrs."),
    ],
)
def test_what_was_forgotten_is_found_again_by_name(gender, expected):
    rows = heads_in([(0, 0, True, 0.9), (1, 1, True, 0.9), (2, 2, True, 0.9)])
    part = with_clues(
        rows,
        name=[7, 8, 7],
        is_name=[True, True, False],
        gender=gender,
        lost=[-1, 0, -1],
    )
    clusters = decode(part, 0.3, singletons=False)
    assert [[m.head for m in c.mentions] for c in clusters] == expected


def test_what_is_remembered_is_not_found_by_name():
    rows = heads_in([(0, 0, True, 0.9), (1, 1, True, 0.9)])
    part = with_clues(rows, name=[7, 7], is_name=[True, True])
    assert len(decode(part, 0.3)) == 2


def test_only_the_name_it_had_most_often_finds_an_entity():
    rows = heads_in(
        (i, entity, i in (0, 3, 4, 5), 0.9)
        for i, entity in enumerate([0, 0, 0, 1, 2, 3])
    )
    name = [7, 7, 8, 9, 8, 7]
    part = with_clues(rows, name=name, is_name=[True] * 6, lost=[-1, -1, -1, 0, -1, -1])
    clusters = decode(part, 0.3, singletons=False)
    assert [[m.head for m in c.mentions] for c in clusters] == [[0, 1, 2, 5]]


def named_parts(entities, names, lost, words=None, p=0.9):
    """Mentions one after the other, with entities and names; 0 is a pronoun."""
    seen: set[int] = set()
    rows = []
    for i, entity in enumerate(entities):
        rows.append((i, entity, entity not in seen, p))
        seen.add(entity)
    clues = {"name": names, "is_name": [name > 0 for name in names], "lost": lost}
    return with_clues(heads_in(rows), **clues, **({"words": words} if words else {}))


def test_somebody_without_a_name_becomes_whoever_the_name_is_of():
    # "Ahab"; another, for whom he is forgotten; "he"; that one is "Ahab"; "he"
    part = named_parts([0, 1, 2, 2, 2], [7, 8, 0, 7, 0], [-1, 0, -1, -1, -1])
    clusters = decode(part, 0.3)
    heads = [[m.head for m in c.mentions] for c in clusters]
    assert heads == [[0, 3, 4], [1], [2]]


def test_somebody_without_a_name_becomes_a_namesake_who_is_remembered():
    part = named_parts([0, 1, 1, 1], [7, 0, 7, 0], [-1] * 4)
    clusters = decode(part, 0.3)
    assert [[m.head for m in c.mentions] for c in clusters] == [[0, 2, 3], [1]]


def test_an_unlikely_link_makes_nobody_a_namesake():
    part = named_parts([0, 1, 1, 1], [7, 0, 7, 0], [-1] * 4, p=0.2)
    assert [len(c.mentions) for c in decode(part, 0.3)] == [1] * 4


def test_a_name_of_others_is_found_and_its_entity_goes_on_without():
    # "Ahab", forgotten for "Moby Dick", which "Ahab" is taken for, twice; "it"
    names, lost = [7, 8, 7, 0, 7], [-1, 0, -1, -1, -1]
    clusters = decode(named_parts([0, 1, 1, 1, 1], names, lost), 0.3)
    assert [[m.head for m in c.mentions] for c in clusters] == [[0, 2, 4], [1, 3]]


@pytest.mark.parametrize(
    ("called", "name", "expected"),
    [
        pytest.param([8, 7], [7, 0], [[0], [1, 2]], id="John Brown, then Brown"),
        pytest.param([9, 0], [9, 7], [[0], [1, 2]], id="John, then John Brown"),
        pytest.param([8, 9], [7, 0], [[0, 2], [1]], id="John Smith, then Brown"),
    ],
)
def test_part_of_a_name_stays_with_whose_name_it_is(called, name, expected):
    # "Brown" (or "John Brown") was forgotten; then comes who is called so, and `name`
    forgotten = 7 if name == [7, 0] else 79
    first = [forgotten, 0]
    hashes = [forgotten, 87 if all(called) else called[0], forgotten]
    part = named_parts([0, 1, 1], hashes, [-1, 0, -1], [first, called, name])
    clusters = decode(part, 0.3)
    assert [[m.head for m in c.mentions] for c in clusters] == expected


def test_of_two_with_one_name_only_the_better_known_is_remembered():
    # "Mr. Brown" twice and another "Brown" once, both forgotten; then two more of them
    part = named_parts(
        [0, 0, 1, 2, 3, 4, 5], [7, 7, 7, 8, 9, 7, 7], [-1, -1, -1, 0, 1, -1, -1]
    )
    clues = replace(part.mentions.clues, gender=np.array([1, 1, 0, 0, 0, 0, 0]))
    part = replace(part, mentions=replace(part.mentions, clues=clues))
    heads = [[m.head for m in c.mentions] for c in decode(part, 0.3)]
    assert heads == [[0, 1, 5], [2], [3], [4], [6]]


def test_each_cluster_that_nothing_holds_any_more_is_forgotten_at_once():
    # The first is forgotten for the second; the third was "he", and is the first
    part = named_parts([0, 1, 2, 2], [7, 8, 0, 7], [-1, 0, -1, -1])
    events = list(Decoder(0.3).decide(part))
    gone = [(e.head, e.cluster) for e in events if isinstance(e, decoder.Forgotten)]
    assert gone == [(1, 0), (3, 2)]
    # A mention of somebody forgotten, who stays so
    part = named_parts([0, 1, 1], [7, 8, 7], [-1, 0, -1])
    events = list(Decoder(0.3).decide(part))
    gone = [(e.head, e.cluster) for e in events if isinstance(e, decoder.Forgotten)]
    assert gone == [(1, 0), (2, 0)]


def test_forgotten_names_are_bounded(monkeypatch):
    monkeypatch.setattr(decoder, "N_FORGOTTEN", 5)
    decoding = Decoder(0.3)
    for i in range(50):
        rows = heads_in([(i, i, True, 0.9)])
        list(decoding.decide(with_clues(rows, name=[i + 1], is_name=[1], lost=[i - 1])))
    assert len(decoding.forgotten) == 5
    assert len(decoding.clusters) == len(decoding.names) == 1


ANN, BO, CY = 11, 12, 13


@pytest.mark.parametrize(
    ("person", "expected"),
    [
        pytest.param([ANN, BO, ANN, BO], [[0, 2], [1, 3]], id="I"),
        pytest.param([ANN, -BO], [[0, 1]], id="I, you"),
        pytest.param([-ANN, BO, -ANN], [[0, 1, 2]], id="you, I, you"),
        pytest.param([-ANN, -ANN, ANN, BO], [[0, 1, 3], [2]], id="you, you and I; I"),
        pytest.param([ANN, -ANN, BO, ANN], [[0, 3], [1, 2]], id="I, you; I; I"),
        pytest.param([ANN, BO, -ANN, -BO], [[0, 3], [1, 2]], id="I; I; you; you"),
        pytest.param(
            [ANN, BO, CY, -ANN], [[0], [1], [2], [3]], id="three: not herself"
        ),
    ],
)
def test_i_is_whoever_speaks_and_you_is_not(person, expected):
    # All of them in one cell, which is of whoever came first
    rows = heads_in([(i, 0, not i, 0.9) for i in range(len(person))])
    clusters = decode(with_clues(rows, person=person), 0.3)
    assert [[m.head for m in c.mentions] for c in clusters] == expected


def test_you_may_be_another_speaker():
    rows = heads_in([(0, 0, True, 0.9), (1, 0, False, 0.9)])
    part = with_clues(rows, person=[11, -12])
    assert [len(c.mentions) for c in decode(part, 0.3)] == [2]


PERSON, PLACE = 1, 2


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
