"""Types that readers exchange with component, decoder and stream: NumPy, on the CPU.

Shapes: T tokens, M memory cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK = 1024  # tokens of one document that are processed together

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Reading:
    """The memory's history over one document of T tokens, with M cells.

    update (Array): How much each token was added to each cell (T, M).
    overwrite (Array): How much each token replaced what each cell held (T, M).
    salience (Array): The salience of each cell after each token (T, M).
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

    def blocks(self) -> Iterator[Reading]:
        """Consecutive parts of at most BLOCK tokens."""
        for start in range(0, len(self), BLOCK):
            some = slice(start, start + BLOCK)
            yield Reading(self.update[some], self.overwrite[some], self.salience[some])

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
