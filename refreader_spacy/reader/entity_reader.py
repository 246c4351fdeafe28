"""The default reader behind the package's `Reader` protocol: Docs in, decisions out.

Shapes: N tokens that are read, T tokens, K mentions, M cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example

from refreader_spacy.errors import Errors
from refreader_spacy.protocol import (
    Array,
    Longs,
    Mentions,
    Part,
    Progress,
    Reading,
)
from refreader_spacy.reader.annotated import speaker_hashes
from refreader_spacy.reader.inference import READ_BY, ReadPart, read_parts
from refreader_spacy.reader.mentions import LONGEST
from refreader_spacy.reader.network import FURTHEST, SCHEMES, TYPES
from refreader_spacy.reader.saved_state import state_from_saved, state_to_saved
from refreader_spacy.reader.state import ReaderState
from refreader_spacy.reader.tokens import token_rows
from refreader_spacy.reader.weights import ReaderWeights

HALF_LIFE = 16  # mentions after which a cell that isn't mentioned is half as salient
# Tokens that are read together, whatever is encoded together. More would be slower:
# arrays of tens of megabytes are new memory each time.
AT_ONCE = 2048
RECENT = LONGEST + FURTHEST + 2  # tokens that something still open may begin or end at

Encode = Callable[[Sequence[Doc | Span]], list[Array]]
Loss = Callable[[Iterable[Example], Any, str], tuple[float, Any]]


@dataclass
class TextReading:
    """A reader's state, and where in the text the tokens that it has read stand.

    places (Longs): The last tokens that were read, as numbers in the text.
    """

    state: ReaderState
    places: Longs
    n_tokens: int = 0


class EntityReader:
    """Reads all mentions of a text into memory cells, from left to right."""

    labels = TYPES
    schemes = SCHEMES

    def __init__(
        self,
        weights: ReaderWeights,
        encode: Encode,
        get_loss: Loss,
        *,
        lookahead: bool,
        needs_past: bool,
    ) -> None:
        self.weights = weights
        self.encode = encode
        self.n_cells = weights.n_cells
        self.lookahead = lookahead
        self.needs_past = needs_past
        self.get_loss = get_loss

    def start(self) -> TextReading:
        """The state before a text's first token."""
        return TextReading(self.weights.start(), np.zeros(0, np.int64))

    def read(
        self,
        states: Sequence[TextReading],
        docs: Sequence[Doc | Span],
        *,
        gates: bool = False,
        last: bool = False,
    ) -> list[Part]:
        """Go on with several texts; their states are brought up to date."""
        tokens = [
            token_rows(doc, text.state.text, speaker_hashes(doc))
            for text, doc in zip(states, docs, strict=True)
        ]
        vectors = [
            each[part.places]
            for each, part in zip(self.encode(docs), tokens, strict=True)
        ]
        before = [text.state.memory.cells.standing() for text in states]
        parts: list[ReadPart] = []
        for some in runs([len(part.rows) for part in tokens], AT_ONCE):
            parts += read_parts(
                self.weights,
                [text.state for text in states[some]],
                [part.rows for part in tokens[some]],
                vectors[some],
                links=gates,
                last=last,
            )
        found = []
        for i, (text, token, part) in enumerate(
            zip(states, tokens, parts, strict=True)
        ):
            places = np.concatenate([text.places, token.places + text.n_tokens])
            decided = self._part(part, places, text)
            if gates:
                heads = decided.mentions.head - text.n_tokens
                kept = _gates(part, heads, len(docs[i]), before[i])
                decided = replace(decided, gates=kept)
            found.append(decided)
            text.places = places[-RECENT:].copy()
            text.n_tokens += len(docs[i])
        return found

    def _part(self, part: ReadPart, places: Longs, text: TextReading) -> Part:
        """places (Longs): The tokens that were read, from some that came before."""
        first = part.first - len(text.places)
        choices = part.choices
        held = text.state.memory.entities
        mentions = Mentions(
            part.number,
            places[part.head - first],
            places[part.start - first],
            choices.entity,
            choices.is_new,
            choices.probability,
            part.types,
            part.schemes,
            part.clues,
        )
        ends = places[part.ends - first] + 1
        return Part(mentions, part.closed, ends, held[held >= 0])

    def progress(self, text: TextReading) -> Progress:
        """How far the text of a state was read."""
        return Progress(
            text.n_tokens, text.state.memory.n_mentions, text.places.tolist()
        )

    def to_saved(self, text: TextReading) -> dict[str, Any]:
        """A state as what msgpack can store."""
        return {
            "places": text.places,
            "n_tokens": text.n_tokens,
            "state": state_to_saved(text.state),
        }

    def from_saved(self, saved: dict[str, Any]) -> TextReading:
        """A state again; a ValueError if it isn't one of this reader."""
        state = state_from_saved(self.weights, saved["state"])
        places = np.asarray(saved["places"])
        n_tokens = saved["n_tokens"]
        if (
            places.dtype != np.int64
            or places.ndim != 1
            or len(places) != min(RECENT, state.n_read)
            or not isinstance(n_tokens, int)
            or (len(places) and not 0 <= places[0] <= places[-1] < n_tokens)
            or (np.diff(places) <= 0).any()
        ):
            raise ValueError(Errors.R257.format(name="places"))
        return TextReading(state, places.copy(), n_tokens)


def runs(sizes: Sequence[int], most: int) -> Iterator[slice]:
    """Cut a sequence where the sizes would sum to more than so much."""
    begin = total = 0
    for i, size in enumerate(sizes):
        if i > begin and total + size > most:
            yield slice(begin, i)
            begin, total = i, 0
        total += size
    if sizes:
        yield slice(begin, len(sizes))


def _gates(part: ReadPart, heads: Longs, n_tokens: int, before: Longs) -> Reading:
    """What heads did to cells; all other tokens do nothing (T, M).

    before (Longs): The cells' standing before the first of these tokens (M,).
    """
    links, standing = part.choices.links, part.choices.standing
    shape = n_tokens, len(before)
    update, overwrite = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    if links is None or standing is None:
        return Reading(update, overwrite, overwrite.copy())
    standing = np.concatenate([before[None], standing])  # (1 + K, M)
    mention = part.schemes[:, READ_BY].max(axis=1)  # (K,)
    update[heads] = links * mention[:, None]
    new = np.clip(1 - links.sum(axis=1), 0, 1) * mention
    overwrite[heads, standing[:-1].argmin(axis=1)] = new
    numbers = part.number - 1 + np.arange(len(standing))
    age = np.maximum(numbers[:, None] - standing, 0)
    salience = np.where(standing < 0, 0, 0.5 ** (age / HALF_LIFE)).astype(np.float32)
    after = np.searchsorted(heads, np.arange(n_tokens), side="right")
    return Reading(update, overwrite, salience[after])
