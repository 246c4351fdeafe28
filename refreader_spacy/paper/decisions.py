"""From gates to decisions: which tokens are a mention, and whom it means.

The paper stops at link probabilities between tokens. This is a plain rule on top:
every cell is held by the entity that wrote the most of what it holds, and a mention
means the holder of the cells that it updates, unless it rather overwrites one.

Shapes: T tokens, M memory cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc, Span

from refreader_spacy.protocol import Array, Longs, Mentions, Part, Reading

MENTION = 0.1  # a token that writes so much is in a mention
LONGEST = 10  # tokens that a mention has at most

Decision = tuple[int, int, int, bool, float]  # head, start, entity, is new, probability


@dataclass
class OpenMention:
    """A mention that the next token may continue.

    start, end (int): Tokens, the end exclusive.
    capital (bool): Is its last token capitalised?
    cell (int): Where its last token that wrote enough wrote most.
    new (float): The largest overwrite of its tokens.
    kept (Array): What its tokens left in each cell (M,).
    stored (Array): What its tokens have written to each cell, and left there (M,).
    links (Array): The largest link probability to each cell's holder (M,).
    """

    start: int
    end: int
    capital: bool
    cell: int
    new: float
    kept: Array
    stored: Array
    links: Array


class Decisions:
    """What was decided of a text so far, and what later decisions need to know.

    holders (Longs): The entity that holds each cell, or -1 (M,).
    shares (Array): How much of each cell that entity has written, and is left (M,).
    """

    def __init__(self, n_cells: int) -> None:
        self.holders = np.full(n_cells, -1)
        self.shares = np.zeros(n_cells, np.float32)
        self.open: OpenMention | None = None
        self.n_tokens = self.n_mentions = self.n_entities = 0

    def read(self, doc: Doc | Span, gates: Reading, *, last: bool) -> Part:
        """Decide on the mentions that have ended by the last of these tokens.

        last (bool): The text ends here, and so does a mention that is open.
        """
        first = self.n_mentions
        found = []
        written = gates.update + gates.overwrite  # (T, M)
        enough = (written.sum(axis=1) >= MENTION).tolist()
        cells = written.argmax(axis=1).tolist()
        for i, token in enumerate(doc):
            is_word = not (token.is_punct or token.is_space)
            capital = is_word and token.text[:1].isupper()
            cell = cells[i] if is_word and enough[i] else -1
            if self.open is not None and not _goes_on(self.open, capital, cell):
                found.append(self._close(self.open))
            if self.open is None and cell >= 0:
                zeros = np.zeros_like(self.shares)
                start = self.n_tokens
                self.open = OpenMention(
                    start, start, capital, cell, 0.0, zeros + 1, zeros, zeros
                )
            if self.open is None:
                self.shares *= 1 - gates.overwrite[i]
            else:
                self._add(self.open, gates.update[i], gates.overwrite[i])
                self.open.capital = capital
                self.open.cell = cell if cell >= 0 else self.open.cell
            self.n_tokens += 1
        if last and self.open is not None:
            found.append(self._close(self.open))
        return _part(first, found, np.unique(self.holders[self.holders >= 0]))

    def _add(self, mention: OpenMention, update: Array, overwrite: Array) -> None:
        """Add a token to a mention: what it links to, and what it writes."""
        keep = 1 - overwrite
        mention.end = self.n_tokens + 1
        mention.kept = mention.kept * keep
        same = self.holders[:, None] == self.holders  # (M, M)
        links = same @ (self.shares * mention.kept * update)
        mention.links = np.maximum(mention.links, links)
        mention.new = max(mention.new, float(overwrite.max()))
        mention.stored = np.maximum(mention.stored * keep, update + overwrite)

    def _close(self, mention: OpenMention) -> Decision:
        """Decide whom a mention means; that entity now holds what it wrote most of."""
        best = int(mention.links.argmax())
        is_new = bool(mention.new >= mention.links[best])
        entity = self.n_entities if is_new else int(self.holders[best])
        probability = mention.new if is_new else float(mention.links[best])
        self.shares *= mention.kept
        taken = mention.stored > self.shares
        self.holders[taken] = entity
        self.shares[taken] = mention.stored[taken]
        self.n_entities += is_new
        self.n_mentions += 1
        self.open = None
        return mention.end - 1, mention.start, entity, is_new, probability


def _goes_on(mention: OpenMention, capital: bool, cell: int) -> bool:
    """Is the next token in the mention? A name's is, and a word for the same cell.

    cell (int): Where it writes most, or -1 if it writes too little.
    """
    if mention.end - mention.start == LONGEST:
        return False
    return mention.capital == capital and (capital or mention.cell == cell)


def _part(first: int, found: list[Decision], held: Longs) -> Part:
    columns = list(zip(*found, strict=True)) or [()] * 5
    heads, starts, entities = (np.array(x, np.int64) for x in columns[:3])
    mentions = Mentions(
        first,
        heads,
        starts,
        entities,
        np.array(columns[3], bool),
        np.array(columns[4], np.float32),
        np.zeros(len(found), np.int64),
        np.zeros((len(found), 0), np.float32),
    )
    return Part(mentions, first + np.arange(len(found)), heads + 1, held)
