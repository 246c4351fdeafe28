"""The memory: people in cells, and what each token decides about them.

This is the definition, in plain Python; `names.pyx` is the same, compiled.

Shapes: N tokens of all documents, B documents, M memory cells, H hidden size, D size of
what is judged, S what a token says, W words that a cell remembers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.names import says
from refreader_spacy.names.words import (
    IS_END,
    IS_HE,
    IS_JOINING,
    IS_NAME,
    IS_PRONOUN,
    IS_SHE,
)
from refreader_spacy.protocol import Array

Numbers = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

N_WORDS = 8  # that a cell remembers
HALF_LIFE = 30.0  # of salience, in tokens

# What is known of a cell: LAST to NAME are when it was named, MEANT and MEANT_SENTENCE
# when a pronoun meant it (0: never), and MEANT_WORD is that pronoun
USED, LAST, SENTENCE, NAME, COUNT, NAMELESS, FIRST, BORN, NEXT_WORD, GENDER = range(10)
MEANT, MEANT_SENTENCE, MEANT_COUNT, MEANT_WORD = range(10, 14)
N_KNOWN = 14
# What is known of a document; from CURRENT on these are cells, or -1: of the name that
# is being read, of the latest mention and of the latest pronoun
TOKEN, SENTENCES, NAMES, PEOPLE, CURRENT, LATEST, LATEST_MEANT = range(7)
BEGINNING = 0.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0


class State(NamedTuple):
    """All that is known between two tokens of documents."""

    hidden: Array  # (B, H)
    marks: Array  # (B, M, 4, D), zero where nothing is remembered
    facts: Numbers  # (B, M, 14)
    words: Array  # (B, M, W)
    clock: Numbers  # (B, 7)


def empty(hidden: Array, n_docs: int, n_cells: int, judged_size: int) -> State:
    """What is known before the first token.

    hidden (Array): The first hidden state (H,).
    """
    return State(
        np.repeat(hidden[None], n_docs, axis=0),
        np.zeros((n_docs, n_cells, says.N_MARKS, judged_size), np.float32),
        np.zeros((n_docs, n_cells, N_KNOWN)),
        np.full((n_docs, n_cells, N_WORDS), -1, np.float32),
        np.array([BEGINNING] * n_docs),
    )


def decide_plainly(
    state: State, said: Array, judge: Array, words: Array, starts: Index, gates: Array
) -> None:
    """Let documents' tokens decide; their state and `gates` are written over.

    said, words: Of all documents' tokens, end to end (N, S), (N, 2).
    judge: How facts add to what is remembered, what each unit is worth, and which
        are products (40 + 2, D).
    starts: Where each document begins, and where the last one ends (B + 1,).
    gates: Updates, overwrites and saliences (3, N, M).
    """
    gates[:] = 0
    for doc, (start, stop) in enumerate(pairwise(starts.tolist())):
        cells = Cells(*(field[doc] for field in state))
        for token in range(start, stop):
            word, kind = words[token].tolist()
            cells.read(said[token], judge, word, int(kind), gates[:, token])


class Cells:
    """One document's memory."""

    def __init__(
        self, _: Array, marks: Array, facts: Numbers, words: Array, clock: Numbers
    ) -> None:
        """All without B; they are written over."""
        self.marks, self.facts, self.words, self.clock = marks, facts, words, clock

    def read(
        self, said: Array, judge: Array, word: float, kind: int, gates: Array
    ) -> None:
        """Let one token decide.

        said (Array): (S,). gates (Array): Zeros (3, M), written over.
        """
        cell: int | None = None
        acts = self.is_name(kind) or bool(kind & IS_PRONOUN)
        marks = said[-self.marks[0].size :].reshape(self.marks[0].shape)
        if acts:
            cell = self.known(word, kind)
            if cell is not None:
                gates[0, cell] = 1
            else:
                shares = self._shares(said, judge, word, kind)  # (M + 1,)
                gates[0] = shares[:-1]
                gates[1, self.place()] = shares[-1]
                best = int(shares.argmax())
                cell = None if best == len(shares) - 1 else best
            cell = self.write(cell, marks, word, kind)
        self.tick(kind, cell, marks)
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

    def _shares(self, said: Array, judge: Array, word: float, kind: int) -> Numbers:
        """How probably each cell is meant, and last, somebody new (M + 1,)."""
        facts = self.facts_now(word, kind)  # (M, 40)
        asks = said[1 : 1 + says.N_FACTS]
        query = said[1 + says.N_FACTS :][: judge.shape[1]]
        weights, worth, products = np.split(judge, [says.N_FACTS, says.N_FACTS + 1])
        seen = self.marks.sum(axis=1) + facts @ weights  # (M, D)
        added = np.maximum(query + seen, 0)
        judged = np.where(products > 0, query * np.tanh(seen), added)
        scores = judged @ worth[0] + facts @ asks
        scores = np.where(self.open_to(kind), scores, -np.inf)
        scores = np.append(scores, said[0])
        shares: Numbers = np.exp(scores - scores.max())
        shares /= shares.sum()
        unnamed = self.unnamed(kind)
        if unnamed is not None:
            shares[unnamed] += shares[-1]
            shares[-1] = 0
        return shares

    def unnamed(self, kind: int) -> int | None:
        """The cell that a pronoun goes to instead of to somebody new, if there is one.

        Two people of one gender who both have no name are too rare to reckon with, and
        no text that teaches this has any: it is the one whom a pronoun meant last.
        """
        gender, facts = kind & (IS_HE | IS_SHE), self.facts
        if not kind & IS_PRONOUN:
            return None
        same = (facts[:, NAMELESS] > 0) & (facts[:, GENDER] == gender)
        return int(np.where(same, facts[:, MEANT], -1).argmax()) if same.any() else None

    def facts_now(self, word: float, kind: int) -> Numbers:
        """What a query can ask about the cells (M, 40)."""
        facts, clock = self.facts, self.clock
        asked = np.zeros((len(facts), says.N_FACTS))
        cells = np.arange(len(facts))
        meant = np.flatnonzero(facts[:, MEANT])
        tokens = clock[TOKEN] - facts[:, LAST]
        sentences = clock[SENTENCES] - facts[:, SENTENCE]
        names = clock[NAMES] - facts[:, NAME]
        gender = kind & (IS_HE | IS_SHE)
        asked[cells, says.AGE + _power(tokens)] = 1
        asked[cells, says.SENTENCES + _least(sentences, says.N_SENTENCES)] = 1
        asked[cells, says.NAMES + _least(names, says.N_NAMES)] = 1
        asked[:, says.COUNT] = np.log1p(facts[:, COUNT])
        asked[:, says.NAMELESS] = facts[:, NAMELESS]
        asked[:, says.FIRST] = facts[:, FIRST]
        asked[:, says.BORN] = np.log1p(clock[TOKEN] - facts[:, BORN]) / 4
        if gender:
            told = facts[:, GENDER] > 0
            asked[:, says.AGREES] = told & (facts[:, GENDER] == gender)
            asked[:, says.DIFFERS] = told & (facts[:, GENDER] != gender)
        tokens = clock[TOKEN] + 1 - facts[meant, MEANT]
        sentences = clock[SENTENCES] - facts[meant, MEANT_SENTENCE]
        asked[meant, says.MEANT] = 1
        asked[meant, says.MEANT_AGE + _power(tokens)] = 1
        asked[meant, says.MEANT_SENTENCES + _least(sentences, says.N_SENTENCES)] = 1
        asked[meant, says.MEANT_COUNT] = np.log1p(facts[meant, MEANT_COUNT])
        asked[meant, says.SAME_WORD] = facts[meant, MEANT_WORD] == word
        asked[:, says.LATEST] = cells == clock[LATEST]
        asked[:, says.LATEST_MEANT] = cells == clock[LATEST_MEANT]
        return asked

    def write(self, cell: int | None, marks: Array, word: float, kind: int) -> int:
        """Link the token to a cell, or to None for somebody new.

        marks (Array): What it says should be remembered (4, D).
        RETURNS: Which cell it was.
        """
        clock, named = self.clock, not kind & IS_PRONOUN
        begins = named and clock[CURRENT] < 0
        new = cell is None
        clock[NAMES] += begins
        if cell is None:
            cell = self.place()
            self.facts[cell] = 0
            self.facts[cell, [USED, FIRST, BORN]] = 1, clock[PEOPLE] == 0, clock[TOKEN]
            self.words[cell] = -1
            self.marks[cell] = 0
            clock[PEOPLE] += 1
        facts = self.facts[cell]
        if named or new:
            facts[[LAST, SENTENCE, NAME]] = clock[[TOKEN, SENTENCES, NAMES]]
            facts[COUNT] += begins
            facts[NAMELESS] = not named
            self.marks[cell, says.LATEST_NAME] = marks[says.LATEST_NAME]
            self.marks[cell, says.AFTER_NAME] = 0
        if not facts[GENDER] and (new or not named):  # a surname tells none
            facts[GENDER] = kind & (IS_HE | IS_SHE)
        if kind & IS_NAME and word not in self.words[cell]:
            self.words[cell, int(facts[NEXT_WORD]) % N_WORDS] = word
            facts[NEXT_WORD] += 1
        if not named:
            facts[[MEANT, MEANT_SENTENCE]] = clock[TOKEN] + 1, clock[SENTENCES]
            facts[MEANT_COUNT] += 1
            facts[MEANT_WORD] = word
            self.marks[cell, says.LATEST_PRONOUN] = marks[says.LATEST_PRONOUN]
            clock[LATEST_MEANT] = cell
        clock[LATEST] = cell
        return cell

    def tick(self, kind: int, cell: int | None, marks: Array) -> None:
        """The token is over, and perhaps it was the first one after a name.

        cell (int | None): Where it was written.
        """
        clock, current = self.clock, int(self.clock[CURRENT])
        goes_on = cell is not None and not kind & IS_PRONOUN
        if current >= 0 and self.facts[current, LAST] == clock[TOKEN] - 1:
            self.marks[current, says.AFTER_NAME] = marks[says.AFTER_NAME]
            if self.facts[current, COUNT] == 1:
                self.marks[current, says.AFTER_FIRST] = marks[says.AFTER_FIRST]
        clock[CURRENT] = cell if goes_on else -1
        clock[TOKEN] += 1
        clock[SENTENCES] += bool(kind & IS_END)


def _power(tokens: Numbers) -> Index:
    """How many times two goes into a distance, as it is asked about."""
    return _least(np.log2(tokens + 1), says.N_AGES)


def _least(numbers: Numbers, n_kinds: int) -> Index:
    return np.minimum(numbers.astype(np.intp), n_kinds - 1)
