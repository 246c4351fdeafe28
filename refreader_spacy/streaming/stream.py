"""A reading that is still going on: feed text, get events, save and resume."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
from spacy.attrs import IDX
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.tokens import Token as SpacyToken
from spacy.vocab import Vocab

from refreader_spacy.corpora.span_groups import SPEAKER_LABELS, SPEAKERS
from refreader_spacy.decoding.decoder import Decided, Decoder, Forgotten
from refreader_spacy.errors import Errors
from refreader_spacy.protocol import BLOCK, Part, Past, Reader, ReaderModel, reader_of
from refreader_spacy.streaming.events import (
    ClusterFinished,
    EntityForgotten,
    Event,
    LinkMade,
    Mention,
    MentionClosed,
    MentionStored,
)
from refreader_spacy.streaming.saved_stream import (
    N_TOKENS,
    SavedStream,
    loaded,
    packed,
)
from refreader_spacy.streaming.token_buffer import Part as TextPart
from refreader_spacy.streaming.token_buffer import Token, TokenBuffer
from refreader_spacy.tokenization import tokenize

LATEST = 1000  # mentions that it keeps of one entity
LONGEST_SPACE = 1000  # characters of white space inside of a mention
LATELY = 64  # of them that another may go on with

Piece = str | Doc | Span | Sequence[str]


class Pipe(Protocol):
    """What a stream needs of its pipe."""

    name: str
    vocab: Vocab
    model: ReaderModel
    threshold: float
    keep_singletons: bool

    def scheme_number(self, reader: Reader) -> int | None: ...

    def past(self) -> Past: ...


def rows(clusters: dict[int, tuple[int, int]]) -> list[list[int]]:
    """What a decoder knows of clusters, as msgpack can store it."""
    return [[key, *known] for key, known in clusters.items()]


def part_of(span: Span) -> Doc:
    """A part of a Doc by itself, with who says what in it."""
    part = span.as_doc()
    for key in (SPEAKERS, SPEAKER_LABELS):
        if key in span.doc.spans:
            part.spans[key] = [
                Span(
                    part,
                    max(turn.start, span.start) - span.start,
                    min(turn.end, span.end) - span.start,
                    label=turn.label,
                )
                for turn in span.doc.spans[key]
                if turn.start < span.end and turn.end > span.start
            ]
    return part


class Stream:
    """Reads a text piece by piece as if it were whole, in bounded memory."""

    def __init__(
        self, pipe: Pipe, tokenizer: Callable[[str], Doc] | None = None
    ) -> None:
        """Made by the pipe's `stream()`.

        tokenizer (Callable | None): For pieces that are strings.
        """
        self.pipe = pipe
        self.tokenizer = tokenizer
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
        scheme = self.pipe.scheme_number(self._reader)
        self._decoder = Decoder(self.pipe.threshold, scheme)
        self._entities: dict[int, deque[int]] = {}  # numbers of mentions
        self._mentions: dict[int, Mention] = {}
        self._open: dict[int, int] = {}  # mentions without a right edge: their starts
        self._spans: set[tuple[int, int]] = set()  # of mentions that were closed lately
        self._leaving: set[int] = set()  # clusters that go when all of it is closed
        self._tokens: list[Token] = []  # the last ones
        self._n_tokens = self._n_chars = 0
        self._text = TokenBuffer()
        self._speaker: str | None = None
        self._closed = False

    @property
    def clusters(self) -> list[list[Mention]]:
        """The entities that can still be referred to, with their mentions so far."""
        return [
            [self._mentions[number] for number in numbers]
            for numbers in self._entities.values()
            if self._counts(numbers)
        ]

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
        events: list[Event] = []
        if speaker != self._speaker:
            events += self._read_text(self._text.take_all())
            self._speaker = speaker
        if isinstance(piece, str):
            return events + self._read_text(self._text.add(piece, meta))
        if isinstance(piece, Span):
            piece = part_of(piece)
        elif not isinstance(piece, Doc):
            piece = Doc(self.pipe.vocab, words=list(piece))
        elif self._past is not None:  # it will be written on
            piece = piece.copy()
        events += self._read_text(self._text.take_all())
        return events + self._read(piece, [meta] * len(piece))

    def close(self) -> list[Event]:
        """The text ends here: read what was held back and finish all clusters."""
        if self._closed:
            return []
        events = self._read_text(self._text.take_all())
        events += self._read_block(Doc(self.pipe.vocab), [], last=True)
        events += [
            ClusterFinished(entity, [self._mentions[n] for n in numbers])
            for entity, numbers in self._entities.items()
            if self._counts(numbers)
        ]
        self._closed = True
        return events

    def _counts(self, mentions: Sequence[Any]) -> bool:
        return len(mentions) > (0 if self.pipe.keep_singletons else 1)

    def _read_text(self, parts: list[TextPart]) -> list[Event]:
        if not parts:
            return []
        if self.tokenizer is None:
            raise ValueError(Errors.R251.format(name=self.pipe.name))
        with self._zone():
            doc = tokenize(self.tokenizer, "".join(part.text for part in parts))
            if self._speaker is not None:
                whole = [Span(doc, 0, len(doc), label=self._speaker)]
                doc.spans[SPEAKERS] = whole if len(doc) else []
            stops = np.cumsum([len(part.text) for part in parts])
            part_of = np.searchsorted(stops, doc.to_array([IDX]).ravel(), side="right")
            return self._read(doc, [parts[i].meta for i in part_of])

    def _zone(self) -> AbstractContextManager[Any]:
        """New words are forgotten again: a stream may bring any number of them."""
        vocab: Any = self.pipe.vocab
        if self.watch is not None or vocab.in_memory_zone:  # who watches keeps Docs
            return nullcontext()
        zone: AbstractContextManager[Any] = vocab.memory_zone()
        return zone

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
        for token, meta in zip(doc, metas, strict=True):
            self._add(token, meta)
        self._n_tokens += len(doc)
        self._n_chars += len(doc.text)
        if self._past is not None:
            self._past.read(doc)
        (part,) = self._reader.read(
            [self._state], [doc], gates=self.watch is not None, last=last
        )
        if self.watch is not None:
            self.watch(doc, part)
        events = list(self._report(part))
        del self._tokens[:-N_TOKENS]
        first = self._tokens[0].number if self._tokens else 0
        self._spans = {span for span in self._spans if span[0] >= first}
        return events

    def _add(self, token: SpacyToken, meta: Any) -> None:
        """Keep a token; white space, which no mention ends in, with the one before."""
        if token.is_space and self._tokens:
            last = self._tokens[-1]
            space = (last.space + token.text_with_ws)[:LONGEST_SPACE]
            self._tokens[-1] = last._replace(space=space)
        else:
            number, start = self._n_tokens + token.i, self._n_chars + token.idx
            self._tokens.append(
                Token(number, token.text, token.whitespace_, start, meta)
            )

    def _report(self, part: Part) -> Iterator[Event]:
        """What happened, in the order of the tokens at which it did."""
        pairs = zip(part.closed.tolist(), part.ends.tolist(), strict=True)
        closed = deque(pairs)
        for decided in self._decoder.decide(part):
            while closed and closed[0][1] <= decided.head:
                yield from self._close(*closed.popleft())
            if isinstance(decided, Forgotten):
                self._leaving.add(decided.cluster)
                yield from self._let_go()
            else:
                self._leaving.discard(decided.cluster)  # found again
                yield from self._store(decided)
        for number, end in closed:
            yield from self._close(number, end)
        growing = self._decoder.release(part)
        self._leaving |= {e for e in self._entities if e not in growing}
        yield from self._let_go()

    def _store(self, decided: Decided) -> Iterator[Event]:
        if self._open.pop(decided.instead_of, None) is not None:
            yield MentionClosed(self._mentions[decided.instead_of])
        self._drop(decided.instead_of)
        mention = self._mention(decided, decided.head + 1)
        self._mentions[decided.number] = mention
        self._open[decided.number] = decided.start
        numbers = self._entities.setdefault(decided.cluster, deque())
        numbers.append(decided.number)
        if len(numbers) > LATEST:
            self._mentions.pop(numbers.popleft())
        yield MentionStored(mention)
        if len(numbers) > 1:
            antecedent = self._mentions[numbers[-2]]
            yield LinkMade(antecedent, mention, decided.probability)

    def _close(self, number: int, end: int) -> Iterator[Event]:
        """The right edge of a mention is known."""
        if self._open.pop(number, None) is not None and number in self._mentions:
            mention = self._extended(self._mentions[number], end)
            self._mentions[number] = mention
            yield MentionClosed(mention)
            self._drop_if_doubled(number, mention)
            if mention.entity in self._leaving:
                yield from self._let_go()

    def _drop_if_doubled(self, number: int, mention: Mention) -> None:
        """Two heads may have come out with one span, which is one mention; or with one
        that another mention of the entity goes on with: see `without_beginnings`."""
        span = mention.start, mention.end
        if span in self._spans:
            self._drop(number)
            return
        self._spans.add(span)
        for other in list(self._entities[mention.entity])[-LATELY:]:
            before = self._mentions[other]
            if before.start == mention.start and other not in self._open:
                if before.end < mention.end:
                    self._drop(other)
                elif before.end > mention.end:
                    self._drop(number)

    def _drop(self, number: int) -> None:
        """What came out to be no mention of its own goes, if it is still there."""
        mention = self._mentions.pop(number, None)
        if mention is not None:
            self._entities[mention.entity].remove(number)

    def _mention(self, decided: Decided, end: int) -> Mention:
        first = self._tokens[self._place(decided.start)]
        return Mention(
            entity=decided.cluster,
            text=self._text_of(decided.start, end),
            start=decided.start,
            end=end,
            start_char=first.start,
            end_char=self._end_char(end),
            head=decided.head,
            label=self._reader.labels[decided.label],
            meta=first.meta,
        )

    def _extended(self, mention: Mention, end: int) -> Mention:
        text = self._text_of(mention.start, end)
        return mention._replace(end=end, text=text, end_char=self._end_char(end))

    def _place(self, number: int) -> int:
        """Where a token is among those that are kept."""
        return bisect_left(self._tokens, number, key=attrgetter("number"))

    def _end_char(self, end: int) -> int:
        last = self._tokens[self._place(end - 1)]
        return last.start + len(last.text)

    def _text_of(self, start: int, end: int) -> str:
        tokens = self._tokens[self._place(start) : self._place(end)]
        text = "".join(token.text + token.space for token in tokens)
        return text.removesuffix(tokens[-1].space if tokens else "")

    def _let_go(self) -> Iterator[Event]:
        """Hand out the clusters that were forgotten, once their mentions are closed."""
        if not self._leaving:
            return
        opened = {self._mentions[n].entity for n in self._open if n in self._mentions}
        for entity in sorted(self._leaving - opened):
            self._leaving.discard(entity)
            numbers = self._entities.pop(entity, deque())
            mentions = [self._mentions.pop(number) for number in numbers]
            yield EntityForgotten(entity)
            if self._counts(mentions):
                yield ClusterFinished(entity, mentions)

    def to_bytes(self) -> bytes:
        """Everything but the pipe: `from_bytes` goes on from here."""
        return packed(
            {
                "pipe": self.pipe.name,
                "state": self._reader.to_saved(self._state),
                "past": None if self._past is None else self._past.to_saved(),
                "decoder": {
                    "threshold": self._decoder.threshold,
                    "scheme": self._decoder.scheme,
                    "n_clusters": self._decoder.n_clusters,
                    "clusters": rows(self._decoder.clusters),
                    "speakers": rows(self._decoder.speakers),
                    "names": [
                        [c, [[*name, n] for name, n in names.items()]]
                        for c, names in self._decoder.names.items()
                    ],
                    "forgotten": [
                        [*name, *c] for name, c in self._decoder.forgotten.items()
                    ],
                    "begun": self._decoder.begun,
                },
                "entities": [[e, list(n)] for e, n in self._entities.items()],
                "mentions": [[n, list(m)] for n, m in self._mentions.items()],
                "open": list(self._open.items()),
                "spans": sorted(self._spans),
                "leaving": sorted(self._leaving),
                "tokens": [list(token) for token in self._tokens],
                "n_tokens": self._n_tokens,
                "n_chars": self._n_chars,
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
        decoder = saved.decoder
        self._decoder = Decoder(
            decoder.threshold,
            decoder.scheme,
            decoder.n_clusters,
            {entity: (cluster, number) for entity, cluster, number in decoder.clusters},
        )
        self._decoder.speakers = {s: (c, n) for s, c, n in decoder.speakers}
        self._decoder.names = {
            c: {(name, gender): n for name, gender, n in names}
            for c, names in decoder.names
        }
        self._decoder.forgotten = {
            (name, gender): (c, latest, n)
            for name, gender, c, latest, n in decoder.forgotten
        }
        self._decoder.begun = decoder.begun
        self._entities = {e: deque(numbers) for e, numbers in saved.entities}
        self._mentions = dict(saved.mentions)
        self._open = dict(saved.open)
        self._spans = {*saved.spans}
        self._leaving = {*saved.leaving}
        self._tokens = saved.tokens
        self._n_tokens, self._n_chars = saved.n_tokens, saved.n_chars
        self._text.restore(saved.text)
        self._speaker, self._closed = saved.speaker, saved.closed
