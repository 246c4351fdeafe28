"""Reading on the CPU: the network in NumPy or compiled, then the memory.

Shapes: N tokens, D different vectors, B documents, M memory cells, X input size, H
hidden size, G view size, D size of what is judged, S what a token says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from refreader_spacy.names.memory import Index, State, decide_plainly, empty
from refreader_spacy.names.says import DIFFERS
from refreader_spacy.names.words import IS_JOINING, IS_NAME, IS_PRONOUN, N_ADDED
from refreader_spacy.paper.numpy_reader import gru_step
from refreader_spacy.paper.weights import Layer, distinct_rows
from refreader_spacy.protocol import Array, Reading

compiled: Any
try:
    compiled = import_module("refreader_spacy.reader.kernels.names")
except ImportError:  # it was installed where nothing compiles
    compiled = None

EPS = 1e-5  # torch's, of a deviation
IS_MENTION = IS_NAME | IS_PRONOUN | IS_JOINING


class Weights:
    """The parameters of a network, arranged for reading; made anew for each use."""

    batches = True  # several documents are read side by side

    def __init__(
        self,
        parameters: Mapping[str, Array],
        *,
        n_cells: int,
        gender_cost: float,
        products: int = 0,
    ) -> None:
        """parameters (Mapping[str, Array]): By their names in the torch network."""
        p = parameters
        self.gender_cost = gender_cost
        self.n_cells = n_cells
        self.initial_hidden = p["initial_hidden"]  # (H,)
        size = self.hidden_size = len(self.initial_hidden)
        product = np.zeros_like(p["worth.weight"])
        product[:, product.shape[1] - products :] = 1
        judge = np.concatenate([p["facts.weight"].T, p["worth.weight"], product])
        self.judge = np.ascontiguousarray(judge)  # (40 + 2, D)
        bias = p["recurrence.bias_hh_l0"].copy()  # (3H,)
        self.inputs = p["recurrence.weight_ih_l0"]  # (3H, X)
        # All but the candidate's can as well be added to the input
        self.inputs_bias = p["recurrence.bias_ih_l0"].copy()  # (3H,)
        self.inputs_bias[: 2 * size] += bias[: 2 * size]
        bias[: 2 * size] = 0
        self.recurrent = Layer(p["recurrence.weight_hh_l0"], bias)
        deviation = np.sqrt(p["norm.running_var"] + EPS)  # (2H,)
        view = p["view.weight"] / deviation  # (G, 2H)
        self.view_bias = p["view.bias"] - view @ p["norm.running_mean"]
        self.now = np.ascontiguousarray(view[:, :size])  # (G, H)
        self.before = np.ascontiguousarray(view[:, size:])
        heads = [p[f"{head}.weight"] for head in ("new", "asks", "query", "marks")]
        biases = [p[f"{head}.bias"] for head in ("new", "asks", "query")]
        weight = np.concatenate(heads)
        n_free = len(weight) - sum(len(bias) for bias in biases)  # marks have no bias
        self.heads = Layer(
            weight, np.concatenate([*biases, np.zeros(n_free, np.float32)])
        )

    def start(self, n_docs: int = 1) -> State:
        """What is known before the first token."""
        size = self.judge.shape[1]
        return empty(self.initial_hidden, n_docs, self.n_cells, size)

    def documents(self, state: State | None = None) -> Documents:
        """Documents to go on with, from where earlier readings stopped."""
        return Documents(self, state)

    def project(self, vectors: Array) -> tuple[Array, Index]:
        """The inputs' part of all products; a word that comes again is projected once.

        vectors (Array): (N, X).
        RETURNS: A projection for each different vector (D, 3H), as `gru_step` wants it;
            and which belongs to each vector (N,).
        """
        first, which = distinct_rows(vectors)
        projected: Array = vectors[first] @ self.inputs.T
        projected += self.inputs_bias
        gates = projected[:, : 2 * self.hidden_size]
        np.negative(gates, out=gates)
        return projected, which

    def say(self, hidden: Array, before: Array) -> Array:
        """What tokens say, given the hidden states after and before them (N, S)."""
        view: Array = hidden @ self.now.T
        view += before @ self.before.T
        view += self.view_bias
        np.tanh(view, out=view)
        return self.price(self.heads(view))

    def price(self, said: Array) -> Array:
        """Let somebody of another gender than the pronoun's be less probable."""
        said[:, 1 + DIFFERS] -= self.gender_cost
        return said

    def decide(self, said: Array, words: Array) -> Reading:
        """What the memory makes of one document from its beginning (T, S), (T, 2)."""
        starts = np.array([0, len(said)])
        said = self.price(said.copy())
        return decide(self.start(), said, self.judge, words, starts)


