"""Reading on the CPU, in NumPy: tokens of several texts at once, then their memories.

What needs no memory is worked out for all tokens together; the recurrent unit and the
memory go token by token and mention by mention, compiled where that can be.

Shapes: N tokens, X width of the encoder's vectors, E token size, H hidden size, K
mentions, M cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refreader_spacy.lang.en.pronouns import Pronoun
from refreader_spacy.protocol import Clues, Longs
from refreader_spacy.reader.edges import (
    after_greetings,
    commanded,
    left_edges,
    only_prefixes,
    right_edges,
)
from refreader_spacy.reader.kernels import read_mentions, recur
from refreader_spacy.reader.memory import Choices, Floats, remember
from refreader_spacy.reader.mentions import (
    LONGEST,
    Field,
    Kind,
    MentionTable,
    describe_mentions,
    string_hashes,
)
from refreader_spacy.reader.network import EMBEDDINGS, FLAGS, SCHEMES
from refreader_spacy.reader.state import ReaderState
from refreader_spacy.reader.tokens import QUOTATION, Ints
from refreader_spacy.reader.weights import ReaderWeights

DETECTED = 0.5  # a token is a mention's head from this probability
READ_BY = [SCHEMES.index("gum"), SCHEMES.index("litbank")]
# Added to each scheme's logit. OntoNotes' flag leans towards a mention: without it a
# pronoun may be left alone, and with it little is lost (docs/experiments.md).
LEANING = np.array([0.85 * (scheme == "ontonotes") for scheme in SCHEMES], np.float32)


@dataclass(frozen=True)
class ReadPart:
    """What was decided while some tokens of a text were read.

    head, start (Longs): Of each mention, as positions among tokens that are read (K,).
    number (int): Of the first of these mentions.
    schemes (Floats): How likely each scheme calls it a mention (K, 4).
    types (Ints): Of entity (K,).
    clues (Clues): What tells who they are, beside the memory.
    closed, ends (Longs): Numbers of mentions whose last token is known now, and it.
    """

    first: int
    head: Longs
    start: Longs
    number: int
    schemes: Floats
    types: Ints
    choices: Choices
    clues: Clues
    closed: Longs
    ends: Longs


def read_parts(
    weights: ReaderWeights,
    states: Sequence[ReaderState],
    rows: Sequence[Ints],
    vectors: Sequence[Floats],
    *,
    links: bool = False,
    last: bool = False,
) -> list[ReadPart]:
    """Go on with several texts, whose states are brought up to date.

    rows, vectors: Of each text's next tokens (N, C), (N, X).
    last (bool): The texts end here: mentions that are still open end too.
    """
    lengths = np.array([len(r) for r in rows])
    all_rows = np.concatenate(rows)
    inputs = token_inputs(weights, all_rows, np.concatenate(vectors))  # (N, E)
    projected = inputs @ weights.recurrent_inputs
    projected += weights.recurrent_bias
    hidden = np.stack([state.hidden for state in states])  # (B, H)
    history = recur(weights.recurrent, weights.hidden_bias, hidden, projected, lengths)
    both = np.concatenate([history, inputs], axis=1)  # (N, H + E)
    seen = weights.per_token(both)
    detection = np.maximum(seen[:, : weights.detection_size], 0)
    keys = seen[:, weights.detection_size :]
    left_keys, right_keys = keys[:, : weights.edge_size], keys[:, weights.edge_size :]
    outputs = weights.detected(detection)
    schemes = scheme_probabilities(outputs[:, : len(SCHEMES)])
    is_head = schemes[:, READ_BY].max(axis=1) >= DETECTED
    heads = np.flatnonzero(is_head & ~commanded(all_rows))
    # Tokens before the first new one, which mentions may begin with
    offsets = np.cumsum(lengths) - lengths
    tails = np.array([len(state.rows) for state in states])
    text_of = np.searchsorted(np.cumsum(lengths), heads, side="right")
    shift = np.cumsum(tails)[text_of]
    context = heads + shift
    context_rows = _interleaved([s.rows for s in states], all_rows, lengths)
    context_inputs = _interleaved([s.inputs for s in states], inputs, lengths)
    context_keys = _interleaved([s.left_keys for s in states], left_keys, lengths)
    begins = (offsets + np.cumsum(tails) - tails)[text_of]
    edges = weights.per_head(both[heads])
    starts = left_edges(
        weights, edges[:, : weights.edge_size], context_keys, context, context - begins
    )
    starts = after_greetings(context_rows, starts, context)
    kept = ~only_prefixes(context_rows, starts, context)
    heads, text_of, shift, edges = heads[kept], text_of[kept], shift[kept], edges[kept]
    context, starts = context[kept], starts[kept]
    n_read = np.array([state.n_read for state in states])
    first = n_read[text_of] - (offsets[text_of] + shift)
    table = describe_mentions(context_rows, context, starts, first)
    types = softmax(outputs[heads, len(SCHEMES) :])
    known = known_of_mentions(
        weights,
        history[heads],
        context_inputs,
        context,
        starts,
        table.fields[:, Field.KIND],
        types,
    )
    is_last = heads + 1 == np.cumsum(lengths)[text_of]  # of its text's new tokens
    after = history[np.minimum(heads + 1, len(history) - 1)] @ weights.after  # (K, V)
    after[is_last] = 0
    remembered = np.tanh(known + after)
    compared = weights.per_mention(np.tanh(known))
    queries = compared[:, : weights.score_size]
    products = compared[:, weights.score_size : -weights.score_size]
    new = weights.new(np.maximum(compared[:, -weights.score_size :], 0))[:, 0]
    closed = right_edges(
        weights,
        states,
        text_of,
        heads,
        edges[:, weights.edge_size :],
        right_keys,
        lengths,
        last,
    )
    parts = []
    bounds = np.searchsorted(heads, np.concatenate([offsets, [len(all_rows)]]))
    for b, state in enumerate(states):
        some = slice(bounds[b], bounds[b + 1])
        number = state.memory.n_mentions
        if lengths[b]:
            finish_pending(weights, state, history[offsets[b]])
        before = state.memory.entities.copy()
        choices = read_mentions(
            weights.memory,
            state.memory,
            table.part(some),
            np.ascontiguousarray(remembered[some]),
            np.ascontiguousarray(queries[some]),
            np.ascontiguousarray(products[some]),
            np.ascontiguousarray(new[some]),
            links=links,
        )
        head = heads[some] - offsets[b] + state.n_read
        tokens = slice(offsets[b], offsets[b] + lengths[b])
        parts.append(
            ReadPart(
                state.n_read,
                head,
                starts[some] + first[some],
                number,
                schemes[heads[some]],
                types[some].argmax(axis=1).astype(np.int32),
                choices,
                clues_of(table.part(some), choices, before),
                *closed[b],
            )
        )
        if is_last[some].any():
            state.pending_cell = choices.cell[-1:].astype(np.int64)
            state.pending_known = known[some][-1:].copy()
        state.hidden = hidden[b]
        state.rows = np.concatenate([state.rows, all_rows[tokens]])[-LONGEST:].copy()
        state.inputs = np.concatenate([state.inputs, inputs[tokens]])[-LONGEST:].copy()
        state.left_keys = np.concatenate([state.left_keys, left_keys[tokens]])[
            -LONGEST:
        ].copy()
        state.n_read += int(lengths[b])
    return parts


def clues_of(table: MentionTable, choices: Choices, before: Longs) -> Clues:
    """What tells who mentions are, beside the memory.

    before (Longs): The entity in each cell before the first of them, or -1 (M,).
    """
    kind = table.fields[:, Field.KIND]
    is_name = (kind == Kind.NAME) | (
        (kind == Kind.CAPITAL_START) & (table.fields[:, Field.GIVEN] > 0)
    )
    named = is_name | (kind == Kind.CAPITAL_START)
    name = string_hashes(table.names, named)
    said = np.where(table.fields[:, Field.QUOTATION] > 0, 0, 1).astype(np.int32)
    speaker = said * table.fields[:, Field.SPEAKER]
    person = np.where(kind == Pronoun.I, speaker, np.int32(0))
    person = np.where(kind == Pronoun.YOU, -speaker, person)
    held = before.tolist()
    lost = np.full(len(kind), -1, np.int32)
    for i in np.flatnonzero(choices.is_new).tolist():
        cell = int(choices.cell[i])
        lost[i], held[cell] = held[cell], int(choices.entity[i])
    told = table.fields[:, [Field.GENDER, Field.GIVEN]].max(axis=1)
    gender = told.astype(np.int8)
    # A copy: what is kept of a text is small, and holds no more than itself
    return Clues(name, table.names.copy(), is_name, gender, person, lost)


def scheme_probabilities(logits: Floats) -> Floats:
    """How likely each scheme calls a token a mention's head (N, 4)."""
    return sigmoid(logits + LEANING)


