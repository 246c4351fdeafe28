"""Memory cells: what is known of the entities that a text has mentioned lately.

Shapes: M cells, W words of a mention, F fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.reader.mentions import N_FIELDS, N_WORDS, Field, Kind, MentionTable
from refreader_spacy.reader.tokens import Ints


class Extra(IntEnum):
    """What is known of a cell beside its latest mention's fields."""

    COUNT = N_FIELDS  # of mentions; 0 for an empty cell
    LATEST = N_FIELDS + 1  # the number of its latest mention
    GROUPS = N_FIELDS + 2  # the Groups that its mentions are of


N_CELL_FIELDS = len(Extra) + N_FIELDS


class Group(IntEnum):
    """What a mention is, as a bit."""

    NAME = 1
    NOUN = 2
    PRONOUN = 4


class WordSet(IntEnum):
    """Sets of words that a cell keeps; as many as fit, the oldest go."""

    HEADS = 0
    STRINGS = 1
    PRONOUNS = 2
    NAMES = 3
    WORDS = 4
    LATEST_NAMES = 5  # of the latest mention that is a name or a noun
    LATEST_WORDS = 6


SET_SIZES = (6, 4, 4, 10, 14, N_WORDS, N_WORDS)
SET_STARTS = tuple(int(n) for n in np.cumsum((0, *SET_SIZES)))
N_SET_WORDS = SET_STARTS[-1]

# How many mentions a cell that was mentioned twice, three times, ... outlives others
BONUS, MOST_BONUSES = 8, 4


def set_slice(name: WordSet) -> slice:
    """Where a set's words are among all that a cell keeps."""
    return slice(SET_STARTS[name], SET_STARTS[name + 1])


@dataclass
class Cells:
    """All cells of a memory.

    fields (Ints): The latest mention's fields, and more (M, F + 3). Genders,
        number, initials and letters are of the latest mention that told them.
    sets (Ints): The words of each WordSet, 0 where there are fewer (M, 50).
    """

    fields: Ints
    sets: Ints

    @classmethod
    def empty(cls, n_cells: int) -> Cells:
        return cls(
            np.zeros((n_cells, N_CELL_FIELDS), np.int32),
            np.zeros((n_cells, N_SET_WORDS), np.int32),
        )

    def least_salient(self) -> int:
        """The cell to overwrite: an empty one, else whoever is longest out of sight."""
        return int(np.argmin(self.standing()))

    def standing(self) -> NDArray[np.int64]:
        """The number of the mention that each cell is remembered as long as (M,)."""
        count = self.fields[:, Extra.COUNT].astype(np.int64)
        bonus = BONUS * np.minimum(count - 1, MOST_BONUSES)
        return np.where(count > 0, self.fields[:, Extra.LATEST] + bonus, -1)

    def write(
        self, cell: int, mentions: MentionTable, i: int, number: int, new: bool
    ) -> None:
        """Put a mention into a cell: of a new entity, or of the one it holds.

        number (int): How many mentions came before it in the text.
        """
        mention = mentions.fields[i]
        fields, sets = self.fields[cell], self.sets[cell]
        if new:
            fields[:] = 0
            sets[:] = 0
        kept = fields[KEPT].copy()
        fields[:N_FIELDS] = mention
        told = mention[KEPT] != 0
        fields[KEPT] = np.where(told, mention[KEPT], kept)
        fields[Extra.COUNT] += 1
        fields[Extra.LATEST] = number
        sure = bool(mention[Field.SURE])
        named = mention[Field.KIND] in NAME_KINDS
        group = Group.NAME if named else Group.NOUN if sure else Group.PRONOUN
        fields[Extra.GROUPS] |= group
        if sure:
            _insert(sets[set_slice(WordSet.HEADS)], [mention[Field.STEM]])
            _insert(sets[set_slice(WordSet.STRINGS)], [mention[Field.STRING]])
            _insert(sets[set_slice(WordSet.NAMES)], mentions.names[i])
            _insert(sets[set_slice(WordSet.WORDS)], mentions.words[i])
            sets[set_slice(WordSet.LATEST_NAMES)] = mentions.names[i]
            sets[set_slice(WordSet.LATEST_WORDS)] = mentions.words[i]
        else:
            _insert(sets[set_slice(WordSet.PRONOUNS)], [mention[Field.PRONOUN]])


KEPT = np.array(
    [Field.GENDER, Field.GIVEN, Field.NUMBER, Field.INITIALS, Field.LETTERS]
)
NAME_KINDS = (Kind.NAME, Kind.CAPITAL_START)


def _insert(kept: Ints, words: Ints | list[int]) -> None:
    """Put words first that are not there yet, in place; the last ones fall out."""
    for word in words:
        if word and word not in kept:
            kept[1:] = kept[:-1].copy()
            kept[0] = word
