"""The reader at inference in plain NumPy: one document or stream, token by token.

The equations are those of `reader` and `memory`, written for few calls: a token costs
about fifty, and half of the time is two products with the hidden state. The torch
reader is the definition: a test compares them.

Shapes: T tokens, M memory cells, X input size, H hidden and value size, K key size.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.model.types import Array, Reading

Index = NDArray[np.int64]

# A gate below this leaves keys and values as they are. It can't be much larger: which
# cell is the least salient is decided by differences as small as that.
FAINT = 1e-7


class State(NamedTuple):
    """All that is known between two tokens of one document."""

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


class Gru(NamedTuple):
    """The weights of a gated recurrent unit that works something new into a cell."""

    inputs: Layer
    recurrent: Layer


class Weights:
    """The parameters of a reader, arranged for reading.

    The large ones are not copied, so this is made anew for each use, and weights that
    training has changed since can't be used.
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

        tolerance (float): An update below this leaves keys and values as they are.
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
        self.recurrent = p["recurrence.weight_hh"]  # (3H, H)
        self.hidden_size, _ = self.pre_hidden.shape
        self.key_size, _ = self.key.weight.shape
        reset_and_keep = 2 * self.hidden_size
        bias = p["recurrence.bias_hh"]
        self.candidate_bias = bias[reset_and_keep:]  # (H,)
        # The other biases of the hidden state can as well be added to the input
        self.inputs = [p["pre_input.weight"], p["recurrence.weight_ih"]]
        self.inputs_bias = p["recurrence.bias_ih"].copy()  # (3H,)
        self.inputs_bias[:reset_and_keep] += bias[:reset_and_keep]
        # What every token says about itself: all heads but the candidate value
        heads = ["memory.entity", "memory.reference", "importance"]
        heads += ["memory.query_in", "memory.key_in"]
        weights = [p[f"{head}.weight"] for head in heads]
        zeros = np.zeros(1, np.float32)
        biases = [p.get(f"{head}.bias", zeros) for head in heads]
        self.heads = Layer(np.concatenate(weights), np.concatenate(biases))
        self.initial = State(
            p["initial_hidden"],
            p["memory.initial_keys"],
            p["memory.initial_values"],
            np.zeros(len(p["memory.initial_keys"]), np.float32),
        )

    def project(self, vectors: Array) -> tuple[Array, Index]:
        """The inputs' part of all products; a word that comes again is projected once.

        vectors (Array): (N, X).
        RETURNS: A projection for each different vector (D, 4H), and which of them
            belongs to each vector (N,).
        """
        first, which = distinct_rows(vectors)
        distinct = vectors[first]  # (D, X)
        projected = np.empty((len(first), 4 * self.hidden_size), np.float32)
        pre, gru = self.inputs
        np.matmul(distinct, pre.T, out=projected[:, : self.hidden_size])
        rest = projected[:, self.hidden_size :]
        np.matmul(distinct, gru.T, out=rest)
        rest += self.inputs_bias
        return projected, which


def _layer(parameters: Mapping[str, Array], name: str) -> Layer:
    return Layer(parameters[f"{name}.weight"], parameters[f"{name}.bias"])


def _gru(parameters: Mapping[str, Array], name: str) -> Gru:
    return Gru(
        *(
            Layer(
                parameters[f"{name}.weight_{side}"], parameters[f"{name}.bias_{side}"]
            )
            for side in ("ih", "hh")
        )
    )


def distinct_rows(vectors: Array) -> tuple[Index, Index]:
    """Where each different row stands first, and which of those each row equals."""
    n_rows, width = vectors.shape
    everything = np.arange(n_rows)
    mark = np.random.default_rng(0).standard_normal(width)
    _, first, which = np.unique(vectors @ mark, return_index=True, return_inverse=True)
    same = np.array_equal(vectors[first[which]], vectors)
    return (first, which) if same else (everything, everything)


