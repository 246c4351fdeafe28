"""What crosses the doors of the model: plain NumPy, on the CPU.

Shapes: T tokens, M memory cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


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
