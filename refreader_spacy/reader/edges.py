"""Where mentions begin and end.

Shapes: N tokens, K mentions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.lang.en.lexemes import Column, Role
from refreader_spacy.protocol import Longs
from refreader_spacy.reader.memory import Floats
from refreader_spacy.reader.mentions import LONGEST
from refreader_spacy.reader.network import FURTHEST
from refreader_spacy.reader.state import ReaderState
from refreader_spacy.reader.tokens import SENTENCE_START, Ints
from refreader_spacy.reader.weights import ReaderWeights


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


def commanded(rows: Ints) -> NDArray[np.bool_]:
    """Verbs that a sentence begins with, as "Peel", which look like names."""
    is_verb = rows[:, Column.ROLE] == Role.IMPERATIVE
    out: NDArray[np.bool_] = is_verb & (rows[:, SENTENCE_START] > 0)
    return out


def only_prefixes(rows: Ints, starts: Longs, heads: Longs) -> NDArray[np.bool_]:
    """Mentions that are the "De" of "De Groot", which nobody is called."""
    is_prefix = rows[heads, Column.ROLE] == Role.NAME_PREFIX
    out: NDArray[np.bool_] = is_prefix & (starts == heads)
    return out


def after_greetings(rows: Ints, starts: Longs, heads: Longs) -> Longs:
    """Where mentions begin: "Hi Ann" is a mention of Ann, which few texts teach."""
    is_greeting = rows[starts, Column.ROLE] == Role.GREETING
    after: Longs = starts + (is_greeting & (starts < heads))
    return after


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
