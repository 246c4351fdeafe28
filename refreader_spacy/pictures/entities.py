"""The mentions to draw: their entities, links and nesting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spacy.tokens import Doc, Span

from refreader_spacy.annotation.entities import entities as known_entities
from refreader_spacy.annotation.extensions import coref_links
from refreader_spacy.annotation.mentions import main_mention
from refreader_spacy.pictures.markup import HUES, shortened


class Entity(NamedTuple):
    """A cluster and its name in pictures."""

    number: int  # from 1
    name: str
    size: int


@dataclass
class Drawn:
    """A mention in characters of the text.

    levels (int): How many mentions are nested inside, one in another.
    antecedent (int | None): The mention it was linked to, by its place in the list.
    """

    start: int
    end: int
    entity: Entity
    levels: int = 0
    antecedent: int | None = None
    probability: float = 0.0

    @property
    def hue(self) -> int:
        return (self.entity.number - 1) % len(HUES)

    @property
    def round(self) -> int:
        """How often all hues had been used before; shown by the line style."""
        return (self.entity.number - 1) // len(HUES) % 3


def entities(doc: Doc) -> tuple[list[Entity], list[Drawn]]:
    """All clusters, and all mentions in text order, an outer before its inner ones."""
    found = []
    spans = []
    for known in known_entities(doc):
        mentions = [mention for mention in known.mentions if len(mention)]
        if not mentions:
            continue
        entity = Entity(known.number, shortened(known.main.text), len(mentions))
        found.append(entity)
        spans += [(mention, entity) for mention in mentions]
    spans.sort(key=lambda pair: (pair[0].start, -pair[0].end))
    drawn = [Drawn(span.start_char, span.end_char, entity) for span, entity in spans]
    places = {(span.start, span.end): i for i, (span, _) in enumerate(spans)}
    for antecedent, anaphor, probability in coref_links(doc):
        mention = drawn[places[anaphor.start, anaphor.end]]
        mention.antecedent = places[antecedent.start, antecedent.end]
        mention.probability = probability
    count_levels(drawn)
    return found, drawn


def entity_name(mentions: Sequence[Span], heads: Sequence[int]) -> str:
    """The mention that says most of who or what it is, cut if it is long."""
    return shortened(mentions[main_mention(mentions, heads)].text)


def count_levels(drawn: Sequence[Drawn]) -> None:
    """Set each mention's number of nested levels."""
    around: list[Drawn] = []
    for mention in drawn:
        around = [outer for outer in around if outer.end > mention.start]
        for level, outer in enumerate(reversed(around), start=1):
            outer.levels = max(outer.levels, level)
        around.append(mention)
