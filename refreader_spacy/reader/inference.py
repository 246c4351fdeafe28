"""Reading on the CPU, in NumPy: tokens of several texts at once, then their memories.

What needs no memory is worked out for all tokens together; the recurrent unit and the
memory go token by token and mention by mention, compiled where that can be.

Shapes: N tokens, X width of the encoder's vectors, E token size, H hidden size, K
mentions, M cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.lang.en.lexemes import Column, text_hash
from refreader_spacy.lang.en.pronouns import Pronoun
from refreader_spacy.lang.en.words import GREETINGS
from refreader_spacy.protocol import Clues
from refreader_spacy.reader.kernels import read_mentions, recur
from refreader_spacy.reader.memory import (
    Choices,
    Floats,
    MemoryState,
    MemoryWeights,
    remember,
)
from refreader_spacy.reader.mentions import (
    LONGEST,
    Field,
    Kind,
    MentionTable,
    describe_mentions,
    string_hashes,
)
from refreader_spacy.reader.network import EMBEDDINGS, FLAGS, FURTHEST, SCHEMES
from refreader_spacy.reader.tokens import N_COLUMNS, QUOTATION, Ints, TextState

Longs = NDArray[np.int64]
DETECTED = 0.5  # a token is a mention's head from this probability
# Added to each scheme's logit. OntoNotes' flag leans towards a mention: without it a
# pronoun may be left alone, and with it little is lost (docs/experiments.md).
LEANING = np.array([0.85 * (scheme == "ontonotes") for scheme in SCHEMES], np.float32)


class Linear:
    """A linear layer."""

    def __init__(self, parameters: Mapping[str, Floats], *names: str) -> None:
        """Several layers of the same input are one."""
        self.weight = np.concatenate(
            [parameters[f"{n}.weight"] for n in names]
        ).T.copy()
        self.bias = np.concatenate([parameters[f"{n}.bias"] for n in names])

    def __call__(self, x: Floats) -> Floats:
        out: Floats = x @ self.weight
        out += self.bias
        return out


class ReaderWeights:
    """A network's parameters, arranged for reading."""

    def __init__(self, parameters: Mapping[str, Floats], n_cells: int) -> None:
        p = parameters
        self.n_cells = n_cells
        self.tables = [p[f"embeddings.{i}.weight"] for i in range(len(EMBEDDINGS))]
        self.token = Linear(p, "token")
        self.recurrent_inputs = p["recurrence.weight_ih_l0"].T.copy()  # (E, 3H)
        self.recurrent_bias = p["recurrence.bias_ih_l0"]
        self.recurrent = np.ascontiguousarray(p["recurrence.weight_hh_l0"])  # (3H, H)
        self.hidden_bias = np.ascontiguousarray(p["recurrence.bias_hh_l0"])
        self.hidden_size = self.recurrent.shape[1]
        # All that is asked of every token
        self.per_token = Linear(p, "detection", "left_key", "right_key")
        self.detection_size = len(p["detection.bias"])
        self.edge_size = len(p["left_key.bias"])
        self.detected = Linear(p, "schemes", "types")
        # and of heads
        self.per_head = Linear(p, "left_query", "right_query")
        self.left_bias = p["left_bias"]
        self.right_value = p["right_value.weight"][0]
        self.right_bias = p["right_bias"] + p["right_value.bias"]
        self.kind = p["kind.weight"]
        self.mention = Linear(p, "mention")
        self.mention_size = len(p["mention.bias"])
        self.after = p["after.weight"].T.copy()  # (H, V)
        self.per_mention = Linear(p, "query", "query_product", "new_hidden")
        self.score_size = len(p["query.bias"])
        self.product_size = len(p["query_product.bias"])
        self.new = Linear(p, "new")
        self.memory = MemoryWeights(p)

    def start(self) -> ReaderState:
        """The state before a text's first token."""
        return ReaderState(
            hidden=np.zeros(self.hidden_size, np.float32),
            text=TextState(),
            memory=MemoryState.empty(
                self.n_cells, self.mention_size, self.score_size, self.product_size
            ),
            rows=np.zeros((0, N_COLUMNS), np.int32),
            inputs=np.zeros((0, len(self.token.bias)), np.float32),
            left_keys=np.zeros((0, self.edge_size), np.float32),
            open_number=np.zeros(0, np.int64),
            open_head=np.zeros(0, np.int64),
            open_query=np.zeros((0, self.edge_size), np.float32),
            pending_cell=np.zeros(0, np.int64),
            pending_known=np.zeros((0, self.mention_size), np.float32),
        )


@dataclass
class ReaderState:
    """All that is known between two tokens of a text.

    rows, inputs, left_keys: Of the last tokens, which a mention may begin with.
    open_number, open_head, open_query: Of mentions whose right edge is not known yet.
    pending_cell, pending_known: Of a mention whose head is the last token, if it is:
        the cell that it is in, and what is known of it. It is remembered for good when
        the next token has come.
    """

    hidden: Floats
    text: TextState
    memory: MemoryState
    rows: Ints
    inputs: Floats
    left_keys: Floats
    open_number: Longs
    open_head: Longs
    open_query: Floats
    pending_cell: Longs
    pending_known: Floats
    n_read: int = 0


