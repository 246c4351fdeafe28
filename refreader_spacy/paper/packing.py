"""Packing documents: all first tokens, then all second ones, and so on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.protocol import Array

Index = NDArray[np.int64]


def packed_order(lengths: Sequence[int]) -> tuple[Index, list[int]]:
    """The packed order of documents that are laid end to end.

    RETURNS: For each packed place, which of the N tokens stands there (N,); and how
        many documents have a first token, a second one, and so on.
    """
    sizes = np.asarray(lengths)
    rank = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
    place = np.concatenate([np.arange(n) for n in lengths])  # (N,)
    order = np.lexsort((np.repeat(rank, sizes), place))  # (N,)
    return order, np.bincount(place).tolist()


def by_document(packed: Array, order: Index, lengths: Sequence[int]) -> list[Array]:
    """Rows of packed tokens as rows of each document."""
    flat = np.empty_like(packed)
    flat[order] = packed
    return np.split(flat, np.cumsum(lengths)[:-1])
