"""Who "I" and "you" are."""

import pytest
from decisions import (
    decode,
    heads_in,
    with_clues,
)

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


@pytest.mark.parametrize(
    ("person", "name", "expected"),
    [
        pytest.param([ANN, 0, BO], [0, ANN, 0], [[0, 1], [2]], id="I, then by name"),
        pytest.param([0, ANN, BO], [ANN, 0, 0], [[0, 1], [2]], id="by name, then I"),
        pytest.param([0, ANN, BO], [CY, 0, 0], [[0], [1], [2]], id="another name"),
        pytest.param([ANN, BO, 0], [0, 0, BO], [[0], [1, 2]], id="of two"),
    ],
)
def test_a_speakers_name_is_the_speaker(person, name, expected):
    rows = heads_in([(i, i, True, 0.9) for i in range(len(person))])
    is_name = [n > 0 for n in name]
    clusters = decode(with_clues(rows, person=person, name=name, is_name=is_name), 0.3)
    assert [[m.head for m in c.mentions] for c in clusters] == expected