@dataclass(frozen=True)
class Part:
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
) -> list[Part]:
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
    heads = np.flatnonzero(is_head)
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
            Part(
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
    is_name = kind == Kind.NAME
    named = is_name | (kind == Kind.CAPITAL_START)
    name = string_hashes(table.names, named)
    said = np.where(table.fields[:, Field.QUOTATION] > 0, 0, 1)
    speaker = said * table.fields[:, Field.SPEAKER].astype(np.int64)
    person = np.where(kind == Pronoun.I, speaker, 0)
    person = np.where(kind == Pronoun.YOU, -speaker, person)
    held = before.tolist()
    lost = np.full(len(kind), -1)
    for i in np.flatnonzero(choices.is_new).tolist():
        cell = int(choices.cell[i])
        lost[i], held[cell] = held[cell], int(choices.entity[i])
    told = table.fields[:, [Field.GENDER, Field.GIVEN]].max(axis=1)
    gender = told.astype(np.int64)
    words = table.names.astype(np.int64)
    return Clues(name.astype(np.int64), words, is_name, gender, person, lost)


GREETED = np.array([text_hash(word) for word in sorted(GREETINGS)])
READ_BY = [SCHEMES.index("gum"), SCHEMES.index("litbank")]


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


def left_edges(
    weights: ReaderWeights, queries: Floats, keys: Floats, heads: Longs, back: Longs
) -> Longs:
    """The token that each mention begins with (K,).

    back (Longs): How many tokens there are before each head.
    """
    if not len(heads):
        return heads
    steps = np.arange(LONGEST + 1)
    places = np.maximum(heads[:, None] - steps, 0)  # (K, 21)
    logits = np.einsum("kd,ksd->ks", queries, keys[places]) / weights.edge_size**0.5
    logits += weights.left_bias
    logits[steps > back[:, None]] = -np.inf
    starts: Longs = heads - logits.argmax(axis=1)
    return starts


def after_greetings(rows: Ints, starts: Longs, heads: Longs) -> Longs:
    """Where mentions begin: "Hi Ann" is a mention of Ann, which few texts teach."""
    greets = np.isin(rows[starts, Column.WORD], GREETED) & (starts < heads)
    after: Longs = starts + greets
    return after


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


def right_edges(
    weights: ReaderWeights,
    states: Sequence[ReaderState],
    text_of: Longs,
    heads: Longs,
    queries: Floats,
    keys: Floats,
    lengths: Longs,
    last: bool,
) -> list[tuple[Longs, Longs]]:
    """Of each text, the mentions whose last token is known by now, and that token.

    text_of, heads (Longs): Of new mentions: the text, and which of the new tokens (K,).
    keys (Floats): Of the new tokens (N, 48).
    """
    n_open = [len(state.open_head) for state in states]
    n_mentions = np.array([state.memory.n_mentions for state in states])
    text = np.concatenate([np.repeat(np.arange(len(states)), n_open), text_of])
    numbers = (
        n_mentions[text_of] + np.arange(len(heads)) - np.searchsorted(text_of, text_of)
    )
    number = np.concatenate([*(state.open_number for state in states), numbers])
    query = np.concatenate([*(state.open_query for state in states), queries])
    # Heads as rows of the new tokens, before which the open mentions' are
    ends_before = np.cumsum(lengths)
    begins = ends_before - lengths
    shift = np.array([state.n_read for state in states]) - begins
    opened = np.concatenate([state.open_head for state in states])
    head = np.concatenate([opened - np.repeat(shift, n_open), heads])
    token = np.maximum(head + 1, begins[text])  # the first after each head that is new
    stop = ends_before[text]
    known = np.zeros(len(head), bool)
    going = np.flatnonzero(token < stop)
    while len(going):
        place = token[going]
        distance = place - head[going]
        hidden = np.maximum(query[going] + keys[place], 0)
        logits = (
            hidden @ weights.right_value
            + weights.right_bias[np.minimum(distance, FURTHEST)]
        )
        over = (logits > 0) | (distance >= FURTHEST)
        known[going[over]] = True
        going = going[~over]
        token[going] += 1
        going = going[token[going] < stop[going]]
    if last:
        known[:] = True
    position = shift[text]
    end, head = token + position - 1, head + position
    by_text = np.argsort(text, kind="stable")
    bounds = np.searchsorted(text[by_text], np.arange(len(states) + 1)).tolist()
    found = []
    for b, state in enumerate(states):
        mine = by_text[bounds[b] : bounds[b + 1]]
        closed, left = mine[known[mine]], mine[~known[mine]]
        closed = closed[np.lexsort((number[closed], end[closed]))]
        found.append((number[closed], end[closed]))
        state.open_number, state.open_head = number[left], head[left]
        state.open_query = query[left]
    return found


def sigmoid(x: Floats) -> Floats:
    one = np.float32(1)
    out: Floats = one / (one + np.exp(-np.clip(x, -80, 80)))
    return out


def softmax(x: Floats) -> Floats:
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-1e30))
    out: Floats = e / e.sum(axis=1, keepdims=True)
    return out
