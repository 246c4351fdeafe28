"""What a reader is to the rest of the package, and what it gives: NumPy, on the CPU.

Shapes: T tokens, K mentions, M memory cells, S annotation schemes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Model

BLOCK = 1024  # tokens of one document that are read at once

Array = NDArray[np.float32]
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class Reading:
    """The memory's history over one document of T tokens, with M cells.

    update (Array): How much each token was added to each cell (T, M).
    overwrite (Array): How much each token replaced what each cell held (T, M).
    salience (Array): How present each cell is after each token (T, M).
    """

    update: Array
    overwrite: Array
    salience: Array

    def __len__(self) -> int:
        return len(self.update)

    @property
    def n_cells(self) -> int:
        _, n_cells = self.update.shape
        return int(n_cells)

    def link_probability(self, first: int, second: int) -> float:
        """The paper's psi for one pair of tokens: were they written to the same cell?

        A token is in a cell if it updated or overwrote it; a later token joins it by
        an update, unless the cell was overwritten after the first one, up to and
        including the second.
        """
        first, second = min(first, second), max(first, second)
        if first == second:
            return 0.0
        stored = self.update[first] + self.overwrite[first]  # (M,)
        kept = np.prod(1 - self.overwrite[first + 1 : second + 1], axis=0)  # (M,)
        return float(np.sum(stored * self.update[second] * kept))


@dataclass(frozen=True)
class Clues:
    """What tells who mentions are, beside the memory.

    name (Longs): A hash of its words without titles, if it may be a name, or 0 (K,).
    words (Longs): The hashes of those words, 0 where there are fewer: of a name of one
        word, the word's is the name's (K, W).
    is_name (NDArray): Is it one for certain? At a sentence's start, any word is
        capitalised (K,).
    gender (Longs): 0 where its words don't tell it (K,).
    person (Longs): Of *I*, a hash of who says it, if that is known; of *you*, minus
        that; 0 for all others (K,).
    lost (Longs): The entity that was forgotten for it, or -1 (K,).
    """

    name: Longs
    words: Longs
    is_name: NDArray[np.bool_]
    gender: Longs
    person: Longs
    lost: Longs


@dataclass(frozen=True)
class Mentions:
    """Mentions that a reader decided on at their heads, in the order of heads.

    Tokens, mentions and entities are numbered from the text's beginning.

    first (int): The number of the first of these mentions.
    head, start (Longs): Tokens (K,).
    entity (Longs): Entities are numbered by their first mention (K,).
    is_new (NDArray): Is this an entity's first mention? (K,)
    probability (Array): Of that decision (K,).
    label (Longs): Entity types, as places in the reader's `labels` (K,).
    schemes (Array): How likely each of the reader's `schemes` has it (K, S).
    """

    first: int
    head: Longs
    start: Longs
    entity: Longs
    is_new: NDArray[np.bool_]
    probability: Array
    label: Longs
    schemes: Array
    clues: Clues | None = None

    def __len__(self) -> int:
        return len(self.head)


@dataclass(frozen=True)
class Part:
    """What a reader decided while it read some tokens of a text.

    closed, ends (Longs): The numbers of mentions whose right edge is known now, and
        where each ends: the first token behind it.
    held (Longs): The entities that can be referred to after the last token.
    gates (Reading | None): The memory's history, if it was asked for.
    """

    mentions: Mentions
    closed: Longs
    ends: Longs
    held: Longs
    gates: Reading | None = None


class Progress(NamedTuple):
    """How far a text was read: so many tokens, with so many mentions.

    places (list[int]): Tokens that a later mention, or one that is still open, may
        begin or end at.
    """

    n_tokens: int
    n_mentions: int
    places: list[int]


class Reader(Protocol):
    """Reads texts from left to right; what is known between two tokens is a state.

    n_cells (int): Of its memory.
    lookahead (bool): Does what it decides at a token depend on later ones?
    needs_past (bool): Does it need a `Past` for parts that aren't in a Doc with all
        before them?
    labels (tuple[str, ...]): Entity types; the first is none.
    schemes (tuple[str, ...]): Annotation schemes whose mentions it tells apart.
    """

    n_cells: int
    lookahead: bool
    needs_past: bool
    labels: tuple[str, ...]
    schemes: tuple[str, ...]

    def start(self) -> Any:
        """The state before a text's first token."""
        ...

    def read(
        self,
        states: Sequence[Any],
        docs: Sequence[Doc | Span],
        *,
        gates: bool = False,
        last: bool = False,
    ) -> list[Part]:
        """Go on with several texts; their states are brought up to date.

        last (bool): The texts end here: right edges that are still open are decided.
        """
        ...

    def progress(self, state: Any) -> Progress:
        """How far the text of a state was read."""
        ...

    def to_saved(self, state: Any) -> dict[str, Any]:
        """A state as what msgpack can store."""
        ...

    def from_saved(self, saved: dict[str, Any]) -> Any:
        """A state again; a ValueError if it isn't one of this reader."""
        ...

    def get_loss(
        self, examples: Iterable[Example], outputs: Any, prefix: str
    ) -> tuple[float, Any]:
        """The loss of a model's outputs in training, and its gradient."""
        ...