class Documents:
    """What is known of documents so far, and how to go on with them."""

    def __init__(self, weights: Weights, state: State | None = None) -> None:
        """state (State | None): Where earlier readings stopped; it is not changed.
        None is one document, before its first token.
        """
        self.weights = weights
        start = weights.start() if state is None else state
        self.state = State(*(field.copy() for field in start))

    def read(self, vectors: Array, lengths: Sequence[int]) -> Reading:
        """Go on with each document.

        vectors (Array): Of all documents' tokens, end to end (N, X + 2): the last
            two numbers are the word's and what kind of word it is.
        lengths (Sequence[int]): How many are each document's, the longest first (B,).
        RETURNS: All documents' gates (N, M), end to end.
        """
        weights, n_tokens = self.weights, len(vectors)
        if not n_tokens:
            return Reading(*np.zeros((3, 0, weights.n_cells), np.float32))
        starts = np.cumsum([0, *lengths])
        projected, which = weights.project(vectors[:, :-N_ADDED])
        hidden = np.empty((n_tokens, weights.hidden_size), np.float32)
        first = self.state.hidden.copy()  # (B, H)
        run = compiled.recur if compiled else recur_plainly
        run(weights, self.state.hidden, projected, which, starts, hidden)
        before = np.empty_like(hidden)
        before[1:] = hidden[:-1]
        some = starts[:-1][np.diff(starts) > 0]
        before[some] = first[: len(some)]
        # Only what may be a mention is heard, and the word after it
        words = vectors[:, -N_ADDED:]
        mention = words[:, 1].astype(int) & IS_MENTION > 0  # (N,)
        mention[1:] |= mention[:-1]
        mention[some] = True  # of the word before it nothing is known here
        heard = np.flatnonzero(mention)
        said = np.zeros((n_tokens, len(weights.heads.bias)), np.float32)
        said[heard] = weights.say(hidden[heard], before[heard])
        return decide(self.state, said, weights.judge, words, starts)


def decide(
    state: State, said: Array, judge: Array, words: Array, starts: Index
) -> Reading:
    """Let tokens decide, by whatever is quickest here; the state is written over."""
    _, n_cells, _ = state.facts.shape
    gates = np.empty((3, len(said), n_cells), np.float32)
    run = compiled.decide if compiled else decide_plainly
    run(state, said, judge, np.ascontiguousarray(words), starts, gates)
    return Reading(*gates)


def recur_plainly(
    weights: Weights,
    state: Array,
    projected: Array,
    which: Index,
    starts: Index,
    hidden: Any,
) -> None:
    """The recurrent unit over documents, one by one; `state` and `hidden` are written.

    state (Array): The hidden state of each document (B, H). hidden (Array): (N, H).
    """
    recurrent = np.empty(3 * weights.hidden_size, np.float32)
    candidate = recurrent[2 * weights.hidden_size :]
    bias = weights.recurrent.bias[2 * weights.hidden_size :]
    with np.errstate(over="ignore"):  # a gate that is closed for good
        for doc, now in enumerate(state):
            for token in range(starts[doc], starts[doc + 1]):
                np.dot(weights.recurrent.weight, now, recurrent)
                np.add(candidate, bias, candidate)
                gru_step(projected[which[token]], recurrent, now)
                hidden[token] = now
