"""Where mentions begin, and where none ends."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from refreader_spacy.reader.edges import after_greetings, commanded, only_prefixes
from refreader_spacy.reader.tokens import TextState, token_rows

NLP = spacy.blank("en")


@pytest.mark.parametrize(
    ("text", "start", "expected"), [("Hi Ann !", 0, 1), ("Old Ann !", 0, 0)]
)
def test_a_greeting_is_no_part_of_a_name(text, start, expected):
    rows = token_rows(NLP.make_doc(text), TextState()).rows
    (after,) = after_greetings(rows, np.array([start]), np.array([1]))
    assert after == expected


def test_a_greeting_may_be_a_mention_by_itself():
    rows = token_rows(NLP.make_doc("Hello !"), TextState()).rows
    assert after_greetings(rows, np.array([0]), np.array([0])).tolist() == [0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Peel it and stop .", [0]), ("They peel it .", []), ("It fell . Peel it", [3])],
)
def test_imperatives_are_no_heads(text, expected):
    rows = token_rows(Doc(NLP.vocab, text.split()), TextState()).rows
    assert np.flatnonzero(commanded(rows)).tolist() == expected


@pytest.mark.parametrize(
    ("text", "start", "head", "expected"),
    [
        ("De Groot left", 0, 0, True),
        ("De Groot left", 0, 1, False),
        ("Ms. van Dam left", 0, 1, False),
        ("Ann left", 0, 0, False),
    ],
)
def test_nobody_is_called_by_the_beginning_of_a_name(text, start, head, expected):
    rows = token_rows(Doc(NLP.vocab, text.split()), TextState()).rows
    assert only_prefixes(rows, np.array([start]), np.array([head])) == [expected]
