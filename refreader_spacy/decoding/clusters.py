"""The clusters of a whole text, with mentions between their edges and links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from refreader_spacy.decoding.decoder import Decided, Decoder
from refreader_spacy.protocol import Booleans, Longs, Part

DECIDED = np.dtype(
    [(name, float if name == "probability" else np.int64) for name in Decided._fields]
)


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


def decode_clusters(
    part: Part,
    threshold: float,
    *,
    labels: Sequence[str],
    scheme: int | None = None,
    singletons: bool = True,
) -> Iterator[Cluster]:
    """The clusters of a whole text in the order of their first mention.

    One by one, so that only one is held in memory.

    labels (Sequence[str]): The reader's entity types.
    scheme (int | None): Whose mentions count, as a place in the reader's schemes.
    singletons (bool): Keep mentions that nothing links to.
    """
    decided = np.fromiter(
        (d for d in Decoder(threshold, scheme).decide(part) if isinstance(d, Decided)),
        DECIDED,
    )
    first, n_mentions = part.mentions.first, len(part.mentions)
    end_of, head_after = np.full((2, n_mentions), -1)  # the latter of beginnings
    end_of[part.closed - first] = part.ends
    goes_on = decided[decided["instead_of"] >= 0]
    head_after[goes_on["instead_of"] - first] = goes_on["head"]
    number = decided["number"] - first
    end, after = end_of[number], head_after[number]
    # A beginning that was open when its mention went on was never anything else
    kept = np.flatnonzero((after < 0) | (end <= after))
    spans = decided["start"][kept] * (end.max(initial=0) + 1) + end[kept]
    _, earliest = np.unique(spans, return_index=True)
    kept = kept[np.sort(earliest)]  # two heads may have come out with one span
    remains = after[kept] < 0
    for some in grouped(decided["cluster"][kept], remains, 1 if singletons else 2):
        rows = kept[some]
        everything = [Decided(*row) for row in decided[rows].tolist()]
        ends = dict(
            zip(decided["number"][rows].tolist(), end[rows].tolist(), strict=True)
        )
        whole = without_beginnings(everything, ends)
        members = [d for d in whole if head_after[d.number - first] < 0]
        if not members or (not singletons and len(members) == 1):
            continue
        label = cluster_label(members, labels)
        mentions = {
            d.number: Mention(d.start, ends[d.number], d.head, d.cluster, label)
            for d in members
        }
        links = [
            Link(mentions[before.number], mentions[d.number], d.probability)
            for before, d in pairwise(members)
        ]
        yield Cluster(list(mentions.values()), links)


def grouped(clusters: Longs, remains: Booleans, fewest: int) -> Iterator[Longs]:
    """The places of each cluster that has so many, in the order of the first ones that
    remain."""
    by_cluster = np.argsort(clusters, kind="stable")
    _, begins, counts = np.unique(
        clusters[by_cluster], return_index=True, return_counts=True
    )
    places = np.where(remains, np.arange(len(clusters)), len(clusters))[by_cluster]
    first = np.minimum.reduceat(places, begins)
    enough = (counts >= fewest) & (first < len(clusters))
    begins, counts = begins[enough], counts[enough]
    in_order = np.argsort(first[enough])
    for begin, count in zip(begins[in_order], counts[in_order], strict=True):
        yield by_cluster[begin : begin + count]


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
