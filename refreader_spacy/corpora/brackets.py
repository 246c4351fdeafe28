"""Mentions as brackets that open and close at tokens, each with its entity's name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Generic, TypeVar

from spacy.util import logger

from refreader_spacy.corpora.document import GoldDocument, GoldMention

Given = TypeVar("Given")
AtToken = dict[int, list[tuple[str, GoldMention]]]  # token -> entities and mentions


class Brackets(Generic[Given]):
    """The brackets that are open. Of one entity, the last that opened closes first."""

    def __init__(self) -> None:
        self._open: dict[str, list[tuple[int, int, Given]]] = {}

    def open(self, entity: str, token: int, line: int, given: Given) -> None:
        """A mention begins at this token; what else is given of it is kept."""
        self._open.setdefault(entity, []).append((token, line, given))

    def is_open(self, entity: str) -> bool:
        """Is there a mention to close?"""
        return bool(self._open.get(entity))

    def close(self, entity: str) -> tuple[int, int, Given]:
        """Where the mention began, in which line, and what was given."""
        return self._open[entity].pop()

    def left_open(self) -> Iterator[tuple[str, int]]:
        """Entities and lines of mentions that never ended."""
        for entity, left in self._open.items():
            for _, line, _ in left:
                yield entity, line


def bracketed(document: GoldDocument) -> tuple[AtToken, AtToken, AtToken]:
    """Mentions that open at a token, that close there, and those of this token only.

    A mention that crosses another one of its own entity is left out and logged: which
    bracket closes which could not be told.
    """
    opened: AtToken = defaultdict(list)
    closed: AtToken = defaultdict(list)
    alone: AtToken = defaultdict(list)
    n_crossing = 0
    for entity, mentions in document.entities.items():
        kept: list[GoldMention] = []
        for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
            while kept and kept[-1].end <= mention.start:
                kept.pop()
            if kept and kept[-1].end < mention.end and kept[-1].end - 1 > mention.start:
                n_crossing += 1
                continue
            if mention.end - mention.start == 1:
                alone[mention.start].append((entity, mention))
                continue
            kept.append(mention)
            opened[mention.start].append((entity, mention))
            closed[mention.end - 1].append((entity, mention))
    for at_start in opened.values():
        at_start.sort(key=lambda item: -item[1].end)  # the longest begins first
    for at_end in closed.values():
        at_end.sort(key=lambda item: -item[1].start)  # and ends last
    if n_crossing:
        logger.warning(
            "%s: %d mentions cross another of the same entity and were left out.",
            *(document.id, n_crossing),
        )
    return opened, closed, alone
