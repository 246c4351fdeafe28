"""What is read for visitors: a stream each, and the latest readings to group again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from refreader_spacy.annotation.extensions import write_clusters
from refreader_spacy.annotation.record import record
from refreader_spacy.component import RefReader
from refreader_spacy.decoding.decoder import decode
from refreader_spacy.errors import Errors
from refreader_spacy.lang.en.words import token_kinds
from refreader_spacy.page.payload import (
    CellContents,
    Json,
    clusters_payload,
    text_payload,
)
from refreader_spacy.paper.inference import ReaderModel
from refreader_spacy.protocol import Reading
from refreader_spacy.streaming.stream import Stream

FIRST, PIECE = 300, 2000  # characters read at a time; at first few, to be seen at once
KEPT = 1_000_000  # tokens of texts that can be grouped again: more than one text has


class Message(NamedTuple):
    """What the page is told while a text is read."""

    event: str
    data: Json


@dataclass
class VisitorsPipe:
    """The pipe with a visitor's own threshold, which no other visitor notices."""

    name: str
    vocab: Vocab
    model: ReaderModel
    threshold: float
    keep_singletons: bool
    lookahead: bool


class Kept(NamedTuple):
    """A text that was read, and what the memory did."""

    doc: Doc
    reading: Reading


class Library:
    """Reads for several visitors side by side, and keeps what was read last."""

    def __init__(self, reader: RefReader) -> None:
        reader.stream()  # what can't be streamed is an error before anyone comes
        self.reader = reader
        (nothing,) = reader.predict([Doc(reader.vocab)])
        self.n_cells = nothing.n_cells
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        # A vocab isn't made for threads: visitors take turns, piece by piece
        self._turn = Lock()

    def read(self, text: str, threshold: float | None = None) -> Iterator[Message]:
        """Read a text and tell what happens, piece by piece; at last, what was found.

        threshold (float | None): A link counts from here; by default, the pipe's own.
        """
        threshold = self.reader.threshold if threshold is None else threshold
        yield Message("start", {"cells": self.n_cells, "threshold": threshold})
        stream = self._stream(threshold)
        contents = CellContents(self.n_cells)
        seen: list[tuple[Doc, Reading]] = []
        stream.watch = lambda doc, reading: seen.append((doc, reading))
        for piece in [*pieces(text), None]:
            n_sent = len(seen)
            with self._turn:
                events = stream.close() if piece is None else stream.feed(piece)
            yield Message("read", text_payload(seen[n_sent:], events, contents))
        name = hashlib.sha256(text.encode()).hexdigest()
        with self._turn:
            self._keep(name, seen)
            found = self._found(name, threshold)
        yield Message("found", found)

    def regroup(self, name: str, threshold: float) -> Json:
        """What is found in a text that was read before, at any threshold.

        name (str): What the reading was called when the text was read.
        """
        with self._turn:
            if name not in self._kept:
                raise LookupError(Errors.R264)
            return self._found(name, threshold)

    def _found(self, name: str, threshold: float) -> Json:
        self._kept.move_to_end(name)
        doc, reading = self._kept[name]
        clusters = decode(reading, threshold, token_kinds(doc))
        write_clusters(doc, clusters, keep_singletons=self.reader.keep_singletons)
        return {
            "name": name,
            "threshold": threshold,
            **clusters_payload(clusters, doc),
            "record": record("page", doc),
        }

    def _stream(self, threshold: float) -> Stream:
        reader = self.reader
        pipe = VisitorsPipe(
            name=reader.name,
            vocab=reader.vocab,
            model=reader.model,
            threshold=threshold,
            keep_singletons=reader.keep_singletons,
            lookahead=reader.lookahead,
        )
        return Stream(pipe, reader.tokenizer)

    def _keep(self, name: str, seen: list[tuple[Doc, Reading]]) -> None:
        """Join what was read in pieces; the oldest goes if there is too much."""
        tokens = [token for doc, _ in seen for token in doc]
        doc = Doc(
            self.reader.vocab,
            words=[token.text for token in tokens],
            spaces=[bool(token.whitespace_) for token in tokens],
        )
        none = np.zeros((0, self.n_cells), np.float32)
        gates = [
            np.concatenate([none, *(getattr(part, gate) for _, part in seen)])
            for gate in ("update", "overwrite", "salience")
        ]
        self._kept[name] = Kept(doc, Reading(*gates))
        self._kept.move_to_end(name)
        while sum(len(kept.doc) for kept in self._kept.values()) > KEPT:
            self._kept.popitem(last=False)


def pieces(text: str) -> Iterator[str]:
    """The text in parts that are read in one go."""
    yield text[:FIRST]
    for start in range(FIRST, len(text), PIECE):
        yield text[start : start + PIECE]
