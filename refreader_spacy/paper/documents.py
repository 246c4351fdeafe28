"""Documents that are read token by token in NumPy, and their state in between.

Shapes: N tokens, B documents, M memory cells, X input size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from refreader_spacy.paper.numpy_reader import NumpyReader
from refreader_spacy.paper.weights import NumpyState, NumpyWeights
from refreader_spacy.protocol import Array, Reading


class Documents:
    """The state of documents after what was read of them, and how to read on."""

    def __init__(self, weights: NumpyWeights, state: NumpyState | None = None) -> None:
        """state (NumpyState | None): Where earlier readings stopped; it is not changed.
        None is one document, before its first token.
        """
        self.weights = weights
        start = weights.start() if state is None else state
        self.state = NumpyState(*(field.copy() for field in start))

    def read(self, vectors: Array, lengths: Sequence[int]) -> Reading:
        """Read on in each document.

        vectors (Array): Of all documents' tokens, end to end (N, X).
        lengths (Sequence[int]): The number of tokens of each document (B,).
        RETURNS: All documents' gates (N, M), end to end.
        """
        gates = np.empty((3, len(vectors), self.weights.n_cells), np.float32)
        if len(vectors):
            projected, which = self.weights.project(vectors)
            rows = which.tolist()
            size = self.weights.hidden_size
            inputs = list(zip(projected[:, :size], projected[:, size:], strict=True))
            stops = np.cumsum([0, *lengths]).tolist()
            with np.errstate(over="ignore"):  # a gate that is closed for good
                for doc, (start, stop) in enumerate(pairwise(stops)):
                    state = NumpyState(*(field[doc] for field in self.state))
                    reader = NumpyReader(self.weights, state)
                    for token in range(start, stop):
                        gates[:, token] = reader.read(*inputs[rows[token]])
                    reader.save(state)
        return Reading(*gates)
