"""What a token says to the memory, as a row of numbers, and what a query can ask.

Shapes: T tokens, D size of what is judged.
"""

from __future__ import annotations

from dataclasses import dataclass

from refreader_spacy.protocol import Array

# What a cell remembers of whom it holds: what was said by the latest word of a name, by
# the word after it, by the latest pronoun, and by the word after the first name
LATEST_NAME, AFTER_NAME, LATEST_PRONOUN, AFTER_FIRST = range(4)
N_MARKS = 4

# What a query asks about a cell: where each kind of fact begins, and how many it has
AGE, N_AGES = 0, 8  # tokens since it was named, in powers of two
SENTENCES, N_SENTENCES = 8, 4  # since then
NAMES, N_NAMES = 12, 5  # of others since then
COUNT = 17  # how often it was named, as a logarithm
NAMELESS = 18  # is a pronoun all that is known?
FIRST = 19  # is it the first of the text?
BORN = 20  # tokens since it was first named, as a logarithm
AGREES = 21  # is it of the pronoun's gender, by a given name or a title?
DIFFERS = 22  # or of another?
MEANT = 23  # did a pronoun mean it?
MEANT_AGE = 24  # tokens since then, in powers of two
MEANT_SENTENCES = 32  # since then
MEANT_COUNT = 36  # how often, as a logarithm
SAME_WORD = 37  # was it this very pronoun?
LATEST = 38  # is it whom the latest name or pronoun was about?
LATEST_MEANT = 39  # or the latest pronoun?
N_FACTS = 40


@dataclass(frozen=True)
class Said:
    """What each token of one document says (T, 1 + 40 + D + 4 D).

    The columns are: the score of being somebody new, what each fact about a cell is
    worth to it (40), a query (D), and what the cell it goes to should remember (4 D).

    judge (Array): How facts add to what is remembered, and below what each unit is
        worth, and which are products (40 + 2, D).
    """

    rows: Array
    judge: Array
    n_cells: int  # that they speak to

    def __len__(self) -> int:
        return len(self.rows)
