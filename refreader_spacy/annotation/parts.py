"""A part of a Doc as a Doc of its own, with the clusters that are in it."""

from __future__ import annotations

from spacy.tokens import Doc, Span

from refreader_spacy.annotation.index import (
    DEFAULT_PREFIX,
    READ,
    IndexedCluster,
    index_of,
)
from refreader_spacy.annotation.span_groups import store_clusters


def as_doc(span: Span, *, copy_user_data: bool = False) -> Doc:
    """Like `Span.as_doc`, which drops all span groups, but with clusters and links.

    Only mentions that are wholly inside are kept, and only clusters that have another
    one there, or never had one.

    copy_user_data (bool): As in `Span.as_doc`.
    """
    doc = span.doc
    part: Doc = span.as_doc(copy_user_data=copy_user_data)
    clusters = [
        found
        for cluster in index_of(doc).clusters
        if (found := cluster_within(cluster, span)).mentions
        and len(found.mentions) >= min(2, len(cluster.mentions))
    ]
    prefix = next((text.label_ for text in doc.spans.get(READ, ())), DEFAULT_PREFIX)
    store_clusters(part, clusters, prefix)
    return part


def cluster_within(cluster: IndexedCluster, span: Span) -> IndexedCluster:
    """The part of a cluster that is in a span, in offsets from its first token."""
    inside = [
        (i, mention)
        for i, mention in enumerate(cluster.mentions)
        if span.start <= mention.start and mention.end <= span.end
    ]
    places = {i: place for place, (i, _) in enumerate(inside)}
    mentions = [
        mention._replace(
            start=mention.start - span.start,
            end=mention.end - span.start,
            head=max(mention.head - span.start, -1),
        )
        for _, mention in inside
    ]
    links = [
        (places[antecedent], places[anaphor], probability)
        for antecedent, anaphor, probability in cluster.links
        if antecedent in places and anaphor in places
    ]
    return IndexedCluster(mentions, links)
