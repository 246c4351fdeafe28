"""The reader at inference in plain NumPy: one document or stream, token by token.

The equations are those of `reader` and `memory`, written for few calls: half of the
time is two products with the hidden state, and a token that writes nothing costs about
twenty calls more. The torch reader is the definition: a test compares them.

Sigmoids are hardly taken: what is multiplied by 1 / (1 + exp(-x)) can be divided
by 1 + exp(-x) instead, and what x is made of is negated beforehand.

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

# One token's updates, overwrites and saliences, cell by cell
Gates = tuple[list[float], list[float], list[float]]

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

    def project(self, new: Array) -> Array:
        """The inputs' part for `gru_step`: (size,) to (3 * size,), or (N, ...)."""
        inputs = self.inputs(new)
        gates = inputs[..., : 2 * new.shape[-1]]
        np.negative(gates, out=gates)
        return inputs


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
        for negated in self.heads:  # entity, reference and importance are sigmoids
            negated[:3] *= -1
        self.initial = State(
            p["initial_hidden"],
            p["memory.initial_keys"],
            p["memory.initial_values"],
            np.zeros(len(p["memory.initial_keys"]), np.float32),
        )

    def project(self, vectors: Array) -> tuple[Array, Index]:
        """The inputs' part of all products; a word that comes again is projected once.

        vectors (Array): (N, X).
        RETURNS: A projection for each different vector (D, 4H): of the pre-recurrent
            state, then as `gru_step` wants it; and which belongs to each vector (N,).
        """
        first, which = distinct_rows(vectors)
        distinct = vectors[first]  # (D, X)
        projected = np.empty((len(first), 4 * self.hidden_size), np.float32)
        pre, gru = self.inputs
        np.matmul(distinct, pre.T, out=projected[:, : self.hidden_size])
        rest = projected[:, self.hidden_size :]
        np.matmul(distinct, gru.T, out=rest)
        rest += self.inputs_bias
        gates = rest[:, : 2 * self.hidden_size]
        np.negative(gates, out=gates)
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
        # The hidden state and the values are mixed by one product, so they are together
        self._mixture = np.concatenate((state.hidden[None], state.values))  # (1 + M, H)
        self._shares = np.zeros(len(self._mixture), np.float32)  # (1 + M,)
        self.hidden, self.values = self._mixture[0], self._mixture[1:]
        self.keys = state.keys.copy()
        self.salience: list[float] = state.salience.tolist()
        self._salience = state.salience.copy()
        # Large arrays are made once: asking the system for memory takes time
        self._pre = np.empty_like(self.hidden)  # (H,)
        self._said = np.empty_like(weights.heads.bias)
        self._mixed = np.empty_like(self.hidden)  # (H,)
        self._recurrent = np.empty(3 * len(self.hidden), np.float32)  # (3H,)
        self._ask()

    @property
    def state(self) -> State:
        """What is known after the last token that was read."""
        salience = np.array(self.salience, np.float32)
        return State(self.hidden.copy(), self.keys.copy(), self.values.copy(), salience)

    def read(self, vectors: Array) -> Reading:
        """Go on with these tokens, given as vectors (T, X)."""
        size = self.weights.hidden_size
        gates: list[Gates] = []
        if len(vectors):
            projected, which = self.weights.project(vectors)
            inputs = list(zip(projected[:, :size], projected[:, size:], strict=True))
            with np.errstate(over="ignore"):  # a gate that is closed for good
                gates = [self._step(*inputs[row]) for row in which.tolist()]
        shape = (len(vectors), 3, len(self.salience))
        columns = np.array(gates, np.float32).reshape(shape).swapaxes(0, 1)
        return Reading(*np.ascontiguousarray(columns))

    def _step(self, pre_input: Array, gru_input: Array) -> Gates:
        """Read one token, given the projections of its vector (H,) and (3H,)."""
        w, mixed, recurrent = self.weights, self._mixed, self._recurrent
        pre, said, shares = self._pre, self._said, self._shares
        np.dot(w.pre_hidden, self.hidden, pre)
        np.add(pre, pre_input, pre)
        np.tanh(pre, pre)
        np.dot(w.heads.weight, pre, said)
        np.add(said, w.heads.bias, said)
        opened = said[:3]
        np.exp(opened, opened)
        np.add(opened, 1, opened)
        entity, reference, use = [1 / x for x in opened.tolist()]
        gates = self._remember(entity, reference * entity)

        # h' = GRU(x, (1 - c) h + c * what the memory holds)
        use = min(use, sum(self.salience))
        shares[:] = [1 - use, *[use * salience for salience in self.salience]]
        np.dot(shares, self._mixture, mixed)
        np.dot(w.recurrent, mixed, recurrent)
        candidate = recurrent[2 * w.hidden_size :]
        np.add(candidate, w.candidate_bias, candidate)
        gru_step(gru_input, recurrent, mixed, self.hidden)
        return gates

    def _ask(self) -> None:
        """What turns a token's query into scores, for the keys as they are now.

        A key meets every query in the same layer, so it can go through it first.
        """
        query = self.weights.query
        self._questions = self.keys @ query.weight  # (M, K)
        biases = self.keys @ query.bias
        biases += self.weights.link_bias
        self._biases: list[float] = biases.tolist()

    def _remember(self, entity: float, reference: float) -> Gates:
        """Let the token update and overwrite the cells."""
        w, salience = self.weights, self.salience
        query = np.tanh(self._said[3 : 3 + w.key_size])
        asked = np.dot(self._questions, query).tolist()
        scores = [score + bias for score, bias in zip(asked, self._biases, strict=True)]
        highest = max(0.0, *scores)
        matches = [exp(score - highest) for score in scores]
        total = sum(matches) + exp(-highest)  # the last place is: no link
        update = [
            min(reference * match / total, 2 * old)
            for match, old in zip(matches, salience, strict=True)
        ]
        remaining = entity - sum(update)
        place = salience.index(min(salience))
        if max(remaining, *update) >= w.tolerance:
            self._write(update, place, remaining)

        decay = w.word_decay + (w.entity_decay - w.word_decay) * entity
        after = [
            decay * (1 - u) * old + u for u, old in zip(update, salience, strict=True)
        ]
        after[place] += remaining * (1 - decay * salience[place])
        overwrite = [0.0] * len(update)
        overwrite[place] = remaining
        self._salience[:] = after
        self.salience = self._salience.tolist()  # rounded: full cells are equally full
        return update, overwrite, self.salience

    def _write(self, update: list[float], place: int, remaining: float) -> None:
        """Change keys and values where a gate is large enough.

        place (int): The cell that is overwritten, by how much remains.
        """
        w = self.weights
        key = np.tanh(self._said[3 + w.key_size :])  # (K,)
        key += np.tanh(w.key(key))
        value = np.tanh(w.value(self._pre))  # (H,)
        updated = [cell for cell, gate in enumerate(update) if gate >= w.tolerance]
        replaced = remaining if remaining >= w.tolerance else 0.0
        for old, new, gru in (
            (self.keys, key, w.key_update),
            (self.values, value, w.value_update),
        ):
            change = replaced * (new - old[place])
            inputs = gru.project(new) if updated else new
            for cell in updated:
                before = old[cell]
                gain = gru_step(inputs, gru.recurrent(before), before.copy())
                gain -= before
                gain *= update[cell]
                before += gain
            old[place] += change
        self._ask()


def gru_step(
    inputs: Array, recurrent: Array, state: Array, out: Array | None = None
) -> Array:
    """A gated recurrent unit; both its recurrent projection and its state are used up.

    The gates are in torch's order: reset, update, candidate. The first two of the
    inputs' projection are negated.

    inputs, recurrent (Array): (3 * size,) or (N, 3 * size).
    out (Array | None): Where the new state goes; None: where the old one was.
    """
    size = state.shape[-1]
    gates, candidate = recurrent[..., : 2 * size], recurrent[..., 2 * size :]
    np.subtract(inputs[..., : 2 * size], gates, gates)
    np.exp(gates, gates)
    np.add(gates, 1, gates)
    np.divide(candidate, gates[..., :size], candidate)
    np.add(candidate, inputs[..., 2 * size :], candidate)
    np.tanh(candidate, candidate)
    np.subtract(state, candidate, state)
    np.divide(state, gates[..., size:], state)
    return np.add(state, candidate, state if out is None else out)
