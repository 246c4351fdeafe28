"""The memory: people in cells, and what each token decides about them.

This is the definition, in plain Python; `fast/names.pyx` is the same, compiled.

Shapes: T tokens, B documents, M memory cells, H hidden size, K key size, S what a token
says, W words that a cell remembers.
"""

from __future__ import annotations

from itertools import pairwise
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id

from refreader_spacy.model.names import says
from refreader_spacy.model.types import Array

Numbers = NDArray[np.float64]
Index = NDArray[np.intp]

N_WORDS = 8  # that a cell remembers
FAINT = 0.05  # a token that is a mention with less probability doesn't touch the memory
HALF_LIFE = 30.0  # of salience, in tokens
WORD_BITS = 0xFFFFFF  # as many as a float32 holds of a word's number
ENDS = np.array(
    [get_string_id(word) & WORD_BITS for word in (".", ";", "!", "?")], np.float32
)

# What is known of a cell
USED, LAST, SENTENCE, NAME, COUNT, IS_PRONOUN, IS_FIRST, BORN, NEXT_WORD = range(9)
# What is known of a document
TOKEN, SENTENCES, NAMES, IN_NAME, PEOPLE = range(5)


class State(NamedTuple):
    """All that is known between two tokens of documents."""

    hidden: Array  # (B, H)
    keys: Array  # (B, M, 1 + K), first how much the key counts by itself
    facts: Numbers  # (B, M, 9)
    words: Array  # (B, M, W)
    clock: Numbers  # (B, 5)


def empty(hidden: Array, n_docs: int, n_cells: int, key_size: int) -> State:
    """What is known before the first token.

    hidden (Array): The first hidden state (H,).
    """
    return State(
        np.repeat(hidden[None], n_docs, axis=0),
        np.zeros((n_docs, n_cells, 1 + key_size), np.float32),
        np.zeros((n_docs, n_cells, 9)),
        np.full((n_docs, n_cells, N_WORDS), -1, np.float32),
        np.zeros((n_docs, 5)),
    )


def decide_plainly(
    state: State, said: Array, words: Array, starts: Index, gates: Array
) -> None:
    """Let documents' tokens decide; their state and `gates` are written over.

    said, words: Of all documents' tokens, end to end (N, S), (N,).
    starts: Where each document begins, and where the last one ends (B + 1,).
    gates: Updates, overwrites and saliences (3, N, M).
    """
    gates[:] = 0
    for doc, (start, stop) in enumerate(pairwise(starts.tolist())):
        cells = Cells(*(field[doc] for field in state))
        for token in range(start, stop):
            cells.read(said[token], words[token], gates[:, token])


class Cells:
    """One document's memory."""

    def __init__(
        self, _: Array, keys: Array, facts: Numbers, words: Array, clock: Numbers
    ) -> None:
        """All without B; they are written over."""
        self.keys, self.facts, self.words, self.clock = keys, facts, words, clock

    def read(self, said: Array, word: float, gates: Array) -> None:
        """Let one token decide.

        said (Array): (S,). gates (Array): Zeros (3, M), written over.
        """
        entity, is_name = (1 / (1 + exp(-float(x))) for x in said[:2])
        in_name = is_name >= 0.5 and entity >= 0.5
        if entity >= FAINT:
            update, overwrite = gates[:2]
            place = self.place()
            shares = self._shares(said, word)  # (M + 1,)
            update[:] = entity * shares[:-1]
            overwrite[place] = entity * shares[-1]
            if entity >= 0.5:
                cell = int(shares.argmax())
                key = np.append(said[3], said[len(said) - self.keys.shape[1] + 1 :])
                self.write(cell if cell < len(update) else None, key, word, in_name)
        self.tick(word, in_name)
        age = self.clock[TOKEN] - 1 - self.facts[:, LAST]
        gates[2] = self.facts[:, USED] * 0.5 ** (age / HALF_LIFE)

    def place(self) -> int:
        """The cell for somebody new: a free one, or who wasn't named for longest."""
        return int(np.where(self.facts[:, USED], self.facts[:, LAST], -1).argmin())

    def _shares(self, said: Array, word: float) -> Numbers:
        """How probably each cell is meant, and last, somebody new (M + 1,)."""
        key_size = self.keys.shape[1] - 1
        query = said[says.N_GATES : says.N_GATES + key_size]
        asks = said[says.N_GATES + key_size :][: says.N_FACTS]
        scores = self.keys[:, 0] + self.keys[:, 1:] @ query
        scores = scores + self.facts_now(word) @ asks
        scores = np.where(self.facts[:, USED], scores, -np.inf)
        scores = np.append(scores, said[2])
        shares: Numbers = np.exp(scores - scores.max())
        return shares / shares.sum()

    def facts_now(self, word: float) -> Numbers:
        """What a query can ask about the cells (M, 22)."""
        facts, clock = self.facts, self.clock
        asked = np.zeros((len(facts), says.N_FACTS))
        cells = np.arange(len(facts))
        tokens = clock[TOKEN] - facts[:, LAST]
        age = np.log2(tokens + 1).astype(int)
        sentences = (clock[SENTENCES] - facts[:, SENTENCE]).astype(int)
        names = (clock[NAMES] - facts[:, NAME]).astype(int)
        asked[cells, says.AGE + np.minimum(age, says.N_AGES - 1)] = 1
        asked[cells, says.SENTENCES + np.minimum(sentences, says.N_SENTENCES - 1)] = 1
        asked[cells, says.NAMES + np.minimum(names, says.N_NAMES - 1)] = 1
        asked[:, says.COUNT] = np.log1p(facts[:, COUNT])
        asked[:, says.PRONOUN] = facts[:, IS_PRONOUN]
        asked[:, says.SAME_WORD] = 2 * (self.words == word).any(axis=1)
        asked[:, says.FIRST] = facts[:, IS_FIRST]
        asked[:, says.BORN] = np.log1p(clock[TOKEN] - facts[:, BORN]) / 4
        return asked

    def write(self, cell: int | None, key: Array, word: float, in_name: bool) -> int:
        """Link the token to a cell, or to None for somebody new.

        A pronoun leaves a cell as it is: what is stored is how people are named.

        RETURNS: Which cell it was.
        """
        clock = self.clock
        begins = in_name and not clock[IN_NAME]
        clock[NAMES] += begins
        if cell is not None and not in_name:
            return cell
        new = cell is None
        if cell is None:
            cell = self.place()
            self.facts[cell] = 0
            self.facts[cell, [USED, IS_FIRST]] = 1, clock[PEOPLE] == 0
            self.facts[cell, [BORN, IS_PRONOUN]] = clock[TOKEN], not in_name
            self.words[cell] = -1
            clock[PEOPLE] += 1
        facts = self.facts[cell]
        self.keys[cell] = key
        facts[[LAST, SENTENCE, NAME]] = clock[[TOKEN, SENTENCES, NAMES]]
        facts[COUNT] += new or begins
        if in_name and word not in self.words[cell]:
            self.words[cell, int(facts[NEXT_WORD]) % N_WORDS] = word
            facts[NEXT_WORD] += 1
        return cell

    def tick(self, word: float, in_name: bool) -> None:
        """The token is over."""
        self.clock[IN_NAME] = in_name
        self.clock[TOKEN] += 1
        self.clock[SENTENCES] += word in ENDS
