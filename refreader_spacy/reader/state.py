"""What the default reader knows between two tokens of a text."""

from __future__ import annotations

from dataclasses import dataclass

from refreader_spacy.protocol import Longs
from refreader_spacy.reader.memory import Floats, MemoryState
from refreader_spacy.reader.tokens import Ints, TextState


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
