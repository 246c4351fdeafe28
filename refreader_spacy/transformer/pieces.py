"""Word pieces: which ones a token is made of, and in which window each is read.

Shapes: T tokens of a Doc, P word pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc

Ints = NDArray[np.int64]


class Pieces(NamedTuple):
    """The word pieces of a Doc, and which of them each token touches."""

    ids: Ints  # (P,)
    first: Ints  # (T,)
    stop: Ints  # (T,), the same as first for a token without pieces


class Window(NamedTuple):
    """Word pieces that are read together, and the tokens that get vectors from it."""

    ids: Ints
    tokens: Ints  # places in the Doc
    first: Ints  # of each such token, the first word piece in the window
    stop: Ints


def pieces_of_text(tokenizer: Any, docs: Sequence[Doc]) -> Iterator[Pieces]:
    """Tokenize whole texts, as in pretraining; a piece may overlap several tokens."""
    if not docs:
        return
    cut = tokenizer(
        [doc.text for doc in docs],
        add_special_tokens=False,
        return_offsets_mapping=True,
        verbose=False,
    )
    for doc, ids, spans in zip(
        docs, cut["input_ids"], cut["offset_mapping"], strict=True
    ):
        offsets = np.array(spans, dtype=np.int64).reshape(-1, 2)
        starts, lengths = doc.to_array([IDX, LENGTH]).astype(np.int64).T
        first = np.searchsorted(offsets[:, 1], starts, side="right")
        stop = np.searchsorted(offsets[:, 0], starts + lengths, side="left")
        yield Pieces(np.array(ids, dtype=np.int64), first, np.maximum(first, stop))


def pieces_of_tokens(
    tokenizer: Any, docs: Sequence[Doc], space: str = ""
) -> Iterator[Pieces]:
    """Tokenize each token by itself, so that its pieces don't depend on what follows.

    In a whole text, 'left."' may have one piece for two tokens, which differs from that
    of 'left.'. The space before a token belongs to it.

    space (str): What stands before the first token of each Doc.
    """
    for doc in docs:
        spaces = [space, *(token.whitespace_ for token in doc)]
        words = [space + token.text for space, token in zip(spaces, doc, strict=False)]
        cut = tokenizer(words, add_special_tokens=False, verbose=False) if words else {}
        lengths = np.array([len(ids) for ids in cut.get("input_ids", ())], dtype=int)
        stop = np.cumsum(lengths)
        ids = [piece for ids in cut.get("input_ids", ()) for piece in ids]
        yield Pieces(np.array(ids, dtype=np.int64), stop - lengths, stop)


def windows(
    pieces: Pieces, size: int, stride: int, lookahead: bool
) -> Iterator[Window]:
    """Overlapping stretches of a Doc; each token gets its vector from one of them.

    Where two overlap, the first half is taken from the earlier window, so that there is
    context on both sides. Without lookahead all of it is: then a token's window doesn't
    depend on the text after it.
    """
    ids, first, stop = pieces
    margin = (size - stride) // 2 if lookahead else 0
    last = max(0, -((size - len(ids)) // stride))
    home = window_of(stop + margin, size, stride).clip(max=last)  # (T,)
    for number in np.unique(home):
        start = number * stride
        (tokens,) = np.nonzero(home == number)
        part = ids[start : start + size]
        inside = (first[tokens] - start, stop[tokens] - start)
        yield Window(part, tokens, *(x.clip(0, len(part)) for x in inside))


def window_of(stop: Ints, size: int, stride: int) -> Ints:
    """The number of the first window that has all pieces up to each place."""
    return np.maximum(-((size - stop) // stride), 0)


def rows_of(first: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """All pieces of all tokens, and where each token's begin among them."""
    lengths = stop - first
    starts = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(first - starts, lengths), starts
