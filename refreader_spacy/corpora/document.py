"""An annotated text, as every format gives it and takes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import NamedTuple


class GoldMention(NamedTuple):
    """Tokens from start to end (exclusive), and what is known of them."""

    start: int
    end: int
    head: int | None = None  # token
    label: str = ""  # type of the entity
    in_ontonotes: bool | None = None  # would OntoNotes' scheme have it?


class Turn(NamedTuple):
    """Tokens from start to end (exclusive) that one speaker says."""

    start: int
    end: int
    speaker: str


@dataclass
class GoldDocument:
    """One text: its tokens, and all mentions of each entity, singletons included."""

    id: str
    scheme: str  # of the annotation: "gum", "litbank", ...
    genre: str = ""
    words: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)  # after each word
    sentence_starts: list[int] = field(default_factory=list)
    entities: dict[str, list[GoldMention]] = field(default_factory=dict)
    split_antecedents: dict[str, list[str]] = field(default_factory=dict)  # of entities
    turns: list[Turn] = field(default_factory=list)
    n_skipped: int = 0  # mentions that are not one span of tokens
    _places: set[tuple[str, int, int]] = field(
        default_factory=set, init=False, repr=False, compare=False
    )

    def add_word(self, word: str, space: bool = True) -> None:
        """The next token."""
        self.words.append(word)
        self.spaces.append(space)

    def add_mention(self, entity: str, mention: GoldMention) -> None:
        """One more mention of an entity; the same span of it once more is ignored."""
        place = (entity, mention.start, mention.end)
        if place not in self._places:
            self._places.add(place)
            self.entities.setdefault(entity, []).append(mention)

    def add_turn(self, start: int, end: int, speaker: str) -> None:
        """The last speaker goes on, or another begins; nobody is nobody's turn."""
        if not speaker or start == end:
            return
        if self.turns and self.turns[-1][1:] == (start, speaker):
            start = self.turns.pop().start
        self.turns.append(Turn(start, end, speaker))

    def mention_spans(self) -> set[tuple[int, int]]:
        """Where mentions are, whatever they refer to."""
        return {(m.start, m.end) for ms in self.entities.values() for m in ms}

    def sentences(self) -> Iterator[tuple[int, int]]:
        """First token and end of each."""
        edges = sorted({0, len(self.words), *self.sentence_starts})
        return pairwise(edges)


def without_longer(document: GoldDocument, n_tokens: int) -> GoldDocument:
    """The document without its mentions of more tokens than this."""
    kept = {
        entity: [m for m in mentions if m.end - m.start <= n_tokens]
        for entity, mentions in document.entities.items()
    }
    return replace(document, entities={e: ms for e, ms in kept.items() if ms})


def without_white_space(document: GoldDocument) -> GoldDocument:
    """The document without its tokens of white space only, which CoNLL can't have."""
    blank = [not word.strip() for word in document.words]
    if not any(blank):
        return document
    place = [0, *accumulate(not is_blank for is_blank in blank)]  # of each token, after
    kept = [i for i, is_blank in enumerate(blank) if not is_blank]
    spaces = document.spaces or [True] * len(blank)

    def moved(m: GoldMention) -> GoldMention:
        lost = m.head is None or blank[m.head]
        head = None if m.head is None or lost else place[m.head]
        return m._replace(start=place[m.start], end=place[m.end], head=head)

    found = replace(
        document,
        words=[document.words[i] for i in kept],
        spaces=[spaces[i] or (i + 1 < len(blank) and blank[i + 1]) for i in kept],
        sentence_starts=sorted(
            {place[i] for i in document.sentence_starts if place[i] < len(kept)}
        ),
        entities={},
        turns=[
            Turn(place[turn.start], place[turn.end], turn.speaker)
            for turn in document.turns
            if place[turn.start] < place[turn.end]
        ],
    )
    for entity, mentions in document.entities.items():
        for mention in map(moved, mentions):
            if mention.start < mention.end:
                found.add_mention(entity, mention)
    return found


def pieces(document: GoldDocument, n_tokens: int) -> Iterator[GoldDocument]:
    """Whole sentences together, no longer than this unless one sentence is.

    Entities are of a piece: mentions in another piece, and those that cross, are lost.
    """
    start = end = 0
    for first, last in document.sentences():
        if last - start > n_tokens and first > start:
            yield _piece(document, start, first)
            start = first
        end = last
    if end > start or not document.words:
        yield _piece(document, start, end)


def _piece(document: GoldDocument, start: int, end: int) -> GoldDocument:
    inside = {
        entity: [
            m._replace(
                start=m.start - start,
                end=m.end - start,
                head=None if m.head is None else m.head - start,
            )
            for m in mentions
            if start <= m.start and m.end <= end
        ]
        for entity, mentions in document.entities.items()
    }
    return replace(
        document,
        words=document.words[start:end],
        spaces=document.spaces[start:end],
        sentence_starts=[
            i - start for i in document.sentence_starts if start <= i < end
        ],
        entities={entity: mentions for entity, mentions in inside.items() if mentions},
        turns=[
            Turn(max(a, start) - start, min(b, end) - start, speaker)
            for a, b, speaker in document.turns
            if a < end and b > start
        ],
        n_skipped=document.n_skipped if start == 0 else 0,
    )
