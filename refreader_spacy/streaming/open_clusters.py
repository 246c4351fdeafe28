"""The clusters of a text that is still coming, and what happens to them."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from spacy.tokens import Doc
from spacy.tokens import Token as SpacyToken

from refreader_spacy.decoding.decoder import Decided, Decoder, Forgotten
from refreader_spacy.protocol import Part, Pipe, Reader
from refreader_spacy.streaming.events import (
    ClusterFinished,
    EntityForgotten,
    Event,
    LinkMade,
    Mention,
    MentionClosed,
    MentionStored,
)
from refreader_spacy.streaming.saved_decoder import decoder_to_saved
from refreader_spacy.streaming.saved_stream import N_TOKENS, SavedStream
from refreader_spacy.streaming.token_buffer import Token

LATEST = 1000  # mentions that it keeps of one entity
LONGEST_SPACE = 1000  # characters of white space inside of a mention
SPARE = 1000  # clusters that nothing finds again and that are not yet dropped
LATELY = 64  # mentions of an entity that another may go on with


class OpenClusters:
    """Mentions by the cluster that they are in, until that is forgotten.

    n_tokens, n_chars (int): Of the text so far.
    """

    def __init__(self, pipe: Pipe, reader: Reader) -> None:
        self.pipe = pipe
        self.labels = reader.labels
        self.n_tokens = self.n_chars = 0
        self._decoder = Decoder(pipe.threshold, pipe.scheme_number(reader))
        self._entities: dict[int, deque[int]] = {}  # numbers of mentions
        self._mentions: dict[int, Mention] = {}
        self._open: dict[int, int] = {}  # mentions without a right edge: their starts
        self._spans: set[tuple[int, int]] = set()  # of mentions that were closed lately
        self._leaving: set[int] = set()  # clusters that go when all of it is closed
        # Clusters that went, and may be found again: a mention that no event told of
        self._gone: dict[int, tuple[int, Mention] | None] = {}
        self._tokens: list[Token] = []  # the last ones

    def growing(self) -> list[tuple[int, list[Mention]]]:
        """The entities that can still be referred to, with their mentions so far."""
        return [
            (entity, [self._mentions[number] for number in numbers])
            for entity, numbers in self._entities.items()
            if self._counts(entity, numbers)
        ]

    def add(self, doc: Doc, metas: Sequence[Any]) -> None:
        """The text goes on with these tokens, whose decisions come next."""
        for token, meta in zip(doc, metas, strict=True):
            self._add(token, meta)
        self.n_tokens += len(doc)
        self.n_chars += len(doc.text)

    def report(self, part: Part) -> Iterator[Event]:
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
        del self._tokens[:-N_TOKENS]
        first = self._tokens[0].number if self._tokens else 0
        self._spans = {span for span in self._spans if span[0] >= first}

    def _store(self, decided: Decided) -> Iterator[Event]:
        if self._open.pop(decided.instead_of, None) is not None:
            yield MentionClosed(self._mentions[decided.instead_of])
        self._drop(decided.instead_of)
        mention = self._mention(decided, decided.head + 1)
        self._mentions[decided.number] = mention
        self._open[decided.number] = decided.start
        numbers = self._numbers(decided.cluster)
        numbers.append(decided.number)
        if len(numbers) > LATEST:
            self._mentions.pop(numbers.popleft())
        yield MentionStored(mention)
        if len(numbers) > 1:
            antecedent = self._mentions[numbers[-2]]
            yield LinkMade(antecedent, mention, decided.probability)

    def _numbers(self, entity: int) -> deque[int]:
        """The mentions of an entity; of one found again, those not told of."""
        if entity not in self._entities:
            self._entities[entity] = deque()
            if (lone := self._gone.get(entity)) is not None:
                del self._gone[entity]
                number, self._mentions[number] = lone
                self._entities[entity].append(number)
        return self._entities[entity]

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
            label=self.labels[decided.label],
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
            if self._counts(entity, mentions):
                self._gone[entity] = None
                yield ClusterFinished(entity, mentions)
            elif mentions:
                self._gone[entity] = numbers[0], mentions[0]
        forgotten = self._decoder.names.forgotten
        if len(self._gone) > 2 * len(forgotten) + SPARE:
            found_by_name = {cluster for cluster, _, _ in forgotten.values()}
            kept = (item for item in self._gone.items() if item[0] in found_by_name)
            self._gone = dict(kept)

    def to_saved(self) -> dict[str, Any]:
        """All of it, as what msgpack can store."""
        return {
            "decoder": decoder_to_saved(self._decoder),
            "entities": [[e, list(n)] for e, n in self._entities.items()],
            "mentions": [[n, list(m)] for n, m in self._mentions.items()],
            "open": list(self._open.items()),
            "spans": sorted(self._spans),
            "leaving": sorted(self._leaving),
            "gone": [
                [e, lone and [lone[0], list(lone[1])]] for e, lone in self._gone.items()
            ],
            "tokens": [list(token) for token in self._tokens],
            "n_tokens": self.n_tokens,
            "n_chars": self.n_chars,
        }

    def restore(self, saved: SavedStream) -> None:
        """Go on from what was saved."""
        self._decoder = saved.decoder.restored()
        self._entities = {e: deque(numbers) for e, numbers in saved.entities}
        self._mentions = dict(saved.mentions)
        self._open = dict(saved.open)
        self._spans = {*saved.spans}
        self._leaving = {*saved.leaving}
        self._gone = dict(saved.gone)
        self._tokens = saved.tokens
        self.n_tokens, self.n_chars = saved.n_tokens, saved.n_chars

    def _counts(self, entity: int, mentions: Sequence[Any]) -> bool:
        """Is it a cluster, or what comes after one that was found again?"""
        is_found_again = entity in self._gone
        return len(mentions) > (0 if self.pipe.keep_singletons or is_found_again else 1)

    def _add(self, token: SpacyToken, meta: Any) -> None:
        """Keep a token; white space, which no mention ends in, with the one before."""
        if token.is_space and self._tokens:
            last = self._tokens[-1]
            space = (last.space + token.text_with_ws)[:LONGEST_SPACE]
            self._tokens[-1] = last._replace(space=space)
        else:
            number, start = self.n_tokens + token.i, self.n_chars + token.idx
            self._tokens.append(
                Token(number, token.text, token.whitespace_, start, meta)
            )
