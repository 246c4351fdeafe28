"""A reader's weights, arranged for reading in NumPy.

Instead of multiplying by a sigmoid, 1 / (1 + exp(-x)), the step divides by 1 + exp(-x);
the weights that x is computed from are negated beforehand.

Shapes: N tokens, D different vectors, M memory cells, X input size, H hidden and value
size, K key size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.protocol import Array

Index = NDArray[np.intp]

# A gate below this leaves keys and values as they are. It can't be much larger: which
# cell is the least salient is decided by differences as small as that.
FAINT = 1e-7

# Random projection of a row to one number, to compare rows by
PROJECTION = np.random.default_rng(0).standard_normal(24)


class NumpyState(NamedTuple):
    """The network's state between two tokens of a document."""

    hidden: Array  # (H,)
    keys: Array  # (M, K)
    values: Array  # (M, H)
    salience: Array  # (M,)


class Layer(NamedTuple):
    """A linear layer's weights."""

    weight: Array  # (out, in)
    bias: Array  # (out,)

    def __call__(self, vector: Array) -> Array:
        """vector (Array): (in,) or (N, in)."""
        output: Array = vector @ self.weight.T
        output += self.bias
        return output


class GruWeights(NamedTuple):
    """The weights of a gated recurrent unit that updates a cell."""

    inputs: Layer
    recurrent: Layer

    def project(self, new: Array) -> Array:
        """The inputs' part for `gru_step`: (size,) to (3 * size,), or (N, ...)."""
        inputs = self.inputs(new)
        gates = inputs[..., : 2 * new.shape[-1]]
        np.negative(gates, out=gates)
        return inputs


class NumpyWeights:
    """The parameters of a reader, arranged for reading.

    The large ones are not copied: weights that training has changed since can't be
    used.
    """

    def __init__(
        self,
        parameters: Mapping[str, Array],
        *,
        entity_decay: float,
        word_decay: float,
        tolerance: float,
    ) -> None:
        """parameters (Mapping[str, Array]): By their names in the torch reader.

        tolerance (float): A gate below this leaves keys and values as they are.
        """
        p = parameters
        self.entity_decay, self.word_decay = entity_decay, word_decay
        self.tolerance = max(tolerance, FAINT)
        self.link_bias = float(p["memory.link_bias"][0])
        self.query = _layer(p, "memory.query_out")
        self.key = _layer(p, "memory.key_out")
        self.value = _layer(p, "memory.value")
        self.key_update = _gru(p, "memory.key_update")
        self.value_update = _gru(p, "memory.value_update")
        self.pre_hidden = p["pre_hidden.weight"]  # (H, H)
        self.hidden_size, _ = self.pre_hidden.shape
        self.key_size, _ = self.key.weight.shape
        reset_and_keep = 2 * self.hidden_size
        bias = p["recurrence.bias_hh"].copy()  # (3H,)
        # The gates' biases can be added to the input projection
        self.inputs = [p["pre_input.weight"], p["recurrence.weight_ih"]]
        self.inputs_bias = p["recurrence.bias_ih"].copy()  # (3H,)
        self.inputs_bias[:reset_and_keep] += bias[:reset_and_keep]
        bias[:reset_and_keep] = 0
        self.recurrent = Layer(p["recurrence.weight_hh"], bias)
        # All heads but the candidate value, which only tokens that write need
        heads = ["memory.entity", "memory.reference", "importance"]
        heads += ["memory.query_in", "memory.key_in"]
        weights = [p[f"{head}.weight"] for head in heads]
        zeros = np.zeros(1, np.float32)
        biases = [p.get(f"{head}.bias", zeros) for head in heads]
        self.heads = Layer(np.concatenate(weights), np.concatenate(biases))
        for negated in self.heads:  # entity, reference and importance are sigmoids
            negated[:3] *= -1
        keys = p["memory.initial_keys"]
        self.n_cells = len(keys)
        salience = np.zeros(self.n_cells, np.float32)
        values = p["memory.initial_values"]
        self._initial = NumpyState(p["initial_hidden"], keys, values, salience)

    def start(self) -> NumpyState:
        """The state before the first token."""
        return NumpyState(*(field.copy() for field in self._initial))

    def project(self, vectors: Array) -> tuple[Array, Index]:
        """The input projections; equal vectors are projected once.

        vectors (Array): (N, X).
        RETURNS: A projection for each different vector (D, 4H): of the pre-recurrent
            state, then as `gru_step` wants it; and which belongs to each vector (N,).
        """
        first, which = distinct_rows(vectors)
        distinct = vectors[first]  # (D, X)
        projected = np.empty((len(first), 4 * self.hidden_size), np.float32)
        pre, gru = self.inputs
        rest = projected[:, self.hidden_size :]
        # Of a few small rows, OpenBLAS says that it met invalid values in whatever
        # lies beside them; what it returns is right
        with np.errstate(invalid="ignore"):
            np.matmul(distinct, pre.T, out=projected[:, : self.hidden_size])
            np.matmul(distinct, gru.T, out=rest)
        rest += self.inputs_bias
        gates = rest[:, : 2 * self.hidden_size]
        np.negative(gates, out=gates)
        return projected, which


def _layer(parameters: Mapping[str, Array], name: str) -> Layer:
    return Layer(parameters[f"{name}.weight"], parameters[f"{name}.bias"])


def _gru(parameters: Mapping[str, Array], name: str) -> GruWeights:
    return GruWeights(
        *(
            Layer(
                parameters[f"{name}.weight_{side}"], parameters[f"{name}.bias_{side}"]
            )
            for side in ("ih", "hh")
        )
    )


def distinct_rows(vectors: Array) -> tuple[Index, Index]:
    """The first index of each distinct row, and which of them each row equals.

    Rows are compared by a few of their numbers; if that isn't enough, every row counts
    as distinct.
    """
    n_rows, width = vectors.shape
    everything = np.arange(n_rows)
    some = vectors[:, :: max(1, width // len(PROJECTION))][:, : len(PROJECTION)]
    marks = some @ PROJECTION[: some.shape[1]]
    _, first, which = np.unique(marks, return_index=True, return_inverse=True)
    same = np.array_equal(vectors[first[which]], vectors)
    return (first, which) if same else (everything, everything)