class Pen:
    """Reads one document's tokens one by one."""

    def __init__(self, weights: Weights, state: State | None = None) -> None:
        """state (State | None): Where an earlier reading stopped; it is not changed."""
        self.weights = weights
        state = state or weights.initial
        self.hidden, self.keys, self.values = (a.copy() for a in state[:3])
        self.salience: list[float] = state.salience.tolist()
        self._pre = np.empty_like(self.hidden)  # (H,)
        self._said = np.empty_like(weights.heads.bias)
        self._mixed = np.empty_like(self.hidden)  # (H,)
        self._recurrent = np.empty(3 * len(self.hidden), np.float32)  # (3H,)

    @property
    def state(self) -> State:
        """What is known after the last token that was read."""
        salience = np.array(self.salience, np.float32)
        return State(self.hidden.copy(), self.keys.copy(), self.values.copy(), salience)

    def read(self, vectors: Array) -> Reading:
        """Go on with these tokens, given as vectors (T, X)."""
        gates = np.zeros((3, len(vectors), len(self.salience)), np.float32)
        if len(vectors):
            projected, which = self.weights.project(vectors)
            with np.errstate(over="ignore"):  # a gate that is closed for good
                for row, out in zip(which.tolist(), gates.swapaxes(0, 1), strict=True):
                    self._step(projected[row], out)
        return Reading(*gates)

    def _step(self, inputs: Array, out: Array) -> None:
        """Read one token.

        inputs (Array): The projections of its vector (4H,).
        out (Array): Where its update, overwrite and salience go (3, M).
        """
        w, hidden, mixed = self.weights, self.hidden, self._mixed
        size = w.hidden_size
        pre, said, recurrent = self._pre, self._said, self._recurrent
        np.dot(w.pre_hidden, hidden, out=pre)
        pre += inputs[:size]
        np.tanh(pre, out=pre)
        np.dot(w.heads.weight, pre, out=said)
        said += w.heads.bias
        entity, reference, use = sigmoid(said[:3]).tolist()
        self._remember(entity, reference * entity, out)

        # h' = GRU(x, (1 - c) h + c * what the memory holds)
        np.dot(out[2], self.values, out=mixed)
        mixed -= hidden
        mixed *= min(use, sum(self.salience))
        mixed += hidden
        np.dot(w.recurrent, mixed, out=recurrent)
        candidate = recurrent[2 * size :]
        candidate += w.candidate_bias
        _gru_step(inputs[size:], recurrent, mixed)
        self.hidden, self._mixed = mixed, hidden

    def _remember(self, entity: float, reference: float, out: Array) -> None:
        """Let the token update and overwrite the cells."""
        w, salience = self.weights, self.salience
        start = 3 + w.key_size
        query = w.query.weight @ np.tanh(self._said[3:start])
        query += w.query.bias
        scores = [score + w.link_bias for score in (self.keys @ query).tolist()]
        highest = max(0.0, *scores)
        shares = [exp(score - highest) for score in scores]
        total = sum(shares) + exp(-highest)  # the last place is: no link
        update = [
            min(reference * share / total, 2 * old)
            for share, old in zip(shares, salience, strict=True)
        ]
        remaining = entity - sum(update)
        place = salience.index(min(salience))
        updated = [cell for cell, u in enumerate(update) if u >= w.tolerance]
        if updated or remaining > FAINT:
            self._write(updated, update, place, remaining)

        decay = w.word_decay + (w.entity_decay - w.word_decay) * entity
        salience = [
            decay * (1 - u) * old + u for u, old in zip(update, salience, strict=True)
        ]
        salience[place] += remaining * (1 - decay * self.salience[place])
        out[0] = update
        out[1, place] = remaining
        out[2] = salience
        self.salience = out[2].tolist()  # rounded, so that full cells are equally full

    def _write(
        self, updated: list[int], update: list[float], place: int, remaining: float
    ) -> None:
        """Change keys and values.

        updated (list[int]): The cells that are updated by enough to matter.
        place (int): The cell that is overwritten, by how much remains.
        """
        w = self.weights
        key = np.tanh(self._said[3 + w.key_size :])  # (K,)
        key = key + np.tanh(w.key(key))
        value = np.tanh(w.value(self._pre))  # (H,)
        for old, new, gru in (
            (self.keys, key, w.key_update),
            (self.values, value, w.value_update),
        ):
            change = remaining * (new - old[place])
            inputs = gru.inputs(new) if updated else new
            for cell in updated:
                worked = old[cell].copy()
                _gru_step(inputs, gru.recurrent(worked), worked)
                worked -= old[cell]
                worked *= update[cell]
                old[cell] += worked
            old[place] += change


def _gru_step(inputs: Array, recurrent: Array, state: Array) -> None:
    """A gated recurrent unit; both projections (3H,) are used up, the state is changed.

    The gates are in torch's order: reset, update, candidate.
    """
    size = len(state)
    gates = recurrent[: 2 * size]
    gates += inputs[: 2 * size]
    sigmoid(gates)
    candidate = recurrent[2 * size :]
    candidate *= gates[:size]
    candidate += inputs[2 * size :]
    np.tanh(candidate, out=candidate)
    state -= candidate
    state *= gates[size:]
    state += candidate


def sigmoid(x: Array) -> Array:
    """In place."""
    np.negative(x, out=x)
    np.exp(x, out=x)
    x += 1
    return np.reciprocal(x, out=x)
