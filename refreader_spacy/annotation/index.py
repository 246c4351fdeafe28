"""A cached index of a Doc's clusters, in token offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, SpanGroup

DEFAULT_PREFIX = "coref_clusters"
READ = "coref_read"  # a group with each text that was read, labelled with the prefix

Mention = tuple[int, int]  # token offsets


class Index(NamedTuple):
    """Clusters in token offsets, by mention and by token.

    It holds no Span: a Span holds its Doc, which would then never be freed.
    """

    groups: list[SpanGroup]  # as they were
    sizes: list[int]
    clusters: list[list[Mention]]
    of_mention: dict[Mention, int]
    of_token: dict[int, list[int]]


INDEXES: WeakKeyDictionary[Doc, Index] = WeakKeyDictionary()


def index_of(doc: Doc) -> Index:
    """The Doc's Index, rebuilt if its span groups or their sizes have changed."""
    groups = list(doc.spans.data.values())
    sizes = list(map(len, groups))
    index = INDEXES.get(doc)
    if index is None or index.groups != groups or index.sizes != sizes:
        clusters = sorted(clusters_by_text(doc))
        index = INDEXES[doc] = Index(groups, sizes, clusters, {}, defaultdict(list))
        for number, cluster in enumerate(clusters):
            for mention in cluster:
                index.of_mention[mention] = number
            for token in sorted(
                {token for mention in cluster for token in range(*mention)}
            ):
                index.of_token[token].append(number)
    return index


def clusters_by_text(doc: Doc) -> list[list[Mention]]:
    """Each group's mentions; those of texts that `Doc.from_docs` joined stay apart."""
    starts = [text.start for text in doc.spans.get(READ, ())]
    clusters = defaultdict(list)
    for key, group in cluster_groups(doc).items():
        for span in group:
            text = bisect_right(starts, span.start)
            clusters[key, text].append((span.start, span.end))
    return [sorted(cluster) for cluster in clusters.values()]


def cluster_groups(doc: Doc) -> dict[str, SpanGroup]:
    """The span groups that are clusters, of all prefixes that were used."""
    prefixes = {text.label_ for text in doc.spans.get(READ, ())} or {DEFAULT_PREFIX}
    return {key: doc.spans[key] for key in cluster_keys(doc, prefixes)}


def cluster_keys(doc: Doc, prefixes: set[str]) -> list[str]:
    """The keys of the span groups that are clusters of one of these prefixes."""
    numbered = (re.fullmatch(r"(.*)_\d+", key) for key in doc.spans)
    return [match[0] for match in numbered if match and match[1] in prefixes]
