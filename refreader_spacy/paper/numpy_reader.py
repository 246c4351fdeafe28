"""The reader's step in NumPy: one token of one document.

The equations are those of `network` and `memory`, written for few calls. The torch
network is the definition: a test compares them.

Shapes: T tokens, M memory cells, X input size, H hidden and value size, K key size.
"""

from __future__ import annotations

from math import exp

import numpy as np

from refreader_spacy.paper.weights import NumpyState, NumpyWeights
from refreader_spacy.protocol import Array, Reading

# One token's updates, overwrites and saliences, cell by cell
TokenGates = tuple[list[float], list[float], list[float]]


def read_tokens(weights: NumpyWeights, state: NumpyState, vectors: Array) -> Reading:
    """Read on in a document; its state is brought up to date.

    vectors (Array): Of the next tokens (T, X).
    """
    gates = np.empty((3, len(vectors), weights.n_cells), np.float32)
    if len(vectors):
        projected, which = weights.project(vectors)
        size = weights.hidden_size
        inputs = list(zip(projected[:, :size], projected[:, size:], strict=True))
        reader = NumpyReader(weights, state)
        with np.errstate(over="ignore"):  # a gate that is closed for good
            for token, row in enumerate(which.tolist()):
                gates[:, token] = reader.read(*inputs[row])
        reader.save(state)
    return Reading(*gates)


class NumpyReader:
    """Reads the tokens of one document one by one."""

    def __init__(self, weights: NumpyWeights, state: NumpyState) -> None:
        self.weights = weights
        # The hidden state and the values are mixed by one product, so they are together
        self._mixture = np.concatenate((state.hidden[None], state.values))  # (1 + M, H)
        self._shares = np.zeros(len(self._mixture), np.float32)  # (1 + M,)
        self.hidden, self.values = self._mixture[0], self._mixture[1:]
        self.keys = state.keys.copy()
        self.salience: list[float] = state.salience.tolist()
        self._salience = state.salience.copy()
        # Large arrays are allocated once
        self._pre = np.empty_like(self.hidden)  # (H,)
        self._heads = np.empty_like(weights.heads.bias)
        self._mixed = np.empty_like(self.hidden)  # (H,)
        self._recurrent = np.empty(3 * len(self.hidden), np.float32)  # (3H,)
        self._prepare_scores()

    def save(self, state: NumpyState) -> None:
        """Copy the state after the last token that was read."""
        known = self.hidden, self.keys, self.values, self._salience
        for field, value in zip(state, known, strict=True):
            field[:] = value

    def read(self, pre_input: Array, gru_input: Array) -> TokenGates:
        """Read one token, given the projections of its vector (H,) and (3H,)."""
        w, mixed, recurrent = self.weights, self._mixed, self._recurrent
        pre, heads, shares = self._pre, self._heads, self._shares
        np.dot(w.pre_hidden, self.hidden, pre)
        np.add(pre, pre_input, pre)
        np.tanh(pre, pre)
        np.dot(w.heads.weight, pre, heads)
        np.add(heads, w.heads.bias, heads)
        opened = heads[:3]
        np.exp(opened, opened)
        np.add(opened, 1, opened)
        entity, reference, use = [1 / x for x in opened.tolist()]
        gates = self._update_memory(entity, reference * entity)

        # h' = GRU(x, (1 - c) h + c * memory summary)
        use = min(use, sum(self.salience))
        shares[:] = [1 - use, *[use * salience for salience in self.salience]]
        np.dot(shares, self._mixture, mixed)
        np.dot(w.recurrent.weight, mixed, recurrent)
        candidate = recurrent[2 * w.hidden_size :]
        np.add(candidate, w.recurrent.bias[2 * w.hidden_size :], candidate)
        gru_step(gru_input, recurrent, mixed, self.hidden)
        return gates

    def _prepare_scores(self) -> None:
        """Prepare the scores of queries against the current keys.

        The query's last layer is linear, so it can be applied to the keys instead.
        """
        query = self.weights.query
        self._score_weights = self.keys @ query.weight  # (M, K)
        biases = self.keys @ query.bias
        biases += self.weights.link_bias
        self._score_biases: list[float] = biases.tolist()

    def _update_memory(self, entity: float, reference: float) -> TokenGates:
        """One token's updates and overwrites of the cells."""
        w, salience = self.weights, self.salience
        query = np.tanh(self._heads[3 : 3 + w.key_size])
        products = np.dot(self._score_weights, query).tolist()
        scores = [
            score + bias
            for score, bias in zip(products, self._score_biases, strict=True)
        ]
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
        """Change keys and values where a gate reaches the tolerance.

        place (int): The cell that is overwritten, by how much remains.
        """
        w = self.weights
        key = np.tanh(self._heads[3 + w.key_size :])  # (K,)
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
        self._prepare_scores()


def gru_step(
    inputs: Array, recurrent: Array, state: Array, out: Array | None = None
) -> Array:
    """A gated recurrent unit; overwrites its recurrent projection and its state.

    The gates are in torch's order: reset, update, candidate. The first two of the
    inputs' projection are negated.

    inputs, recurrent (Array): (3 * size,).
    out (Array | None): Where the new state goes; None: where the old one was.
    """
    size = len(state)
    gates, candidate = recurrent[: 2 * size], recurrent[2 * size :]
    np.subtract(inputs[: 2 * size], gates, gates)
    np.exp(gates, gates)
    np.add(gates, 1, gates)
    np.divide(candidate, gates[:size], candidate)
    np.add(candidate, inputs[2 * size :], candidate)
    np.tanh(candidate, candidate)
    np.subtract(state, candidate, state)
    np.divide(state, gates[size:], state)
    return np.add(state, candidate, state if out is None else out)
