"""What a token says to the memory, as a row of numbers.

Shapes: T tokens, K key size.
"""

from __future__ import annotations

from dataclasses import dataclass

from refreader_spacy.model.types import Array

N_SCORES = 2  # of somebody new, and of the key by itself

# What a query asks about a cell: where each kind of fact begins, and how many it has
AGE, N_AGES = 0, 8  # tokens since it was written, in powers of two
SENTENCES, N_SENTENCES = 8, 4  # since then
NAMES, N_NAMES = 12, 5  # of others since then
COUNT = 17  # how often it was named, as a logarithm
PRONOUN = 18  # is a pronoun all that is known?
SAME_WORD = 19  # was it called by this word?
FIRST = 20  # is it the first of the text?
BORN = 21  # tokens since it was first named, as a logarithm
AGREES = 22  # is it of the pronoun's gender, by a given name or a title?
DIFFERS = 23  # or of another?
N_FACTS = 24


@dataclass(frozen=True)
class Said:
    """What each token of one document says (T, 2 + K + 24 + K).

    The columns are: the score of being somebody new, how much the key counts by itself;
    a query (K) and what the query makes of each fact about a cell (24); a key (K).
    """

    rows: Array
    n_cells: int  # that they speak to

    def __len__(self) -> int:
        return len(self.rows)
