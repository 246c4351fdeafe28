"""A reading that is still going on: feed text as it comes, get events, save and resume.

Shapes: T tokens of a piece, M memory cells.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, Protocol

import numpy as np
import srsly
from spacy.attrs import IDX
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from refreader_spacy.decoding.decoder import Decoder, Found, OpenMention, TokenKind
from refreader_spacy.decoding.decoder import Mention as Place
from refreader_spacy.errors import Errors
from refreader_spacy.lang.en.words import HYPHENS, INSIDE, said_of_name, token_kinds
from refreader_spacy.paper.inference import ReaderModel, doc_of, encode, weights_of
from refreader_spacy.protocol import BLOCK, Array, Reading
from refreader_spacy.streaming.events import (
    ClusterFinished,
    EntityForgotten,
    Event,
    LinkMade,
    Mention,
    MentionStored,
)
from refreader_spacy.streaming.token_buffer import Part, TokenBuffer

TIDY = 64  # tokens after which the stream lets go of what the memory has forgotten
LATEST = 1000  # mentions that it keeps of one entity
FORMAT = "refreader stream 2"

Piece = str | Doc | Span | Sequence[str]


class Pipe(Protocol):
    """What a stream needs of its pipe."""

    name: str
    vocab: Vocab
    model: ReaderModel
    threshold: float
    keep_singletons: bool

    @property
    def lookahead(self) -> bool: ...


class Token(NamedTuple):
    """A token that a mention may begin with or go on with."""

    text: str
    space: str
    start: int  # character
    meta: Any


class Stream:
    """Reads a text piece by piece as if it were whole, in bounded memory."""

    def __init__(
        self, pipe: Pipe, tokenizer: Callable[[str], Doc] | None = None
    ) -> None:
        """Made by the pipe's `stream()`.

        tokenizer (Callable | None): For pieces that are strings.
        """
        if pipe.lookahead:
            raise ValueError(Errors.R250.format(name=pipe.name))
        self.pipe = pipe
        self.tokenizer = tokenizer
        # Sees what the memory does at tokens, before they are decided on
        self.watch: Callable[[Doc, Reading], None] | None = None
        self.reset()

    def reset(self) -> None:
        """Another text begins: forget everything."""
        self._read_from(None)
        n_cells = self._reader.weights.n_cells
        self._decoder = Decoder(n_cells, self.pipe.threshold)
        self._entities: dict[int, deque[Mention]] = {}
        self._known: dict[tuple[int, int], Mention] = {}  # by place, for links
        self._tokens: deque[Token] = deque()  # from where a mention may begin
        self._first = 0  # the number of the first of them
        self._n_chars = 0
        self._text = TokenBuffer()
        # Gates of a hyphen that is part of a word if another token follows
        self._late: Array | None = None  # (2, 1, M)
        self._glued = False  # nothing stands between the last token and the next
        self._said = 0  # the gender of a name that the next token may go on with
        self._closed = False

    @property
    def clusters(self) -> list[list[Mention]]:
        """The entities that can still be referred to, with their mentions so far."""
        return [
            list(mentions)
            for mentions in self._entities.values()
            if self._counts(mentions)
        ]

    def feed(self, piece: Piece, meta: Any = None) -> list[Event]:
        """Go on with a piece of text, cut anywhere; or with tokens.

        piece (str | Doc | Span | Sequence[str]): Half a word at the end of a string
            waits for its other half. Tokens in a list count as one space apart.
        meta (Any): Comes back in the mentions that begin in this piece.
        """
        if self._closed:
            raise ValueError(Errors.R252)
        if isinstance(piece, str):
            return list(self._read_text(self._text.add(piece, meta)))
        if isinstance(piece, Span):
            doc = doc_of(piece)
        elif isinstance(piece, Doc):
            doc = piece
        else:
            doc = Doc(self.pipe.vocab, words=list(piece))
        events = list(self._read_text(self._text.take_all()))
        events += self._read(doc, [meta] * len(doc))
        return events

    def close(self) -> list[Event]:
        """The text ends here: read what was held back and finish all clusters."""
        if self._closed:
            return []
        events = list(self._read_text(self._text.take_all()))
        if self._late is not None:
            late, self._late = self._late, None
            events += self._decode(late, np.array([TokenKind.NEVER], np.uint8))
        events += self._report(self._decoder.finish())
        events += [
            ClusterFinished(entity, list(mentions))
            for entity, mentions in self._entities.items()
            if self._counts(mentions)
        ]
        self._closed = True
        return events

    def _counts(self, mentions: Sequence[Mention]) -> bool:
        return len(mentions) > 1 or bool(self.pipe.keep_singletons)

    def _read_text(self, parts: list[Part]) -> Iterator[Event]:
        if not parts:
            return
        if self.tokenizer is None:
            raise ValueError(Errors.R251.format(name=self.pipe.name))
        doc = self.tokenizer("".join(part.text for part in parts))
        stops = np.cumsum([len(part.text) for part in parts])
        part_of = np.searchsorted(stops, doc.to_array([IDX]).ravel(), side="right")
        yield from self._read(doc, [parts[i].meta for i in part_of])

    def _read(self, doc: Doc, metas: list[Any]) -> Iterator[Event]:
        """Read tokens, of any number, in blocks."""
        for start in range(0, len(doc), BLOCK):
            whole = len(doc) <= BLOCK
            part = doc if whole else doc_of(doc[start : start + BLOCK])
            yield from self._read_block(part, metas[start : start + BLOCK])

    def _read_block(self, doc: Doc, metas: list[Any]) -> Iterator[Event]:
        tokens = [
            Token(token.text, token.whitespace_, self._n_chars + token.idx, meta)
            for token, meta in zip(doc, metas, strict=True)
        ]
        self._tokens.extend(tokens)
        self._n_chars += len(doc.text)
        (vectors,) = encode(self.pipe.model, [doc])
        reading = self._reader.read(vectors, [len(doc)])
        if self.watch is not None:
            self.watch(doc, reading)
        gates = np.stack((reading.update, reading.overwrite))  # (2, T, M)
        kinds = token_kinds(doc, self._said)
        self._said = said_of_name(doc, self._said)
        # A hyphen inside a word is ordinary, also where pieces meet
        glued = [self._glued, *(not token.space for token in tokens[-2:])]
        first, last = tokens[0], tokens[-1]
        if len(tokens) > 1 and first.text in HYPHENS and glued[0] and not first.space:
            kinds[0] = INSIDE
        if self._late is not None:
            gates = np.concatenate((self._late, gates), axis=1)
            kinds = np.concatenate(([INSIDE], kinds)).astype(np.uint8)
            self._late = None
        if last.text in HYPHENS and glued[-2] and glued[-1]:
            self._late = gates[:, -1:]
            gates, kinds = gates[:, :-1], kinds[:-1]
        self._glued = glued[-1]
        yield from self._decode(gates, kinds)

    def _decode(self, gates: Array, kinds: Any) -> Iterator[Event]:
        """Decide, and let go of what is forgotten at the same tokens for any pieces.

        gates (Array): Update and overwrite (2, T, M).
        """
        start = 0
        while start < len(kinds):
            stop = start + TIDY - self._decoder.position % TIDY
            update, overwrite = gates[:, start:stop]
            found = self._decoder.read(update, overwrite, kinds[start:stop])
            yield from self._report(found)
            if self._decoder.position % TIDY == 0:
                yield from self._let_go()
            start = stop
        while self._first < self._decoder.needed:
            self._tokens.popleft()
            self._first += 1

    def _report(self, found: list[Found]) -> Iterator[Event]:
        for place, link in found:
            mention = self._mention(place)
            self._known[place.start, place.end] = mention
            mentions = self._entities.setdefault(place.cluster, deque(maxlen=LATEST))
            mentions.append(mention)
            yield MentionStored(mention)
            if link is not None:
                antecedent = self._known[link.antecedent.start, link.antecedent.end]
                yield LinkMade(antecedent, mention, link.probability)

    def _mention(self, place: Place) -> Mention:
        first, last = place.start - self._first, place.end - 1 - self._first
        tokens = [self._tokens[i] for i in range(first, last + 1)]
        text = "".join(token.text + token.space for token in tokens[:-1])
        text += tokens[-1].text
        start = tokens[0].start
        return Mention(
            entity=place.cluster,
            text=text,
            start=place.start,
            end=place.end,
            start_char=start,
            end_char=start + len(text),
            meta=tokens[0].meta,
        )

    def _let_go(self) -> Iterator[Event]:
        decoder = self._decoder
        decoder.release()
        places = set(decoder.owners)
        if decoder.open is not None and decoder.open.antecedent is not None:
            places.add(decoder.open.antecedent)
        kept = {(place.start, place.end) for place in places}
        self._known = {key: m for key, m in self._known.items() if key in kept}
        alive = {place.cluster for place in places}
        for entity in [e for e in self._entities if e not in alive]:
            mentions = self._entities.pop(entity)
            yield EntityForgotten(entity)
            if self._counts(mentions):
                yield ClusterFinished(entity, list(mentions))

    def _read_from(self, state: Any) -> None:
        weights = weights_of(self.pipe.model)
        if weights is None:
            raise ValueError(Errors.R253.format(name=self.pipe.name))
        self._reader = weights.documents(state)

    def to_bytes(self) -> bytes:
        """Everything but the pipe: `from_bytes` goes on from here."""
        decoder = self._decoder
        saved = {
            "format": FORMAT,
            "pipe": self.pipe.name,
            "state": self._reader.state._asdict(),
            "decoder": {
                "threshold": decoder.threshold,
                "position": decoder.position,
                "n_clusters": decoder.n_clusters,
                "open": decoder.open and asdict(decoder.open),
                "name": decoder.name,
                "owners": decoder.owners,
                "genders": list(decoder.genders.items()),
                "shares": decoder.shares,
                "left": decoder.left,
            },
            "entities": [[e, list(m)] for e, m in self._entities.items()],
            "known": list(self._known.values()),
            "tokens": list(self._tokens),
            "first": self._first,
            "n_chars": self._n_chars,
            "text": self._text.parts,
            "late": self._late,
            "glued": self._glued,
            "said": self._said,
            "closed": self._closed,
        }
        try:
            return bytes(srsly.msgpack_dumps(saved))
        except TypeError as error:
            raise ValueError(Errors.R254.format(problem=error)) from error

    @classmethod
    def from_bytes(cls, nlp: Language, data: bytes) -> Stream:
        """Go on where `to_bytes` was called, with the same pipeline."""
        try:
            saved = srsly.msgpack_loads(data)
        except ValueError as error:
            raise ValueError(Errors.R255.format(expected=FORMAT)) from error
        if not isinstance(saved, dict) or saved.get("format") != FORMAT:
            raise ValueError(Errors.R255.format(expected=FORMAT))
        name = saved["pipe"]
        if name not in nlp.pipe_names:
            raise ValueError(Errors.R256.format(name=name, found=nlp.pipe_names))
        pipe: Any = nlp.get_pipe(name)
        stream: Stream = pipe.stream()
        stream.tokenizer = nlp.tokenizer
        stream._restore(saved)
        return stream

    def _restore(self, saved: dict[str, Any]) -> None:
        state = type(self._reader.state)(**saved["state"])
        expected = [field.shape for field in self._reader.state]
        found = [field.shape for field in state]
        if found != expected:
            raise ValueError(Errors.R257.format(expected=expected, found=found))
        self._read_from(state)
        self._decoder = _decoder(saved["decoder"])
        self._entities = {
            entity: deque((Mention(*m) for m in mentions), maxlen=LATEST)
            for entity, mentions in saved["entities"]
        }
        known = [Mention(*m) for m in saved["known"]]
        self._known = {(m.start, m.end): m for m in known}
        self._tokens = deque(Token(*token) for token in saved["tokens"])
        self._first, self._n_chars = saved["first"], saved["n_chars"]
        self._text.parts = [Part(*part) for part in saved["text"]]
        self._late, self._glued = saved["late"], saved["glued"]
        self._said = saved["said"]
        self._closed = saved["closed"]


def _decoder(saved: dict[str, Any]) -> Decoder:
    decoder = Decoder(len(saved["left"]), saved["threshold"])
    decoder.position, decoder.n_clusters = saved["position"], saved["n_clusters"]
    decoder.name = saved["name"]
    if saved["open"] is not None:
        antecedent = saved["open"].pop("antecedent")
        decoder.open = OpenMention(**saved["open"])
        decoder.open.antecedent = antecedent and Place(*antecedent)
    decoder.owners = [Place(*place) for place in saved["owners"]]
    decoder.genders = dict(saved["genders"])
    decoder.shares, decoder.left = saved["shares"].copy(), saved["left"].copy()
    return decoder
