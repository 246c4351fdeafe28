"""Features of a mention and a cell, as a declared table.

Each is a small integer: which of its values holds. The reference here and the compiled
step read the same table, so a feature is added by adding a row; a new way to compare
is an operation, written in both.

Shapes: M cells, F features, W words of a set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.lang.en.words import Gender, Number
from refreader_spacy.reader.cells import Cells, Extra, WordSet, set_slice
from refreader_spacy.reader.mentions import (
    N_CASES,
    N_KINDS,
    N_VOICES,
    Field,
    MentionTable,
)
from refreader_spacy.reader.tokens import Ints


class Op(IntEnum):
    """How a mention and a cell are compared."""

    DISTANCE = 0  # the mention's field less the cell's, in buckets
    BUCKET = 1  # the cell's field, in buckets
    RANK = 2  # how many cells were mentioned later than this one, in buckets
    VALUE = 3  # the cell's field
    PAIR = 4  # both fields: the mention's times `inner`, plus the cell's
    SAME = 5  # 0 where either is 0, 1 where they differ, 2 where they are the same
    IN = 6  # is the mention's field in the cell's set? 0 where the field is 0
    OVERLAP = 7  # of the mention's set, how much is in the cell's: see `overlap`
    COVERAGE = 8  # of the cell's set, how much is in the mention's
    COVERS = 9  # is the cell's latest head inside the mention?


class MentionSet(IntEnum):
    """The sets of words that a mention has."""

    NAMES = 0
    WORDS = 1


class Feature(NamedTuple):
    """A row of the table."""

    name: str
    op: Op
    size: int  # how many values it has
    mention: int = 0  # a Field or a MentionSet
    cell: int = 0  # a Field, an Extra or a WordSet
    inner: int = 0  # of PAIR
    bounds: tuple[int, ...] = ()  # of buckets: the highest value of each but the last


TOKENS = (0, 1, 2, 3, 4, 6, 9, 13, 20, 30, 50, 80, 130, 250, 500)
SENTENCES = (0, 1, 2, 3, 5, 8, 13, 25)
RANKS = (0, 1, 2, 3, 4, 6, 9, 14, 22, 40)
COUNTS = (1, 2, 3, 5, 9, 20)

FEATURES = (
    Feature("tokens", Op.DISTANCE, 16, Field.POSITION, Field.POSITION, bounds=TOKENS),
    Feature(
        "sentences", Op.DISTANCE, 9, Field.SENTENCE, Field.SENTENCE, bounds=SENTENCES
    ),
    Feature("rank", Op.RANK, 11, bounds=RANKS),
    Feature("count", Op.BUCKET, 7, cell=Extra.COUNT, bounds=COUNTS),
    Feature("latest kind", Op.VALUE, N_KINDS, cell=Field.KIND),
    Feature("groups", Op.VALUE, 8, cell=Extra.GROUPS),
    Feature("head in cell", Op.IN, 3, Field.STEM, WordSet.HEADS),
    Feature("latest word", Op.SAME, 3, Field.WORD, Field.WORD),
    Feature("string in cell", Op.IN, 3, Field.STRING, WordSet.STRINGS),
    Feature("pronoun in cell", Op.IN, 3, Field.PRONOUN, WordSet.PRONOUNS),
    Feature("name overlap", Op.OVERLAP, 5, MentionSet.NAMES, WordSet.NAMES),
    Feature("word overlap", Op.OVERLAP, 5, MentionSet.WORDS, WordSet.WORDS),
    Feature("name coverage", Op.COVERAGE, 5, MentionSet.NAMES, WordSet.LATEST_NAMES),
    Feature("word coverage", Op.COVERAGE, 5, MentionSet.WORDS, WordSet.LATEST_WORDS),
    Feature("acronym", Op.SAME, 3, Field.LETTERS, Field.INITIALS),
    Feature("spelled out", Op.SAME, 3, Field.INITIALS, Field.LETTERS),
    Feature("gender", Op.PAIR, 16, Field.GENDER, Field.GENDER, len(Gender)),
    Feature("gender by name", Op.PAIR, 16, Field.GENDER, Field.GIVEN, len(Gender)),
    Feature("name's gender", Op.PAIR, 16, Field.GIVEN, Field.GENDER, len(Gender)),
    Feature("number", Op.PAIR, 9, Field.NUMBER, Field.NUMBER, len(Number)),
    Feature("covers", Op.COVERS, 2),
    Feature("quotation", Op.SAME, 3, Field.QUOTATION, Field.QUOTATION),
    Feature("speaker", Op.SAME, 3, Field.SPEAKER, Field.SPEAKER),
    Feature("place", Op.PAIR, 9, Field.PLACE, Field.PLACE, 3),
    Feature("voice", Op.PAIR, N_VOICES**2, Field.VOICE, Field.VOICE, N_VOICES),
    # An object is hardly ever its own clause's subject
    Feature("case", Op.PAIR, N_CASES**2, Field.CASE, Field.CASE, N_CASES),
    Feature("case and place", Op.PAIR, 3 * N_CASES, Field.CASE, Field.PLACE, 3),
)
N_FEATURES = len(FEATURES)
SIZES = np.array([feature.size for feature in FEATURES])
OFFSETS = np.concatenate(([0], np.cumsum(SIZES)))[:-1]  # of each one's first value
N_VALUES = int(SIZES.sum())


class Comparison(NamedTuple):
    """A mention and the cells that it is compared with."""

    mention: Ints  # its fields
    words: tuple[Ints, Ints]  # its MentionSets, without zeros
    fields: Ints  # of cells (M, ...)
    sets: Ints


def pair_features(
    mentions: MentionTable,
    i: int,
    cells: Cells,
    used: NDArray[np.int64],
    table: Sequence[Feature] = FEATURES,
) -> NDArray[np.uint8]:
    """The values of all features of one mention and the cells in use (M, F)."""
    names, words = mentions.names[i], mentions.words[i]
    pair = Comparison(
        mentions.fields[i],
        (names[names != 0], words[words != 0]),
        cells.fields[used],
        cells.sets[used],
    )
    values = np.zeros((len(used), len(table)), np.uint8)
    for f, row in enumerate(table):
        values[:, f] = _OPERATIONS[row.op](row, pair)
    return values


def _distance(row: Feature, pair: Comparison) -> Any:
    return np.searchsorted(
        row.bounds, pair.mention[row.mention] - pair.fields[:, row.cell]
    )


def _bucket(row: Feature, pair: Comparison) -> Any:
    return np.searchsorted(row.bounds, pair.fields[:, row.cell])


def _rank(row: Feature, pair: Comparison) -> Any:
    latest = pair.fields[:, Extra.LATEST]
    rank = np.empty(len(latest), np.int64)
    rank[np.argsort(-latest, kind="stable")] = np.arange(len(latest))
    return np.searchsorted(row.bounds, rank)


def _value(row: Feature, pair: Comparison) -> Any:
    return pair.fields[:, row.cell]


def _pair(row: Feature, pair: Comparison) -> Any:
    return pair.mention[row.mention] * row.inner + pair.fields[:, row.cell]


def _same(row: Feature, pair: Comparison) -> Any:
    mine, theirs = pair.mention[row.mention], pair.fields[:, row.cell]
    if mine == 0:
        return 0
    return np.where(theirs == 0, 0, 1 + (mine == theirs))


def _in(row: Feature, pair: Comparison) -> Any:
    mine = pair.mention[row.mention]
    if mine == 0:
        return 0
    return 1 + (pair.sets[:, set_slice(WordSet(row.cell))] == mine).any(axis=1)


def _overlap(row: Feature, pair: Comparison) -> Any:
    mine = pair.words[row.mention]
    theirs = pair.sets[:, set_slice(WordSet(row.cell))]  # (M, W)
    if not len(mine):
        return 0
    found = (theirs[:, :, None] == mine).any(axis=1).sum(axis=1)  # (M,)
    empty = ~theirs.any(axis=1)
    share = np.where(found == 0, 2, np.where(found == len(mine), 4, 3))
    return np.where(empty, 1, share)


def _coverage(row: Feature, pair: Comparison) -> Any:
    mine = pair.words[row.mention]
    theirs = pair.sets[:, set_slice(WordSet(row.cell))]  # (M, W)
    size = (theirs != 0).sum(axis=1)
    if not len(mine):
        return np.where(size > 0, 1, 0)
    found = ((theirs[:, :, None] == mine).any(axis=2) & (theirs != 0)).sum(axis=1)
    share = np.where(found == 0, 2, np.where(found == size, 4, 3))
    return np.where(size == 0, 0, share)


def _covers(row: Feature, pair: Comparison) -> Any:
    start = pair.mention[Field.POSITION] - pair.mention[Field.LENGTH]
    return pair.fields[:, Field.POSITION] >= start


_OPERATIONS: tuple[Callable[[Feature, Comparison], Any], ...] = (
    _distance, _bucket, _rank, _value, _pair, _same, _in, _overlap, _coverage, _covers,
)  # fmt: skip
