"""From what a reader decided to mention spans, links and clusters.

One pass from left to right; what later mentions need to know is bounded by the
reader's memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from refreader_spacy.protocol import Part

KEPT = 0.5  # a scheme has a mention from this probability


class Mention(NamedTuple):
    """Tokens `start` to `end` (exclusive) around a head, and their cluster."""

    start: int
    end: int
    head: int
    cluster: int
    label: str = ""


class Link(NamedTuple):
    """A mention and the latest earlier one of the same entity."""

    antecedent: Mention
    anaphor: Mention
    probability: float


class Cluster(NamedTuple):
    """One entity: mentions and the links between them in text order."""

    mentions: list[Mention]
    links: list[Link]


class Decided(NamedTuple):
    """A mention at its head; its right edge is not known yet.

    number (int): Of the mention, among all that the reader decided on.
    antecedent (int): The number of the mention that it links to, or -1.
    """

    number: int
    head: int
    start: int
    cluster: int
    antecedent: int
    probability: float
    label: int


@dataclass
class Decoder:
    """Which mentions count, and which cluster each is in.

    threshold (float): A link counts from this probability. A mention with a weaker one
        is left by itself, and the entity goes on without it.
    scheme (int | None): The annotation scheme whose mentions count; None: all.
    """

    threshold: float
    scheme: int | None = None
    n_clusters: int = 0
    # Of entities that may be referred to: the cluster, and its latest mention's number
    clusters: dict[int, tuple[int, int]] = field(default_factory=dict)

    def decide(self, part: Part) -> Iterator[Decided]:
        """The mentions of a part that count, at their heads."""
        m = part.mentions
        counts = (
            np.ones(len(m), bool)
            if self.scheme is None
            else m.schemes[:, self.scheme] >= KEPT
        )
        rows = zip(
            range(m.first, m.first + len(m)),
            *(x.tolist() for x in (m.head, m.start, m.entity, m.is_new)),
            *(x.tolist() for x in (m.probability, m.label, counts)),
            strict=True,
        )
        for number, head, start, entity, is_new, probability, label, count in rows:
            if is_new:
                self.clusters.pop(entity, None)
            if not count:
                continue
            known = self.clusters.get(entity)
            if known is None or probability < self.threshold:
                cluster, antecedent = self.n_clusters, -1
                self.n_clusters += 1
                if known is None:
                    self.clusters[entity] = cluster, number
            else:
                cluster, antecedent = known
                self.clusters[entity] = cluster, number
            yield Decided(number, head, start, cluster, antecedent, probability, label)

    def release(self, part: Part) -> set[int]:
        """Forget what the reader has forgotten; the clusters that can still grow."""
        held = {*part.held.tolist()}
        for entity in [e for e in self.clusters if e not in held]:
            del self.clusters[entity]
        return {cluster for cluster, _ in self.clusters.values()}


def decode(
    part: Part,
    threshold: float,
    *,
    labels: Sequence[str],
    scheme: int | None = None,
    singletons: bool = True,
) -> list[Cluster]:
    """The clusters of a whole text in the order of their first mention.

    labels (Sequence[str]): The reader's entity types.
    scheme (int | None): Whose mentions count, as a place in the reader's schemes.
    singletons (bool): Keep mentions that nothing links to.
    """
    end_of = dict(zip(part.closed.tolist(), part.ends.tolist(), strict=True))
    found: dict[int, list[Decided]] = {}
    seen: set[tuple[int, int]] = set()  # two heads may have come out with one span
    for decided in Decoder(threshold, scheme).decide(part):
        span = decided.start, end_of[decided.number]
        if span not in seen:
            seen.add(span)
            found.setdefault(decided.cluster, []).append(decided)
    clusters = []
    for number, everything in found.items():
        members = without_beginnings(everything, end_of)
        if not singletons and len(members) == 1:
            continue
        label = cluster_label(members, labels)
        mentions = {
            d.number: Mention(d.start, end_of[d.number], d.head, number, label)
            for d in members
        }
        links = [
            Link(mentions[before.number], mentions[d.number], d.probability)
            for before, d in pairwise(members)
        ]
        clusters.append(Cluster(list(mentions.values()), links))
    return clusters


def without_beginnings(
    members: Sequence[Decided], end_of: dict[int, int]
) -> list[Decided]:
    """Mentions of one entity without those that another goes on with.

    After "Ruth", nobody can know that "Calder" comes: both are heads, and "Ruth Calder"
    is the mention.
    """
    longest: dict[int, int] = {}
    for d in members:
        longest[d.start] = max(longest.get(d.start, 0), end_of[d.number])
    return [d for d in members if end_of[d.number] == longest[d.start]]


def cluster_label(members: Sequence[Decided], labels: Sequence[str]) -> str:
    """The entity type that most of its mentions have; of equals, the earliest."""
    votes = [d.label for d in members if d.label]
    return labels[max(votes, key=votes.count)] if votes else ""
