"""Documents that are being read, token by token; what they know stays with them.

Shapes: N tokens, B documents, M memory cells, X input size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from refreader_spacy.paper.numpy_reader import read_plainly
from refreader_spacy.paper.weights import State, Weights
from refreader_spacy.protocol import Array, Reading

if TYPE_CHECKING:
    from refreader_spacy.reader.kernels.kernel import Kernel as Compiled

Kernel: type[Compiled] | None
try:
    from refreader_spacy.reader.kernels.kernel import Kernel
except ImportError:  # it was installed where nothing compiles
    Kernel = None


class Documents:
    """What is known of documents so far, and how to go on with them."""

    def __init__(self, weights: Weights, state: State | None = None) -> None:
        """state (State | None): Where earlier readings stopped; it is not changed.
        None is one document, before its first token.
        """
        self.weights = weights
        start = weights.start() if state is None else state
        self.state = State(*(field.copy() for field in start))
        self._kernel = None if Kernel is None else Kernel(weights)

    def read(self, vectors: Array, lengths: Sequence[int]) -> Reading:
        """Go on with each document.

        vectors (Array): Of all documents' tokens, end to end (N, X).
        lengths (Sequence[int]): How many are each document's, the longest first (B,).
        RETURNS: All documents' gates (N, M), end to end.
        """
        gates = np.empty((3, len(vectors), self.weights.n_cells), np.float32)
        if len(vectors):
            starts = np.cumsum([0, *lengths])
            tokens = *self.weights.project(vectors), starts, gates
            if self._kernel is None:
                read_plainly(self.weights, self.state, *tokens)
            else:
                self._kernel.read(*self.state, *tokens)
        return Reading(*gates)
