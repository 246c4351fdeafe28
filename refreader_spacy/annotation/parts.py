"""A part of a Doc as a Doc of its own, with the clusters that are in it."""

from __future__ import annotations

from spacy.tokens import Doc, Span

from refreader_spacy.annotation.extensions import write_clusters
from refreader_spacy.annotation.index import (
    DEFAULT_PREFIX,
    READ,
    IndexedCluster,
    index_of,
)
from refreader_spacy.decoding.decoder import Cluster, Link, Mention


def as_doc(span: Span, *, copy_user_data: bool = False) -> Doc:
    """Like `Span.as_doc`, which drops all span groups, but with clusters and links.

    Only mentions that are wholly inside are kept, and only clusters that have another
    one there, or never had one.
    """
    doc = span.doc
    part: Doc = span.as_doc(copy_user_data=copy_user_data)
    clusters = [
        found
        for number, cluster in enumerate(index_of(doc).clusters)
        if (found := cluster_within(cluster, number, span)).mentions
        and len(found.mentions) >= min(2, len(cluster.mentions))
    ]
    prefix = next((text.label_ for text in doc.spans.get(READ, ())), DEFAULT_PREFIX)
    write_clusters(part, clusters, prefix=prefix, keep_singletons=True)
    return part


def cluster_within(cluster: IndexedCluster, number: int, span: Span) -> Cluster:
    """What of a cluster is in a span, counted from its first token."""
    shift = span.start
    inside = {
        i: Mention(mention.start - shift, mention.end - shift, number)
        for i, mention in enumerate(cluster.mentions)
        if span.start <= mention.start and mention.end <= span.end
    }
    links = [
        Link(inside[antecedent], inside[anaphor], probability)
        for antecedent, anaphor, probability in cluster.links
        if antecedent in inside and anaphor in inside
    ]
    label = span.doc.vocab.strings[cluster.mentions[0].label]
    heads = [cluster.mentions[i].head - shift for i in inside]
    known = all(mention.head >= 0 for mention in cluster.mentions)
    return Cluster(list(inside.values()), links, label, heads if known else ())
