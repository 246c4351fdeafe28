"""A reading that is still going on: feed text, get events, save and resume."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from spacy.attrs import IDX
from spacy.language import Language
from spacy.tokens import Doc, Span

from refreader_spacy.corpora.span_groups import SPEAKERS
from refreader_spacy.errors import Errors
from refreader_spacy.protocol import BLOCK, Part, Pipe, reader_of
from refreader_spacy.streaming.events import ClusterFinished, Event, Mention
from refreader_spacy.streaming.open_clusters import OpenClusters
from refreader_spacy.streaming.pieces import Piece, check_piece, part_of
from refreader_spacy.streaming.saved_stream import SavedStream, loaded, packed
from refreader_spacy.streaming.token_buffer import TextPart, TokenBuffer
from refreader_spacy.streaming.transient_vocab import TransientVocabs, Words
from refreader_spacy.tokenization import tokenize


class Stream:
    """Reads a text piece by piece as if it were whole, in bounded memory."""

    def __init__(
        self,
        pipe: Pipe,
        tokenizer: Callable[[str], Doc] | None = None,
        vocabs: TransientVocabs | None = None,
    ) -> None:
        """Made by the pipe's `stream()`.

        tokenizer (Callable | None): For pieces that are strings.
        vocabs (TransientVocabs | None): What streams of the pipe keep words in.
        """
        self.pipe = pipe
        self.tokenizer = tokenizer
        self._vocabs = vocabs or TransientVocabs(pipe.vocab)
        # Sees what the memory does at tokens, before they are decided on
        self.watch: Callable[[Doc, Part], None] | None = None
        self.reset()

    def reset(self) -> None:
        """Another text begins: forget everything."""
        self._reader = reader_of(self.pipe.model)
        if self._reader.lookahead:
            raise ValueError(Errors.R250.format(name=self.pipe.name))
        self._past = self.pipe.past() if self._reader.needs_past else None
        self._state = self._reader.start()
        self._clusters = OpenClusters(self.pipe, self._reader)
        self._text = TokenBuffer()
        self._speaker: str | None = None
        self._closed = False

    @property
    def clusters(self) -> list[list[Mention]]:
        """The entities that can still be referred to, with their mentions so far."""
        return [mentions for _, mentions in self._clusters.growing()]

    def feed(
        self, piece: Piece, meta: Any = None, *, speaker: str | None = None
    ) -> list[Event]:
        """Go on with a piece of text, cut anywhere; or with tokens.

        piece (str | Doc | Span | Sequence[str]): Half a word at the end of a string
            waits for its other half. Tokens in a list count as one space apart.
        meta (Any): Comes back in the mentions that begin in this piece.
        speaker (str | None): Who says it. Where another speaker begins, a word ends.
        """
        if self._closed:
            raise ValueError(Errors.R252)
        check_piece(piece, speaker)
        events: list[Event] = []
        if speaker != self._speaker:
            events += self._read_text(self._text.take_all())
            self._speaker = speaker
        if isinstance(piece, str):
            return events + self._read_text(self._text.add(piece, meta))
        events += self._read_text(self._text.take_all())
        if isinstance(piece, Span):
            piece = part_of(piece)
        elif not isinstance(piece, Doc):
            with self._zone() as words:
                doc = Doc(words.vocab, words=list(piece))
                return events + self._read(doc, [meta] * len(doc))
        elif self._past is not None:  # it will be written on
            piece = piece.copy()
        return events + self._read(piece, [meta] * len(piece))

    def close(self) -> list[Event]:
        """The text ends here: read what was held back and finish all clusters."""
        if self._closed:
            return []
        events = self._read_text(self._text.take_all())
        events += self._read_block(Doc(self.pipe.vocab), [], last=True)
        events += [ClusterFinished(*grown) for grown in self._clusters.growing()]
        self._closed = True
        return events

    def _read_text(self, parts: list[TextPart]) -> list[Event]:
        if not parts:
            return []
        if self.tokenizer is None:
            raise ValueError(Errors.R251.format(name=self.pipe.name))
        with self._zone() as words:
            tokenizer = words.tokenizer or self.tokenizer
            doc = tokenize(tokenizer, "".join(part.text for part in parts))
            if self._speaker is not None:
                whole = [Span(doc, 0, len(doc), label=self._speaker)]
                doc.spans[SPEAKERS] = whole if len(doc) else []
            stops = np.cumsum([len(part.text) for part in parts])
            places = np.searchsorted(stops, doc.to_array([IDX]).ravel(), side="right")
            return self._read(doc, [parts[i].meta for i in places])

    def _zone(self) -> AbstractContextManager[Words]:
        """New words are forgotten again: a stream may bring any number of them."""
        if self.watch is not None:  # who watches keeps Docs
            return nullcontext(Words(self.pipe.vocab, self.tokenizer))
        return self._vocabs.zone(self.tokenizer)

    def _read(self, doc: Doc, metas: list[Any]) -> list[Event]:
        """Read tokens, of any number, in blocks."""
        events: list[Event] = []
        for start in range(0, len(doc), BLOCK):
            part = doc if len(doc) <= BLOCK else part_of(doc[start : start + BLOCK])
            events += self._read_block(part, metas[start : start + BLOCK])
        return events

    def _read_block(
        self, doc: Doc, metas: list[Any], *, last: bool = False
    ) -> list[Event]:
        self._clusters.add(doc, metas)
        if self._past is not None:
            self._past.read(doc)
        (part,) = self._reader.read(
            [self._state], [doc], gates=self.watch is not None, last=last
        )
        if self.watch is not None:
            self.watch(doc, part)
        return list(self._clusters.report(part))

    def to_bytes(self) -> bytes:
        """Everything but the pipe: `from_bytes` goes on from here."""
        return packed(
            {
                "pipe": self.pipe.name,
                "state": self._reader.to_saved(self._state),
                "past": None if self._past is None else self._past.to_saved(),
                **self._clusters.to_saved(),
                "text": [list(part) for part in self._text.parts],
                "speaker": self._speaker,
                "closed": self._closed,
            }
        )

    @classmethod
    def from_bytes(cls, nlp: Language, data: bytes) -> Stream:
        """Go on where `to_bytes` was called, with the same pipeline.

        nlp (Language): Has the pipe that the stream was made by.
        data (bytes): What `to_bytes` gave.
        """
        saved = loaded(data)
        if saved.pipe not in nlp.pipe_names:
            raise ValueError(Errors.R256.format(name=saved.pipe, found=nlp.pipe_names))
        pipe: Any = nlp.get_pipe(saved.pipe)
        if not hasattr(pipe, "stream"):
            raise ValueError(Errors.R257.format(name="pipe"))
        stream: Stream = pipe.stream()
        stream.tokenizer = nlp.tokenizer
        stream._restore(saved)
        return stream

    def _restore(self, saved: SavedStream) -> None:
        try:
            self._state = self._reader.from_saved(saved.state)
            if self._past is not None:
                self._past.restore(saved.past or {})
        except Exception as error:  # plain data may be anything
            if str(error).startswith("[R"):
                raise
            raise ValueError(Errors.R257.format(name=repr(error))) from error
        saved.check(self._reader.progress(self._state), len(self._reader.schemes))
        self._clusters.restore(saved)
        self._text.restore(saved.text)
        self._speaker, self._closed = saved.speaker, saved.closed
