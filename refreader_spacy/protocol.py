"""What a reader is to the rest of the package, and what it gives: NumPy, on the CPU.

Shapes: T tokens, K mentions, M memory cells, S annotation schemes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

BLOCK = 1024  # tokens of one document that are read at once

# Not NDArray: with NumPy 2.5 and Python 3.12 it is a `type` statement, and the schemas
# that spaCy before 3.8.14 makes of these annotations need classes
_Shape = tuple[Any, ...]
Array = np.ndarray[_Shape, np.dtype[np.float32]]
Longs = np.ndarray[_Shape, np.dtype[np.int64]]
Integers = np.ndarray[_Shape, np.dtype[np.integer[Any]]]  # of any size
Booleans = np.ndarray[_Shape, np.dtype[np.bool_]]


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

    name (Integers): A hash of its words without titles, if it may be a name, or 0 (K,).
    words (Integers): The hashes of those words, 0 where there are fewer: of a name of
        one word, the word's is the name's (K, W).
    is_name (NDArray): Is it one for certain? At a sentence's start, any word is
        capitalised (K,).
    gender (Integers): 0 where its words don't tell it (K,).
    person (Integers): Of *I*, a hash of who says it, if that is known; of *you*, minus
        that; 0 for all others (K,).
    lost (Integers): The entity that was forgotten for it, or -1 (K,).
    """

    name: Integers
    words: Integers
    is_name: Booleans
    gender: Integers
    person: Integers
    lost: Integers


@dataclass(frozen=True)
class Mentions:
    """Mentions that a reader decided on at their heads, in the order of heads.

    Tokens, mentions and entities are numbered from the text's beginning.

    first (int): The number of the first of these mentions.
    head, start (Longs): Tokens (K,).
    entity (Longs): Entities are numbered by their first mention (K,).
    is_new (NDArray): Is this an entity's first mention? (K,)
    probability (Array): Of that decision (K,).
    label (Integers): Entity types, as places in the reader's `labels` (K,).
    schemes (Array): How likely each of the reader's `schemes` has it (K, S).
    clues (Clues | None): What the decoder joins them by, beside `entity`.
    """

    first: int
    head: Longs
    start: Longs
    entity: Longs
    is_new: Booleans
    probability: Array
    label: Integers
    schemes: Array
    clues: Clues | None = None

    def __len__(self) -> int:
        return len(self.head)


@dataclass(frozen=True)
class Part:
    """What a reader decided while it read some tokens of a text.

    mentions (Mentions): Those whose heads are among these tokens.
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

    n_tokens, n_mentions (int): From the text's beginning.
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

        docs (Sequence[Doc | Span]): The next tokens of each, or nothing where it ends.
        gates (bool): Give the memory's history too.
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
        """The loss of a model's outputs in training, and its gradient.

        outputs (Any): What `model.begin_update` gave for the predicted Docs.
        prefix (str): Gold clusters are the span groups `{prefix}_1`, `_2`, ...
        """
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


class Pipe(Protocol):
    """What a stream needs of its pipe."""

    name: str
    vocab: Vocab
    model: ReaderModel
    threshold: float
    keep_singletons: bool

    def scheme_number(self, reader: Reader) -> int | None: ...

    def past(self) -> Past: ...


def reader_of(model: ReaderModel) -> Reader:
    """The reader in a model, with its weights as they are now."""
    reader: Reader = model.attrs["reader"](model)
    return reader
