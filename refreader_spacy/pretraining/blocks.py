"""Cutting a text for truncated back-propagation: parallel streams, in blocks.

A stream reads one article after the other. A block is the next piece of each stream's
article; an article's last piece may be shorter than the others, and its stream then
waits for the next block, so that no piece has tokens of two articles.

Shapes: N tokens of a block, S streams, of which B read in it, A articles.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.paper.packing import packed_order

Index = NDArray[np.int64]


class Block(NamedTuple):
    """Pieces of articles that are read side by side."""

    streams: Index  # (B,), the longest piece first
    starts: Index  # (B,), where in the text each piece begins
    lengths: Index  # (B,)
    fresh: NDArray[np.bool_]  # (B,), whether a piece begins its article

    def packed(self) -> tuple[Index, list[int]]:
        """Where in the text each packed token is (N,), and the sizes of the steps."""
        order, sizes = packed_order(self.lengths.tolist())
        begins = np.cumsum(self.lengths) - self.lengths  # (B,)
        places = np.arange(self.lengths.sum()) + np.repeat(
            self.starts - begins, self.lengths
        )
        return places[order], sizes


@dataclass(frozen=True)
class Cutter:
    """Cuts articles into blocks."""

    n_streams: int
    length: int

    def __call__(self, starts: Index, articles: Index) -> Iterator[Block]:
        """All blocks, in a deterministic order.

        starts (Index): Where each article begins, and where the last one ends (A + 1,).
        articles (Index): Which are read, in the order in which streams take them up.
        """
        queue = iter(articles.tolist())
        place = np.zeros(self.n_streams, dtype=np.int64)
        end = np.zeros(self.n_streams, dtype=np.int64)
        while True:
            fresh = place == end
            for stream in np.flatnonzero(fresh):
                article = next(queue, None)
                if article is not None:
                    place[stream], end[stream] = starts[article], starts[article + 1]
            lengths = np.minimum(end - place, self.length)
            streams = np.argsort(-lengths, kind="stable")
            streams = streams[lengths[streams] > 0]
            if not len(streams):
                return
            yield Block(streams, place[streams], lengths[streams], fresh[streams])
            place += lengths


def create_blocks_v1(n_streams: int, length: int) -> Cutter:
    """A [pretraining] batcher: the sizes of truncated back-propagation.

    n_streams (int): Articles that are read side by side.
    length (int): Tokens that the gradient goes back through.
    """
    return Cutter(n_streams, length)


def passes(articles: Index, n_passes: int, seed: int) -> Index:
    """The articles again and again, in another order each time."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.permutation(articles) for _ in range(n_passes)])
