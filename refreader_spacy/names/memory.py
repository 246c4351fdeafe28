"""The memory: people in cells, and what each token decides about them.

This is the definition, in plain Python; `fast/names.pyx` is the same, compiled.

Shapes: T tokens, B documents, M memory cells, H hidden size, K key size, S what a token
says, W words that a cell remembers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.model.types import Array
from refreader_spacy.names import says
from refreader_spacy.names.words import (
    IS_END,
    IS_HE,
    IS_JOINING,
    IS_NAME,
    IS_PRONOUN,
    IS_SHE,
)

Numbers = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

N_WORDS = 8  # that a cell remembers
HALF_LIFE = 30.0  # of salience, in tokens

# What is known of a cell; LAST to NAME are when it was written
USED, LAST, SENTENCE, NAME, COUNT, NAMELESS, FIRST, BORN, NEXT_WORD, GENDER = range(10)
N_KNOWN = 10
# What is known of a document; CURRENT is the cell of the name that is being read, or -1
TOKEN, SENTENCES, NAMES, CURRENT, PEOPLE = range(5)


class State(NamedTuple):
    """All that is known between two tokens of documents."""

    hidden: Array  # (B, H)
    keys: Array  # (B, M, 1 + K), first how much the key counts by itself
    facts: Numbers  # (B, M, 10)
    words: Array  # (B, M, W)
    clock: Numbers  # (B, 5)


def empty(hidden: Array, n_docs: int, n_cells: int, key_size: int) -> State:
    """What is known before the first token.

    hidden (Array): The first hidden state (H,).
    """
    return State(
        np.repeat(hidden[None], n_docs, axis=0),
        np.zeros((n_docs, n_cells, 1 + key_size), np.float32),
        np.zeros((n_docs, n_cells, N_KNOWN)),
        np.full((n_docs, n_cells, N_WORDS), -1, np.float32),
        np.array([[0.0, 0.0, 0.0, -1.0, 0.0]] * n_docs),
    )


def decide_plainly(
    state: State, said: Array, words: Array, starts: Index, gates: Array
) -> None:
    """Let documents' tokens decide; their state and `gates` are written over.

    said, words: Of all documents' tokens, end to end (N, S), (N, 2).
    starts: Where each document begins, and where the last one ends (B + 1,).
    gates: Updates, overwrites and saliences (3, N, M).
    """
    gates[:] = 0
    for doc, (start, stop) in enumerate(pairwise(starts.tolist())):
        cells = Cells(*(field[doc] for field in state))
        for token in range(start, stop):
            word, kind = words[token].tolist()
            cells.read(said[token], word, int(kind), gates[:, token])


class Cells:
    """One document's memory."""

    def __init__(
        self, _: Array, keys: Array, facts: Numbers, words: Array, clock: Numbers
    ) -> None:
        """All without B; they are written over."""
        self.keys, self.facts, self.words, self.clock = keys, facts, words, clock

    def read(self, said: Array, word: float, kind: int, gates: Array) -> None:
        """Let one token decide.

        said (Array): (S,). gates (Array): Zeros (3, M), written over.
        """
        cell: int | None = None
        acts = self.is_name(kind) or bool(kind & IS_PRONOUN)
        if acts:
            cell = self.known(word, kind)
            if cell is not None:
                gates[0, cell] = 1
            else:
                shares = self._shares(said, word, kind)  # (M + 1,)
                gates[0] = shares[:-1]
                gates[1, self.place()] = shares[-1]
                best = int(shares.argmax())
                cell = None if best == len(shares) - 1 else best
            key = np.append(said[1], said[len(said) - self.keys.shape[1] + 1 :])
            cell = self.write(cell, key, word, kind)
        self.tick(kind, cell)
        age = self.clock[TOKEN] - 1 - self.facts[:, LAST]
        gates[2] = self.facts[:, USED] * 0.5 ** (age / HALF_LIFE)

    def is_name(self, kind: int) -> bool:
        """Is a word part of a name here?"""
        return bool(kind & IS_NAME or (kind & IS_JOINING and self.clock[CURRENT] >= 0))

    def known(self, word: float, kind: int) -> int | None:
        """The cell that a word of a name certainly goes to, if there is one.

        That is the one of the name that it goes on with, or the latest of that name.
        """
        if not self.is_name(kind):
            return None
        if self.clock[CURRENT] >= 0:
            return int(self.clock[CURRENT])
        same = (self.words == word).any(axis=1) & (self.facts[:, USED] > 0)
        if not same.any():
            return None
        return int(np.where(same, self.facts[:, LAST], -1).argmax())

    def place(self) -> int:
        """The cell for somebody new: a free one, or who wasn't named for longest."""
        return int(np.where(self.facts[:, USED], self.facts[:, LAST], -1).argmin())

    def open_to(self, kind: int) -> Mask:
        """The cells that are asked: pronouns ask all, names those without one (M,)."""
        used: Mask = self.facts[:, USED] > 0
        return used if kind & IS_PRONOUN else used & (self.facts[:, NAMELESS] > 0)

    def _shares(self, said: Array, word: float, kind: int) -> Numbers:
        """How probably each cell is meant, and last, somebody new (M + 1,)."""
        key_size = self.keys.shape[1] - 1
        query = said[says.N_SCORES : says.N_SCORES + key_size]
        asks = said[says.N_SCORES + key_size :][: says.N_FACTS]
        scores = self.keys[:, 0] + self.keys[:, 1:] @ query
        scores = scores + self.facts_now(word, kind) @ asks
        scores = np.where(self.open_to(kind), scores, -np.inf)
        scores = np.append(scores, said[0])
        shares: Numbers = np.exp(scores - scores.max())
        shares /= shares.sum()
        return shares

    def facts_now(self, word: float, kind: int) -> Numbers:
        """What a query can ask about the cells (M, 24)."""
        facts, clock = self.facts, self.clock
        asked = np.zeros((len(facts), says.N_FACTS))
        cells = np.arange(len(facts))
        tokens = clock[TOKEN] - facts[:, LAST]
        age = np.log2(tokens + 1).astype(int)
        sentences = (clock[SENTENCES] - facts[:, SENTENCE]).astype(int)
        names = (clock[NAMES] - facts[:, NAME]).astype(int)
        gender = kind & (IS_HE | IS_SHE)
        asked[cells, says.AGE + np.minimum(age, says.N_AGES - 1)] = 1
        asked[cells, says.SENTENCES + np.minimum(sentences, says.N_SENTENCES - 1)] = 1
        asked[cells, says.NAMES + np.minimum(names, says.N_NAMES - 1)] = 1
        asked[:, says.COUNT] = np.log1p(facts[:, COUNT])
        asked[:, says.PRONOUN] = facts[:, NAMELESS]
        asked[:, says.SAME_WORD] = 2 * (self.words == word).any(axis=1)
        asked[:, says.FIRST] = facts[:, FIRST]
        asked[:, says.BORN] = np.log1p(clock[TOKEN] - facts[:, BORN]) / 4
        if gender:
            told = facts[:, GENDER] > 0
            asked[:, says.AGREES] = told & (facts[:, GENDER] == gender)
            asked[:, says.DIFFERS] = told & (facts[:, GENDER] != gender)
        return asked

    def write(self, cell: int | None, key: Array, word: float, kind: int) -> int:
        """Link the token to a cell, or to None for somebody new.

        A pronoun leaves a cell as it is: what is stored is how people are named.

        RETURNS: Which cell it was.
        """
        clock, named = self.clock, not kind & IS_PRONOUN
        begins = named and clock[CURRENT] < 0
        clock[NAMES] += begins
        if cell is not None and not named:
            if not self.facts[cell, GENDER]:
                self.facts[cell, GENDER] = kind & (IS_HE | IS_SHE)
            return cell
        new = cell is None
        if cell is None:
            cell = self.place()
            self.facts[cell] = 0
            self.facts[cell, [USED, FIRST, BORN]] = 1, clock[PEOPLE] == 0, clock[TOKEN]
            self.words[cell] = -1
            clock[PEOPLE] += 1
        facts = self.facts[cell]
        self.keys[cell] = key
        facts[[LAST, SENTENCE, NAME]] = clock[[TOKEN, SENTENCES, NAMES]]
        facts[COUNT] += new or begins
        facts[NAMELESS] = not named
        if not facts[GENDER]:
            facts[GENDER] = kind & (IS_HE | IS_SHE)
        if kind & IS_NAME and word not in self.words[cell]:
            self.words[cell, int(facts[NEXT_WORD]) % N_WORDS] = word
            facts[NEXT_WORD] += 1
        return cell

    def tick(self, kind: int, cell: int | None) -> None:
        """The token is over.

        cell (int | None): Where it was written.
        """
        go_on = cell is not None and not kind & IS_PRONOUN
        self.clock[CURRENT] = cell if go_on else -1
        self.clock[TOKEN] += 1
        self.clock[SENTENCES] += bool(kind & IS_END)
