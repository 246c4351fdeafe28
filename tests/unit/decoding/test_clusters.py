"""Mentions and clusters of a whole text, with decisions made by hand."""

import pytest
from decisions import (
    NESTED,
    PERSON,
    decode,
    part_of,
    spans,
)


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


def test_nothing_decided_is_no_cluster():
    assert decode(part_of([]), 0.3) == []


def test_two_heads_with_one_span_are_one_mention():
    rows = [
        (0, 0, 2, 0, True, 0.9, PERSON, 0.9),
        (1, 0, 2, 1, True, 0.9, PERSON, 0.9),
        (3, 3, 4, 1, False, 0.9, PERSON, 0.9),
        (5, 5, 6, 0, False, 0.9, PERSON, 0.9),
    ]
    assert spans(decode(part_of(rows), 0.3)) == [[(0, 2), (5, 6)], [(3, 4)]]
