"""Features of a mention and the cells, on small invented texts."""

import numpy as np
import pytest
import spacy

from refreader_spacy.reader.cells import Cells, Extra
from refreader_spacy.reader.features import FEATURES, pair_features
from refreader_spacy.reader.mentions import Kind, describe_mentions
from refreader_spacy.reader.tokens import TextState, token_rows

NLP = spacy.blank("en")


def values(text, mentions, entities):
    """The last mention's features with the cells of the others, by name.

    mentions (list[tuple[int, int]]): Start and head.
    entities (list[int]): The cell of each but the last.
    """
    rows = token_rows(NLP.make_doc(text), TextState()).rows
    starts, heads = np.array(mentions).T
    table = describe_mentions(rows, heads, starts)
    cells = Cells.empty(8)
    for i, cell in enumerate(entities):
        cells.write(cell, table, i, i, cells.fields[cell, Extra.COUNT] == 0)
    used = np.flatnonzero(cells.fields[:, Extra.COUNT])
    found = pair_features(table, len(mentions) - 1, cells, used)
    assert found.shape == (len(used), len(FEATURES))
    assert (found < [feature.size for feature in FEATURES]).all()
    return [
        dict(zip((f.name for f in FEATURES), row, strict=True))
        for row in found.tolist()
    ]


def test_strings_and_heads():
    text = "The red car hit a truck . The car stopped"
    car, truck = values(text, [(0, 2), (4, 5), (7, 8)], [0, 1])
    assert (car["head in cell"], truck["head in cell"]) == (2, 1)
    assert (car["string in cell"], truck["string in cell"]) == (1, 1)
    assert (car["word overlap"], truck["word overlap"]) == (4, 2)
    assert car["word coverage"] == 3  # "red" is not said again
    assert (car["rank"], truck["rank"]) == (1, 0)
    assert (car["sentences"], truck["sentences"]) == (1, 1)


def test_names():
    text = "Mary Jones met Alan Smith and Dr. Jones left"
    jones, smith = values(text, [(0, 1), (3, 4), (6, 7)], [0, 1])
    assert (jones["name overlap"], smith["name overlap"]) == (4, 2)
    assert (jones["name coverage"], smith["name coverage"]) == (3, 2)


def test_a_cell_keeps_what_its_mentions_told():
    text = "Mary Jones left . She said the doctor saw her"
    (mary,) = values(text, [(0, 1), (4, 4), (9, 9)], [0, 0])
    assert mary["latest kind"] == 2  # she
    assert mary["groups"] == 1 + 4  # a name and a pronoun
    assert mary["gender"] == 2 * 4 + 2
    assert mary["pronoun in cell"] == 1
    assert mary["count"] == 1  # two


def test_nested_mentions_cover_each_other():
    text = "they saw her old mother"
    (her,) = values(text, [(2, 2), (2, 4)], [0])
    assert her["covers"] == 1
    (other,) = values(text, [(0, 0), (2, 4)], [0])
    assert other["covers"] == 0


def test_quotations():
    text = '"I left" and "I came" '
    (first,) = values(text, [(1, 1), (6, 6)], [0])
    assert first["quotation"] == 1
    assert first["latest word"] == 2


@pytest.mark.parametrize("n", [1, 3, 9])
def test_the_least_salient_cell_was_mentioned_least_and_longest_ago(n):
    text = "Ann met Bo and Cy " * n
    rows = token_rows(NLP.make_doc(text), TextState()).rows
    heads = np.flatnonzero(rows[:, 5] > 0)
    table = describe_mentions(rows, heads, heads)
    assert {*table.fields[:, 2].tolist()} <= {Kind.NAME, Kind.CAPITAL_START}
    cells = Cells.empty(3)
    for i in range(len(heads)):
        assert cells.least_salient() == (i if i < 3 else cells.least_salient())
        cells.write(i % 3, table, i, i, i < 3)
    assert cells.least_salient() == 0
    cells.write(0, table, 0, len(heads), False)
    assert cells.least_salient() == 1
