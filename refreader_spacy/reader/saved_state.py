"""A reader's state as plain data, and back, checked in every number that is used.

What comes back may come from anywhere: each array has the expected shape and type, and
each number that something is looked up by is within its range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refreader_spacy.errors import Errors
from refreader_spacy.reader.cells import Extra
from refreader_spacy.reader.mentions import (
    LONGEST,
    N_CASES,
    N_KINDS,
    N_VOICES,
    Field,
)
from refreader_spacy.reader.network import FURTHEST
from refreader_spacy.reader.state import ReaderState
from refreader_spacy.reader.tokens import TextState
from refreader_spacy.reader.weights import ReaderWeights

LARGEST = 2**31 - 1  # hash, position in a text or number of tokens

# What a field of a cell is at most; the others are hashes and positions
HIGHEST = {
    Field.KIND: N_KINDS - 1,
    Field.GENDER: 3,
    Field.GIVEN: 3,
    Field.CASE: N_CASES - 1,
    Field.NUMBER: 2,
    Field.PLACE: 2,
    Field.VOICE: N_VOICES - 1,
    Field.LENGTH: LONGEST,
    Field.REFLEXIVE: 1,
    Field.SURE: 1,
    Extra.GROUPS: 7,
}
_ARRAYS = (
    "hidden",
    "rows",
    "inputs",
    "left_keys",
    "open_number",
    "open_head",
    "open_query",
    "pending_cell",
    "pending_known",
)
# What can't be more than there are tokens
_COUNTED = (
    "n_sentences",
    "sentence_start",
    "quotation",
    "n_quotations",
    "quotation_start",
)
_MEMORY = ("total", "scored", "compared", "entities")


def state_to_saved(state: ReaderState) -> dict[str, Any]:
    """All of a state, as arrays and numbers."""
    memory = state.memory
    return {
        **{name: getattr(state, name) for name in _ARRAYS},
        **{name: getattr(memory, name) for name in _MEMORY},
        "fields": memory.cells.fields,
        "sets": memory.cells.sets,
        "n_entities": memory.n_entities,
        "n_mentions": memory.n_mentions,
        "n_read": state.n_read,
        "text": vars(state.text),
    }


def state_from_saved(weights: ReaderWeights, saved: dict[str, Any]) -> ReaderState:
    """A state of this reader again; anything else is a ValueError."""
    state = weights.start()
    memory = state.memory
    for name in _ARRAYS:
        setattr(state, name, checked_array(saved, name, getattr(state, name)))
    for name in _MEMORY:
        setattr(memory, name, checked_array(saved, name, getattr(memory, name)))
    memory.cells.fields = checked_array(saved, "fields", memory.cells.fields)
    memory.cells.sets = checked_array(saved, "sets", memory.cells.sets)
    memory.n_entities = checked_number(saved, "n_entities", LARGEST)
    memory.n_mentions = checked_number(saved, "n_mentions", LARGEST)
    state.n_read = checked_number(saved, "n_read", LARGEST)
    state.text = _text_state(saved["text"])
    _check_ranges(state)
    return state


def _check_ranges(state: ReaderState) -> None:
    fields, memory = state.memory.cells.fields, state.memory
    top = np.full(fields.shape[1], LARGEST)
    for column, highest in HIGHEST.items():
        top[column] = highest
    top[Field.POSITION] = max(state.n_read - 1, 0)
    top[Field.SENTENCE] = state.text.n_sentences
    top[Extra.LATEST] = max(memory.n_mentions - 1, 0)
    top[Extra.COUNT] = memory.n_mentions
    n_rows = min(LONGEST, state.n_read)
    n_open = len(state.open_number)
    right = (
        (fields >= 0).all()
        and (fields <= top).all()
        and (memory.cells.sets >= 0).all()
        and (state.rows >= 0).all()
        and (memory.entities >= -1).all()
        and (memory.entities < memory.n_entities).all()
        and ((memory.entities >= 0) == (fields[:, Extra.COUNT] > 0)).all()
        and len(state.rows) == len(state.inputs) == len(state.left_keys) == n_rows
        and n_open == len(state.open_head) == len(state.open_query)
        and n_open <= FURTHEST + 1
        and (state.open_head >= state.n_read - FURTHEST - 1).all()
        and (state.open_head < state.n_read).all()
        and (state.open_number >= 0).all()
        and (state.open_number < memory.n_mentions).all()
        and len(state.pending_cell) == len(state.pending_known) <= 1
        and all(c in range(len(fields)) for c in state.pending_cell.tolist())
        and (fields[state.pending_cell, Extra.COUNT] > 0).all()
        and state.text.n_tokens == state.n_read
        and memory.n_entities <= memory.n_mentions <= state.n_read
        and max(getattr(state.text, name) for name in _COUNTED) <= state.n_read
    )
    if not right:
        raise ValueError(Errors.R257.format(name="ranges"))


def checked_array(saved: dict[str, Any], name: str, like: Any) -> Any:
    """An array of the type and, but for how many rows tokens have, the shape."""
    found = saved[name]
    if (
        not isinstance(found, np.ndarray)
        or found.dtype != like.dtype
        or found.ndim != like.ndim
        or found.shape[1:] != like.shape[1:]
        or (len(like) and len(found) != len(like))
        or not np.isfinite(found).all()
    ):
        raise ValueError(Errors.R257.format(name=name))
    return found.copy()


def checked_number(saved: dict[str, Any], name: str, highest: int) -> int:
    found = saved[name]
    if type(found) is not int or not 0 <= found <= highest:
        raise ValueError(Errors.R257.format(name=name))
    return found


def _text_state(saved: Any) -> TextState:
    expected = vars(TextState())
    if not isinstance(saved, dict) or saved.keys() != expected.keys():
        raise ValueError(Errors.R257.format(name="text"))
    for name, value in expected.items():
        found = saved[name]
        if type(found) is not type(value) or not 0 <= found <= LARGEST:
            raise ValueError(Errors.R257.format(name=name))
    return TextState(**saved)
