"""A Doc's tokens as rows of integers: the words, and where they stand in the text.

White space is not read: rows are of the other tokens, numbered without gaps. Nor are
labels that only say who speaks. Named entities that stand on the Doc as organisations,
places and the like have a gender, which is neuter.

Shapes: T tokens of a Doc, N tokens that are read, C columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH, SPACY
from spacy.tokens import Doc, Span

from refreader_spacy.lang.en.lexemes import Column, Role, word_row
from refreader_spacy.lang.en.words import Gender
from refreader_spacy.reader.annotated import label_tokens, thing_tokens

Ints = NDArray[np.int32]

N_WORD_COLUMNS = len(Column)
# What a token's place in the text adds to its word
SENTENCE_START = N_WORD_COLUMNS  # does a sentence begin here?
SENTENCE = N_WORD_COLUMNS + 1  # how many began before
OFFSET = N_WORD_COLUMNS + 2  # tokens since it began
QUOTATION = N_WORD_COLUMNS + 3  # the number of the quotation it is in, or 0
NO_SPACE = N_WORD_COLUMNS + 4  # does it follow without a space?
SPEAKER = N_WORD_COLUMNS + 5  # a hash of who says it, or 0
N_COLUMNS = N_WORD_COLUMNS + 6

LONGEST_QUOTATION = 200  # tokens, after which a quotation mark is taken to be missing
N_KNOWN = 2**16  # words whose rows are kept

SPACE_ROW = word_row(" ")

_known: dict[int, bytes] = {}  # rows by spaCy's hash of the word


@dataclass
class TextState:
    """Where in a text the tokens read so far have led."""

    n_tokens: int = 0
    n_sentences: int = 0
    sentence_start: int = 0  # where the latest sentence began
    pending: bool = True  # has a sentence ended, and none begun?
    after_line: bool = True  # and was that a line's end?
    quotation: int = 0  # the number of the open one, or 0
    n_quotations: int = 0
    quotation_start: int = 0
    spaced: bool = True  # was there a space after the last token?
    speaker: int = 0  # of the last token

    def copy(self) -> TextState:
        return TextState(**vars(self))


@dataclass(frozen=True)
class TokenRows:
    """The tokens of a Doc that are read (N, C), and which they are (N,)."""

    rows: Ints
    places: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)


def token_rows(
    doc: Doc | Span, state: TextState, speakers: Sequence[int] | None = None
) -> TokenRows:
    """The rows of the next tokens of a text, whose state is brought up to date.

    speakers (Sequence[int] | None): Who says each token of `doc`, as a hash, or 0.
    """
    values = cast(Any, doc).to_array([ORTH, SPACY])  # (T, 2)
    words = _word_rows(values[:, 0].tolist(), doc)  # (T, 22)
    words[label_tokens(doc)] = SPACE_ROW
    words[thing_tokens(doc), Column.GENDER] = Gender.NEUTER
    spaced = values[:, 1] > 0  # (T,)
    places = np.flatnonzero(words[:, Column.SPACE] == 0)
    rows = np.zeros((len(places), N_COLUMNS), np.int32)
    rows[:, :N_WORD_COLUMNS] = words[places]
    if speakers is not None:
        rows[:, SPEAKER] = np.asarray(speakers, np.int32)[places]
    _add_sentences(rows, words, places, state)
    _add_quotations(rows, state)
    before = np.r_[state.spaced, spaced[:-1] | (words[:-1, Column.SPACE] > 0)]
    if len(words):
        state.spaced = bool(spaced[-1] or words[-1, Column.SPACE])
        rows[:, NO_SPACE] = ~before[: len(words)][places]
    state.n_tokens += len(rows)
    return TokenRows(rows, places)


def _word_rows(orths: list[int], doc: Doc | Span) -> Ints:
    try:
        rows = [_known[orth] for orth in orths]
    except KeyError:
        strings = doc.vocab.strings
        # Another thread may clear it meanwhile: each word is looked up once
        found = {orth: _known.get(orth) for orth in {*orths}}
        known = {orth: row for orth, row in found.items() if row is not None}
        new = {
            orth: np.array(word_row(strings[orth]), np.int32).tobytes()
            for orth in found.keys() - known.keys()
        }
        if len(_known) > N_KNOWN:
            _known.clear()
        _known.update(new)
        known |= new
        rows = [known[orth] for orth in orths]
    data = bytearray().join(rows)  # which may be written to
    return np.frombuffer(data, np.int32).reshape(len(orths), N_WORD_COLUMNS)


def _add_sentences(
    rows: Ints, words: Ints, places: NDArray[np.int64], state: TextState
) -> None:
    """A sentence begins after a full stop or a line's end, not with a small letter;
    and where somebody else begins to speak."""
    if not len(words):
        return
    role = words[:, Column.ROLE]
    ends = role == Role.SENTENCE_END
    lines = words[:, Column.LINES] > 0
    quotes = (role >= Role.QUOTE) & (role <= Role.CLOSING_QUOTE)
    closes = quotes | (role == Role.CLOSING) | (words[:, Column.SPACE] > 0)
    # 1 and 2 end a sentence or a line, 0 goes on with what was before, 3 is a word
    kind = np.where(lines, 2, np.where(ends, 1, np.where(closes, 0, 3)))
    before = np.concatenate([[1 + state.after_line if state.pending else 3], kind])
    last = np.maximum.accumulate(np.where(before > 0, np.arange(len(before)), 0))
    # A full stop after a line's end leaves the line's end standing
    pending = before[last]
    state.pending, state.after_line = bool(pending[-1] < 3), bool(pending[-1] == 2)
    pending = pending[:-1]
    small = words[:, Column.LOWERCASE] > 0
    starts = (kind == 3) & ((pending == 2) | ((pending == 1) & ~small))
    begins = starts[places]
    if len(rows):  # somebody else begins to speak
        speaker = rows[:, SPEAKER]
        begins |= np.concatenate([[state.speaker], speaker[:-1]]) != speaker
        state.speaker = int(speaker[-1])
    rows[:, SENTENCE_START] = begins
    rows[:, SENTENCE] = state.n_sentences + np.cumsum(begins)
    position = state.n_tokens + np.arange(len(rows))
    first = np.maximum.accumulate(np.where(begins, position, state.sentence_start))
    rows[:, OFFSET] = position - first
    if len(rows):
        state.n_sentences = int(rows[-1, SENTENCE])
        state.sentence_start = int(first[-1])


def _add_quotations(rows: Ints, state: TextState) -> None:
    role = rows[:, Column.ROLE]
    marks = np.flatnonzero((role >= Role.QUOTE) & (role <= Role.CLOSING_QUOTE))
    start = 0
    for mark in [*marks.tolist(), len(rows)]:
        if state.quotation:
            left = state.quotation_start + LONGEST_QUOTATION - state.n_tokens
            rows[start : max(start, min(mark, left)), QUOTATION] = state.quotation
            if left < mark:
                state.quotation = 0
        if mark == len(rows):
            break
        opens = role[mark] == Role.OPENING_QUOTE or (
            role[mark] == Role.QUOTE and not state.quotation
        )
        state.quotation = 0
        if opens:
            state.n_quotations += 1
            state.quotation = state.n_quotations
            state.quotation_start = state.n_tokens + mark
        start = mark + 1
