"""The reader at inference in plain NumPy: many documents side by side.

Documents are packed as in `reader`. Only what a token writes to is touched: candidates
are computed for tokens that write at all, and worked into the cells that they update.

Shapes: N packed tokens, B documents at a step, R of them that write, U updated cells,
M memory cells, X input size, H hidden and value size, K key size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refreader_spacy.model.fast import FAINT, Gru, Index, Weights, sigmoid
from refreader_spacy.model.types import Array, Reading


def packed_order(lengths: Sequence[int]) -> tuple[Index, list[int]]:
    """How documents laid end to end are read side by side.

    RETURNS: For each packed place, which of the N tokens stands there (N,); and how
        many documents have a first token, a second one, and so on.
    """
    sizes = np.asarray(lengths)
    rank = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
    place = np.concatenate([np.arange(n) for n in lengths])  # (N,)
    order = np.lexsort((np.repeat(rank, sizes), place))  # (N,)
    return order, np.bincount(place).tolist()


def read_packed(weights: Weights, vectors: Array, sizes: Sequence[int]) -> Reading:
    """All documents' histories, token by token in packed order.

    vectors (Array): Packed token vectors (N, X).
    sizes (Sequence[int]): How many documents have a first token, a second one, ...
    """
    gates = np.zeros((3, len(vectors), len(weights.initial.salience)), np.float32)
    if not len(vectors):
        return Reading(*gates)
    batch = Batch(weights, sizes[0])
    projected, which = weights.project(vectors)
    start = 0
    with np.errstate(over="ignore"):  # a gate that is closed for good
        for size in sizes:
            stop = start + size
            batch.step(projected[which[start:stop]], gates[:, start:stop])
            start = stop
    return Reading(*gates)


class Batch:
    """What is known of the documents that are being read, the longest first."""

    def __init__(self, weights: Weights, n_docs: int) -> None:
        self.weights = weights
        self.hidden, self.keys, self.values, self.salience = (
            np.repeat(first[None], n_docs, axis=0) for first in weights.initial
        )

    def step(self, inputs: Array, out: Array) -> None:
        """Read the next token of each document that has one.

        inputs (Array): The projections of their vectors (B, 4H).
        out (Array): Where updates, overwrites and saliences go (3, B, M).
        """
        w, n_docs, size = self.weights, len(inputs), self.weights.hidden_size
        if n_docs < len(self.hidden):
            self.hidden, self.salience = self.hidden[:n_docs], self.salience[:n_docs]
            self.keys, self.values = self.keys[:n_docs], self.values[:n_docs]
        pre = self.hidden @ w.pre_hidden.T  # (B, H)
        pre += inputs[:, :size]
        np.tanh(pre, out=pre)
        said = w.heads(pre)
        entity, reference, use = sigmoid(said[:, :3]).T[..., None]  # (B, 1) each
        self._remember(pre, said, entity, reference * entity, out)

        # h' = GRU(x, (1 - c) h + c * what the memory holds)
        mixed = np.matmul(self.salience[:, None], self.values)[:, 0]  # (B, H)
        mixed -= self.hidden
        mixed *= np.minimum(use, self.salience.sum(axis=1, keepdims=True))
        mixed += self.hidden
        recurrent = mixed @ w.recurrent.T  # (B, 3H)
        recurrent[:, 2 * size :] += w.candidate_bias
        self.hidden = gru_step(inputs[:, size:], recurrent, mixed)

    def _remember(
        self, pre: Array, said: Array, entity: Array, reference: Array, out: Array
    ) -> None:
        """Let the tokens update and overwrite the cells."""
        w, salience = self.weights, self.salience
        update, overwrite, _ = out
        query = w.query(np.tanh(said[:, 3 : 3 + w.key_size]))  # (B, K)
        scores = np.matmul(self.keys, query[..., None])[..., 0]  # (B, M)
        scores += w.link_bias
        highest = scores.max(axis=1, keepdims=True, initial=0.0)
        match = np.exp(scores - highest)
        match /= match.sum(axis=1, keepdims=True) + np.exp(-highest)  # or: no link
        np.minimum(reference * match, 2 * salience, out=update)
        remaining = entity[:, 0] - update.sum(axis=1)  # (B,)
        place = salience.argmin(axis=1)  # (B,)
        overwrite[np.arange(len(place)), place] = remaining
        self._write(pre, said, update, place, remaining)
        decay = w.word_decay + (w.entity_decay - w.word_decay) * entity
        self.salience = decay * (1 - update - overwrite) * salience
        self.salience += update
        self.salience += overwrite
        out[2] = self.salience

    def _write(
        self, pre: Array, said: Array, update: Array, place: Index, remaining: Array
    ) -> None:
        """Change keys and values where a gate is large enough.

        place (Index): The cell that each token overwrites, by how much remains (B,).
        """
        w = self.weights
        updated = update >= w.tolerance  # (B, M)
        overwritten = remaining > FAINT  # (B,)
        rows = np.flatnonzero(overwritten | updated.any(axis=1))  # (R,)
        if not len(rows):
            return
        key = np.tanh(said[rows, 3 + w.key_size :])  # (R, K)
        key += np.tanh(w.key(key))
        value = np.tanh(w.value(pre[rows]))  # (R, H)
        docs, cells = np.nonzero(updated)  # (U,)
        worked_in = np.searchsorted(rows, docs)  # (U,)
        amount = update[docs, cells, None]  # (U, 1)
        place = place[rows]
        share = (remaining * overwritten)[rows, None]  # (R, 1)
        for old, new, gru in (
            (self.keys, key, w.key_update),
            (self.values, value, w.value_update),
        ):
            before = old[docs, cells]  # (U, K) or (U, H)
            gain = amount * (worked(gru, new, worked_in, before) - before)
            old[rows, place] += share * (new - old[rows, place])
            old[docs, cells] += gain


def worked(gru: Gru, new: Array, which: Index, before: Array) -> Array:
    """Candidates worked into cells: `which` says whose candidate each cell gets."""
    rows, again = np.unique(which, return_inverse=True)
    inputs = gru.inputs(new[rows])[again]
    return gru_step(inputs, gru.recurrent(before), before.copy())


def gru_step(inputs: Array, recurrent: Array, state: Array) -> Array:
    """A gated recurrent unit; uses up its recurrent projection, changes its state."""
    size = state.shape[-1]
    gates = recurrent[:, : 2 * size]
    gates += inputs[:, : 2 * size]
    sigmoid(gates)
    candidate = recurrent[:, 2 * size :]
    candidate *= gates[:, :size]
    candidate += inputs[:, 2 * size :]
    np.tanh(candidate, out=candidate)
    state -= candidate
    state *= gates[:, size:]
    state += candidate
    return state
