"""Reads texts for the page's clients, a stream each, and stores the latest readings."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from refreader_spacy.annotation.extensions import write_clusters
from refreader_spacy.annotation.record import record
from refreader_spacy.batching import joined
from refreader_spacy.component import RefReader
from refreader_spacy.decoding.clusters import decode_clusters
from refreader_spacy.errors import Errors
from refreader_spacy.page.payload import (
    CellContents,
    Json,
    clusters_payload,
    text_payload,
)
from refreader_spacy.protocol import Part, Past, Reader, ReaderModel
from refreader_spacy.streaming.stream import Stream
from refreader_spacy.tokenization import tokenize

FIRST, PIECE = (
    300,
    2000,
)  # characters of the first piece, shown soon, and the others
MAX_STORED = 1_000_000  # tokens of all stored texts; more than the longest text has


class Message(NamedTuple):
    """A server-sent event of a text that is being read."""

    event: str
    data: Json


@dataclass
class PipeSettings:
    """The pipe's settings with one client's own threshold."""

    name: str
    vocab: Vocab
    model: ReaderModel
    threshold: float
    keep_singletons: bool
    scheme: int | None
    past: Callable[[], Past]

    def scheme_number(self, reader: Reader) -> int | None:
        """The scheme whose mentions count, as the pipe has it."""
        return self.scheme


class StoredReading(NamedTuple):
    """A text that was read, and what was decided."""

    doc: Doc
    part: Part


class ReadingService:
    """Reads for several clients at the same time; stores the latest readings."""

    def __init__(self, reader: RefReader) -> None:
        reader.stream()  # fails here if the encoder can't be streamed
        self.reader = reader
        self.n_cells = reader.reader.n_cells
        self._stored: OrderedDict[str, StoredReading] = OrderedDict()
        # A Vocab isn't thread-safe: one client's piece is read at a time
        self._lock = Lock()

    def read(self, text: str, threshold: float | None = None) -> Iterator[Message]:
        """Read a text: an event for each piece, and a last one with all clusters.

        threshold (float | None): A link counts from here; by default, the pipe's own.
        """
        threshold = self.reader.threshold if threshold is None else threshold
        yield Message("start", {"cells": self.n_cells, "threshold": threshold})
        stream = self._stream(threshold)
        contents = CellContents(self.n_cells)
        seen: list[tuple[Doc, Part]] = []
        stream.watch = lambda doc, part: seen.append((doc, part))
        for piece in [*pieces(text), None]:
            n_sent = len(seen)
            with self._lock:
                events = stream.close() if piece is None else stream.feed(piece)
            yield Message("read", text_payload(seen[n_sent:], events, contents))
        name = hashlib.sha256(text.encode()).hexdigest()
        with self._lock:
            self._store(name, seen)
            found = self._found(name, threshold)
        yield Message("found", found)

    def regroup(self, name: str, threshold: float) -> Json:
        """The clusters of a text that was read before, at another threshold.

        name (str): The name that was sent with the text's last event.
        """
        with self._lock:
            if name not in self._stored:
                raise LookupError(Errors.R264)
            return self._found(name, threshold)

    def _found(self, name: str, threshold: float) -> Json:
        self._stored.move_to_end(name)
        doc, part = self._stored[name]
        reader = self.reader.reader
        scheme = self.reader.scheme_number(reader)
        clusters = list(
            decode_clusters(part, threshold, labels=reader.labels, scheme=scheme)
        )
        write_clusters(doc, clusters, keep_singletons=self.reader.keep_singletons)
        return {
            "name": name,
            "threshold": threshold,
            **clusters_payload(clusters, doc),
            "record": record("page", doc),
        }

    def _stream(self, threshold: float) -> Stream:
        reader = self.reader
        pipe = PipeSettings(
            name=reader.name,
            vocab=reader.vocab,
            model=reader.model,
            threshold=threshold,
            keep_singletons=reader.keep_singletons,
            scheme=reader.scheme_number(reader.reader),
            past=reader.past,
        )
        tokenizer = reader.tokenizer and partial(tokenize, reader.tokenizer)
        return Stream(pipe, tokenizer)

    def _store(self, name: str, seen: list[tuple[Doc, Part]]) -> None:
        """Join and store what was read in pieces; drop the oldest beyond the limit."""
        tokens = [token for doc, _ in seen for token in doc]
        doc = Doc(
            self.reader.vocab,
            words=[token.text for token in tokens],
            spaces=[bool(token.whitespace_) for token in tokens],
        )
        self._stored[name] = StoredReading(doc, joined([part for _, part in seen]))
        self._stored.move_to_end(name)
        while sum(len(kept.doc) for kept in self._stored.values()) > MAX_STORED:
            self._stored.popitem(last=False)


def pieces(text: str) -> Iterator[str]:
    """The text in parts of a size that is read at once."""
    yield text[:FIRST]
    for start in range(FIRST, len(text), PIECE):
        yield text[start : start + PIECE]
