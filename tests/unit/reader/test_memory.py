"""What counts against a mention's meaning a cell, or for it, beside what is learned."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from refreader_spacy.lang.en.lexemes import Column, Role
from refreader_spacy.reader.cells import Cells
from refreader_spacy.reader.features import OFFSETS, pair_features
from refreader_spacy.reader.memory import DISAGREEMENTS
from refreader_spacy.reader.mentions import Field, describe_mentions
from refreader_spacy.reader.tokens import TextState, token_rows

VOCAB = spacy.blank("en").vocab


def cost(text, heads):
    """What is added to the score of a mention with a cell that has those before it."""
    rows = token_rows(Doc(VOCAB, text.split()), TextState()).rows
    heads = np.array(heads)
    titled = rows[heads - 1, Column.ROLE] == Role.TITLE
    table = describe_mentions(rows, heads, heads - titled)
    cells = Cells.empty(1)
    last = len(heads) - 1
    for i in range(last):
        cells.write(0, table, i, i, i == 0)
    (values,) = pair_features(table, last, cells, np.array([0]))
    places = {*(values + OFFSETS).tolist()}
    kind = table.fields[last, Field.KIND]
    return sum(c for k, value, c in DISAGREEMENTS if k == kind and value in places)


@pytest.mark.parametrize(
    ("text", "heads", "differs"),
    [
        ("He gave him her coat", [0, 2, 3], True),
        ("He gave him his coat", [0, 2, 3], False),
        ("It said he left", [0, 2], True),
        ("It said it left", [0, 2], False),
        ("He said I left", [0, 2], True),
        ('" He left , " I said', [1, 5], False),
        ('He said : " I left', [0, 4], False),
    ],
)
def test_what_disagrees_counts_against_a_cell(text, heads, differs):
    assert (cost(text, heads) < 0) == differs


def test_it_is_rather_what_a_sentence_began_with():
    assert cost("Nokia said it left", [0, 2]) > 0
    assert cost("So Nokia said it left", [1, 3]) == 0
    assert cost("It said it left", [0, 2]) > 0
    assert cost("Nokia left . It left", [0, 3]) == 0
