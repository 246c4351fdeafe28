"""One entry per entity: its main mention, its type and id, and all its mentions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from spacy.tokens import Doc, Span

from refreader_spacy.annotation.index import IndexedCluster, index_of
from refreader_spacy.annotation.mentions import (
    Kind,
    head_of,
    main_mention,
    mention_kind,
)

# Entity types by the labels of spaCy's pipelines; other labels are kept as they are
TYPES = {
    "PERSON": "person",
    "PER": "person",
    "NORP": "person",
    "ORG": "organization",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "object",
    "WORK_OF_ART": "object",
    "EVENT": "event",
    "DATE": "time",
    "TIME": "time",
    "LAW": "abstract",
    "LANGUAGE": "abstract",
    "MONEY": "abstract",
    "PERCENT": "abstract",
    "QUANTITY": "abstract",
    "CARDINAL": "abstract",
    "ORDINAL": "abstract",
    "MISC": "",
}


@dataclass(frozen=True)
class Entity:
    """All that a text says about one entity.

    number (int): Counted from 1 in the order of first mentions.
    mentions (list[Span]): In text order.
    heads (list[int]): The token that is each mention's head.
    links (list[tuple[int, int, float]]): Antecedent and anaphor, counted from 0 within
        the mentions, and the link's probability.
    type (str): Such as "person" or "place"; empty where it isn't known.
    kb_id (str): Its id in a knowledge base, if `doc.ents` have one.
    """

    number: int
    mentions: list[Span]
    heads: list[int]
    links: list[tuple[int, int, float]]
    type: str
    kb_id: str

    def __len__(self) -> int:
        return len(self.mentions)

    @cached_property
    def main(self) -> Span:
        """The most informative mention: a full name, a surname, or a description."""
        return self.mentions[self._main]

    @cached_property
    def main_head(self) -> int:
        return self.heads[self._main]

    @cached_property
    def kinds(self) -> list[Kind]:
        """What each mention is: a full name, a description, a pronoun."""
        return [
            mention_kind(mention, head)
            for mention, head in zip(self.mentions, self.heads, strict=True)
        ]

    @cached_property
    def names(self) -> dict[str, int]:
        """All that it is called, pronouns left out, and how often; most often first."""
        called = Counter(
            " ".join(mention.text.split())
            for mention, kind in zip(self.mentions, self.kinds, strict=True)
            if kind != Kind.PRONOUN
        )
        return dict(called.most_common())

    @cached_property
    def _main(self) -> int:
        return main_mention(self.mentions, self.heads)


def entities(doc: Doc) -> list[Entity]:
    """All entities of a Doc, ordered by first mention.

    Types are the mentions' labels, or else those of `doc.ents` with the same heads.
    """
    ents = ents_by_token(doc)
    return [
        entity_of(doc, number, cluster, ents)
        for number, cluster in enumerate(index_of(doc).clusters, start=1)
    ]


def ents_by_token(doc: Doc) -> dict[int, Span]:
    return {token: ent for ent in doc.ents for token in range(ent.start, ent.end)}


def entity_of(
    doc: Doc, number: int, cluster: IndexedCluster, ents: dict[int, Span]
) -> Entity:
    mentions = cluster.spans(doc)
    heads = [
        head_of(span) if mention.head < 0 else mention.head
        for span, mention in zip(mentions, cluster.mentions, strict=True)
    ]
    kind = most_common(span.label_ for span in mentions)
    kb_id = most_common(span.kb_id_ for span in mentions)
    if ents and not (kind and kb_id):
        named_type, named_id = named_entity(heads, ents)
        kind, kb_id = kind or named_type, kb_id or named_id
    return Entity(number, mentions, heads, cluster.links, kind, kb_id)


def named_entity(heads: Iterable[int], ents: dict[int, Span]) -> tuple[str, str]:
    """The type and knowledge-base id that most mentions have as named entities.

    An entity ruler's id is taken where there is no other.

    ents (dict[int, Span]): The named entities by their tokens.
    """
    found = [ents[head] for head in heads if head in ents]
    label = most_common(ent.label_ for ent in found)
    same = [ent for ent in found if ent.label_ == label]
    kb_id = most_common(ent.kb_id_ or ent.ent_id_ for ent in same)
    return TYPES.get(label, label), kb_id


def most_common(values: Iterable[str]) -> str:
    """The value that comes most often, or the first of those; "" doesn't count."""
    counts = Counter(value for value in values if value)
    return counts.most_common(1)[0][0] if counts else ""