def _interleaved(tails: list[Any], new: Any, lengths: Longs) -> Any:
    """Each text's last tokens, then its new ones."""
    if not any(len(tail) for tail in tails):
        return new
    pieces, end = [], 0
    for tail, length in zip(tails, lengths.tolist(), strict=True):
        pieces += [tail, new[end : end + length]]
        end += length
    return np.concatenate(pieces)


def token_inputs(weights: ReaderWeights, rows: Ints, vectors: Floats) -> Floats:
    """What is read of each token (N, E)."""
    embedded = [
        table[rows[:, column] % len(table)]
        for table, (column, _, _) in zip(weights.tables, EMBEDDINGS, strict=True)
    ]
    flags = [rows[:, column] == value for column, value in FLAGS]
    flags += [rows[:, QUOTATION] > 0, ~vectors.any(axis=1)]
    flagged = np.stack(flags, axis=1).astype(np.float32)
    out: Floats = np.tanh(
        weights.token(np.concatenate([vectors, *embedded, flagged], axis=1))
    )
    return out


def known_of_mentions(
    weights: ReaderWeights,
    hidden: Floats,
    inputs: Floats,
    heads: Longs,
    starts: Longs,
    kinds: Ints,
    types: Floats,
) -> Floats:
    """What is known of each mention at its head (K, V)."""
    if not len(heads):
        return np.zeros((0, weights.mention_size), np.float32)
    bounds = np.stack([starts, heads + 1], axis=1).ravel()
    padded = np.concatenate([inputs, np.zeros((1, inputs.shape[1]), np.float32)])
    sums = np.add.reduceat(padded, bounds, axis=0)[::2]
    means = np.divide(sums, (heads - starts + 1)[:, None], dtype=np.float32)
    kind: Floats = weights.kind[kinds]
    parts: list[Floats] = [hidden, inputs[heads], inputs[starts], means, kind, types]
    return weights.mention(np.concatenate(parts, axis=1))


def finish_pending(weights: ReaderWeights, state: ReaderState, hidden: Floats) -> None:
    """Remember the mention before a text's next token, now that the token is there.

    hidden (Floats): The recurrent unit's state after that token (H,).
    """
    cells = state.pending_cell.tolist()
    for cell, known in zip(cells, state.pending_known, strict=True):
        state.memory.total[cell] -= np.tanh(known)
        vector = np.tanh(known + hidden @ weights.after)
        remember(weights.memory, state.memory, cell, vector)
    state.pending_cell = state.pending_cell[:0]
    state.pending_known = state.pending_known[:0]


def sigmoid(x: Floats) -> Floats:
    one = np.float32(1)
    out: Floats = one / (one + np.exp(-np.clip(x, -80, 80)))
    return out


def softmax(x: Floats) -> Floats:
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-1e30))
    out: Floats = e / e.sum(axis=1, keepdims=True)
    return out
