"""A cached index of a Doc's clusters, in token offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span, SpanGroup

from refreader_spacy.annotation.realignment import is_stale, realign, stored_spans
from refreader_spacy.corpora.span_groups import SPEAKER_LABELS, SPEAKERS

DEFAULT_PREFIX = "coref_clusters"
READ = "coref_read"  # a group with each text that was read, labelled with the prefix
LINKS = "coref_links"  # a group of pairs: `Doc.from_docs` and JSON drop groups' attrs

OTHERS = (READ, SPEAKERS, SPEAKER_LABELS)  # groups whose spans are no mentions

MANY = 500  # span groups that are checked for changes at each access

Link = tuple[int, int, float]  # antecedent and anaphor, counted within the cluster


class IndexedMention(NamedTuple):
    """A mention in token offsets, with what its Span has besides, as hashes."""

    start: int
    end: int
    label: int
    kb_id: int
    id: int
    head: int  # -1 where it wasn't written down

    def span(self, doc: Doc) -> Span:
        return Span(
            doc,
            self.start,
            self.end,
            label=self.label,
            kb_id=self.kb_id,
            span_id=self.id,
        )


class IndexedCluster(NamedTuple):
    """Mentions in text order, and the links between them."""

    mentions: list[IndexedMention]
    links: list[Link]

    def spans(self, doc: Doc) -> list[Span]:
        return [mention.span(doc) for mention in self.mentions]


class Index(NamedTuple):
    """Clusters in token offsets, by mention and by token.

    It holds no Span: a Span holds its Doc, which would then never be freed.
    """

    groups: list[SpanGroup]  # as they were
    sizes: list[int]
    clusters: list[IndexedCluster]
    of_mention: dict[tuple[int, int], int]
    of_token: dict[int, list[int]]


INDEXES: WeakKeyDictionary[Doc, Index] = WeakKeyDictionary()


def index_of(doc: Doc) -> Index:
    """The Doc's Index, rebuilt if its tokens or span groups have changed.

    Clusters that lost their place by retokenisation are put right on the Doc first.
    """
    groups, sizes = state_of(doc)
    index = INDEXES.get(doc)
    if index is None or index.groups != groups or index.sizes != sizes:
        ours = cluster_groups(doc)
        speakers = [doc.spans[key] for key in OTHERS[1:] if key in doc.spans]
        if is_stale(doc, [*ours.values(), *speakers]):
            realign(doc, ours, pairs=LINKS, others=OTHERS)
            groups, sizes = state_of(doc)
        index = INDEXES[doc] = Index(groups, sizes, indexed_clusters(doc), {}, {})
        for number, cluster in enumerate(index.clusters):
            tokens: set[int] = set()
            for mention in cluster.mentions:
                index.of_mention[mention.start, mention.end] = number
                tokens.update(range(mention.start, mention.end))
            for token in tokens:
                index.of_token.setdefault(token, []).append(number)
        add_paired_links(doc, index)
    return index


def state_of(doc: Doc) -> tuple[list[SpanGroup], list[int]]:
    """What tells that the Doc has changed: its tokens, its groups and their sizes.

    Of a Doc with many groups, such as a novel, only the last and their number count:
    looking at all of them at each access would take too long.
    """
    groups = doc.spans.data
    if len(groups) > MANY:
        seen = [groups[next(reversed(groups))]]
    else:
        seen = list(groups.values())
    return seen, [len(doc), len(groups), *map(len, seen)]


def indexed_clusters(doc: Doc) -> list[IndexedCluster]:
    """Each group's mentions; those of texts that `Doc.from_docs` joined stay apart."""
    starts = [text.start for text in doc.spans.get(READ, ())]
    clusters = []
    for group in cluster_groups(doc).values():
        heads = group.attrs.get("heads", ())
        parts = defaultdict(list)
        for i, span in enumerate(group):
            head = heads[i] if i < len(heads) else -1
            mention = IndexedMention(
                span.start, span.end, span.label, span.kb_id, span.id, head
            )
            parts[bisect_right(starts, span.start)].append((mention, i))
        for part in parts.values():
            part.sort()
            places = {i: place for place, (_, i) in enumerate(part)}
            links = [
                (places[antecedent], places[anaphor], probability)
                for antecedent, anaphor, probability in group.attrs.get("links", ())
                if antecedent in places and anaphor in places
            ]
            clusters.append(IndexedCluster([mention for mention, _ in part], links))
    return sorted(clusters, key=lambda cluster: cluster.mentions)


def add_paired_links(doc: Doc, index: Index) -> None:
    """Take links from the group of pairs, if no cluster has any."""
    if LINKS not in doc.spans or any(cluster.links for cluster in index.clusters):
        return
    pairs = list(doc.spans[LINKS])
    for antecedent, anaphor in zip(pairs[::2], pairs[1::2], strict=False):
        number = index.of_mention.get((antecedent.start, antecedent.end))
        if number is None or number != index.of_mention.get(
            (anaphor.start, anaphor.end)
        ):
            continue
        mentions, links = index.clusters[number]
        places = [(mention.start, mention.end) for mention in mentions]
        links.append(
            (
                places.index((antecedent.start, antecedent.end)),
                places.index((anaphor.start, anaphor.end)),
                float(anaphor.kb_id_),
            )
        )


def cluster_groups(doc: Doc) -> dict[str, SpanGroup]:
    """The span groups that are clusters, of all prefixes that were used."""
    texts = stored_spans(doc.spans[READ]) if READ in doc.spans else []
    prefixes = {doc.vocab.strings[text.label] for text in texts} or {DEFAULT_PREFIX}
    return {key: doc.spans[key] for key in cluster_keys(doc, prefixes)}


def cluster_keys(doc: Doc, prefixes: set[str]) -> list[str]:
    """The keys of the span groups that are clusters of one of these prefixes."""
    numbered = (re.fullmatch(r"(.*)_\d+", key) for key in doc.spans)
    return [match[0] for match in numbered if match and match[1] in prefixes]
