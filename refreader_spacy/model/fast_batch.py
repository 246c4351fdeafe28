"""The reader at inference in plain NumPy: many documents side by side.

Documents are packed as in `reader`. Only what a token writes to is touched: candidates
are computed for tokens that write at all, and worked into the cells that they update.

Shapes: N packed tokens, B documents at a step, R of them that write, U updated cells,
M memory cells, X input size, H hidden and value size, K key size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refreader_spacy.model.fast import Index, Weights, gru_step
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
    inputs = np.empty((sizes[0], projected.shape[1]), np.float32)  # (B, 4H)
    with np.errstate(over="ignore"):  # a gate that is closed for good
        for size in sizes:
            stop = start + size
            np.take(projected, which[start:stop], 0, out=inputs[:size], mode="clip")
            batch.step(inputs[:size], gates[:, start:stop])
            start = stop
    return Reading(*gates)


class Batch:
    """What is known of the documents that are being read, the longest first."""

    def __init__(self, weights: Weights, n_docs: int) -> None:
        self.weights = weights
        self.hidden, self.keys, self.values, self.salience = (
            np.repeat(first[None], n_docs, axis=0) for first in weights.initial
        )
        # Large arrays are made once: asking the system for memory takes time
        self._pre, self._mixed = np.empty_like(self.hidden), np.empty_like(self.hidden)
        self._recurrent = np.empty((n_docs, len(weights.recurrent)), np.float32)

    def step(self, inputs: Array, out: Array) -> None:
        """Read the next token of each document that has one.

        inputs (Array): The projections of their vectors (B, 4H).
        out (Array): Where updates, overwrites and saliences go (3, B, M).
        """
        w, n_docs, size = self.weights, len(inputs), self.weights.hidden_size
        if n_docs < len(self.hidden):
            self.hidden, self.salience = self.hidden[:n_docs], self.salience[:n_docs]
            self.keys, self.values = self.keys[:n_docs], self.values[:n_docs]
        pre, mixed = self._pre[:n_docs], self._mixed[:n_docs]  # (B, H)
        recurrent = self._recurrent[:n_docs]  # (B, 3H)
        np.matmul(self.hidden, w.pre_hidden.T, out=pre)
        pre += inputs[:, :size]
        np.tanh(pre, out=pre)
        said = w.heads(pre)
        opened = np.exp(said[:, :3])
        opened += 1
        entity, reference, use = np.reciprocal(opened).T[..., None]  # (B, 1) each
        self._remember(pre, said, entity, reference * entity, out)

        # h' = GRU(x, (1 - c) h + c * what the memory holds)
        np.einsum("bm,bmh->bh", self.salience, self.values, out=mixed)
        mixed -= self.hidden
        mixed *= np.minimum(use, self.salience.sum(axis=1, keepdims=True))
        mixed += self.hidden
        np.matmul(mixed, w.recurrent.T, out=recurrent)
        recurrent[:, 2 * size :] += w.candidate_bias
        gru_step(inputs[:, size:], recurrent, mixed, self.hidden)

    def _remember(
        self, pre: Array, said: Array, entity: Array, reference: Array, out: Array
    ) -> None:
        """Let the tokens update and overwrite the cells."""
        w, salience = self.weights, self.salience
        update, overwrite, _ = out
        query = w.query(np.tanh(said[:, 3 : 3 + w.key_size]))  # (B, K)
        scores = np.einsum("bmk,bk->bm", self.keys, query)  # (B, M)
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
        replaced = remaining >= w.tolerance  # (B,)
        updates = np.logical_or.reduce(updated, axis=1)  # (B,)
        rows = np.flatnonzero(replaced | updates)  # (R,)
        if not len(rows):
            return
        key = np.tanh(said[rows, 3 + w.key_size :])  # (R, K)
        key += np.tanh(w.key(key))
        value = w.value(pre if len(rows) == len(pre) else pre[rows])  # (R, H)
        np.tanh(value, out=value)
        place = place[rows]
        share = (remaining * replaced)[rows, None]  # (R, 1)
        working = np.flatnonzero(updates[rows])  # of R, those that update
        docs, cells = np.nonzero(updated)  # (U,)
        whose = np.searchsorted(rows[working], docs)  # (U,), of those that update
        amount = update[docs, cells, None]  # (U, 1)
        for old, new, gru in (
            (self.keys, key, w.key_update),
            (self.values, value, w.value_update),
        ):
            before = old[docs, cells]  # (U, K) or (U, H)
            inputs = gru.project(new[working])[whose]
            gain = gru_step(inputs, gru.recurrent(before), before.copy())
            gain -= before
            gain *= amount
            new -= old[rows, place]
            new *= share
            old[rows, place] += new
            old[docs, cells] += gain
