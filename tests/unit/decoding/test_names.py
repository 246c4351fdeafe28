"""Entities that are found again by their names."""

from dataclasses import replace

import numpy as np
import pytest
from decisions import (
    decode,
    heads_in,
    named_parts,
    with_clues,
)

from refreader_spacy.decoding import names as names_module
from refreader_spacy.decoding.decoder import Decoder


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


def test_forgotten_names_are_bounded(monkeypatch):
    monkeypatch.setattr(names_module, "N_FORGOTTEN", 5)
    decoding = Decoder(0.3)
    for i in range(50):
        rows = heads_in([(i, i, True, 0.9)])
        list(decoding.decide(with_clues(rows, name=[i + 1], is_name=[1], lost=[i - 1])))
    assert len(decoding.names.forgotten) == 5
    assert len(decoding.clusters) == len(decoding.names.called) == 1