class Past(Protocol):
    """What is kept of a text that comes in parts, for a reader that needs more of it.

    A component that writes on Docs what the reader needs has a model whose attribute
    "past" makes one.
    """

    def read(self, doc: Doc) -> None:
        """Write on the next part what that component writes on the whole text."""
        ...

    def to_saved(self) -> dict[str, Any]:
        """All of it, as what msgpack can store."""
        ...

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved; a ValueError if it can't be."""
        ...


ReaderModel = Model[list[Doc], list[Part]]


def reader_of(model: ReaderModel) -> Reader:
    """The reader in a model, with its weights as they are now."""
    reader: Reader = model.attrs["reader"](model)
    return reader


def read_docs(
    model: ReaderModel, docs: Sequence[Doc], *, gates: bool = False
) -> list[Part]:
    """What a model's reader decides about whole Docs, in their order.

    Docs of similar length are read together, long ones in blocks, so that memory
    doesn't grow with what is read.
    """
    reader = reader_of(model)
    parts: dict[int, Part] = {}
    for group in groups_by_length([len(doc) for doc in docs]):
        if len(group) == 1 and len(docs[group[0]]) > BLOCK and not reader.lookahead:
            parts[group[0]] = _read_long(reader, docs[group[0]], gates)
        else:
            states = [reader.start() for _ in group]
            found = reader.read(
                states, [docs[i] for i in group], gates=gates, last=True
            )
            parts.update(zip(group, found, strict=True))
    return [parts[i] for i in range(len(docs))]


def groups_by_length(lengths: Sequence[int]) -> Iterable[list[int]]:
    """Indices of documents of similar length, the longest first."""
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if group and (len(group) + 1) * lengths[group[0]] > 8 * BLOCK:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def _read_long(reader: Reader, doc: Doc, gates: bool) -> Part:
    state = reader.start()
    parts = []
    for start in range(0, len(doc), BLOCK):
        stop = min(start + BLOCK, len(doc))
        (part,) = reader.read(
            [state], [doc[start:stop]], gates=gates, last=stop == len(doc)
        )
        parts.append(part)
    return joined(parts)


def joined(parts: Sequence[Part]) -> Part:
    """Parts of one text, one after the other, as one."""
    mentions = [part.mentions for part in parts]

    def together(name: str) -> Any:
        return np.concatenate([getattr(m, name) for m in mentions])

    known = [m.clues for m in mentions if m.clues is not None]
    clues = None
    if len(known) == len(mentions):
        fields = ("name", "words", "is_name", "gender", "person", "lost")
        clues = Clues(
            *(np.concatenate([getattr(c, name) for c in known]) for name in fields)
        )
    gates = None
    if all(part.gates is not None for part in parts):
        gates = Reading(
            *(
                np.concatenate([getattr(part.gates, name) for part in parts])
                for name in ("update", "overwrite", "salience")
            )
        )
    return Part(
        Mentions(
            mentions[0].first,
            together("head"),
            together("start"),
            together("entity"),
            together("is_new"),
            together("probability"),
            together("label"),
            together("schemes"),
            clues,
        ),
        np.concatenate([part.closed for part in parts]),
        np.concatenate([part.ends for part in parts]),
        parts[-1].held,
        gates,
    )
