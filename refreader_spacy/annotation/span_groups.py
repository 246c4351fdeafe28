"""Clusters and links as the span groups of a Doc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup

from refreader_spacy.annotation.index import (
    LINKS,
    READ,
    IndexedCluster,
    cluster_keys,
)


def store_clusters(doc: Doc, clusters: Iterable[IndexedCluster], prefix: str) -> None:
    """Write one span group per cluster, in place of earlier ones.

    Its spans have the entity's type as label and the cluster's number as id. Its attrs
    have the mentions' heads, where known, and links as [antecedent, anaphor,
    probability], with mentions counted from 0 within the group. Links are stored a
    second time, as pairs of spans, because some of spaCy's methods drop attrs.
    """
    for key in [*cluster_keys(doc, {prefix}), *({LINKS} & {*doc.spans})]:
        del doc.spans[key]
    pairs = SpanGroup(doc, name=LINKS)
    for number, (mentions, links) in enumerate(clusters, start=1):
        key = f"{prefix}_{number}"
        spans = [mention.span(doc) for mention in mentions]
        heads = [mention.head for mention in mentions]
        attrs: dict[str, Any] = {"links": [list(link) for link in links]}
        if min(heads, default=-1) >= 0:
            attrs["heads"] = heads
        doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)
        for antecedent, anaphor, probability in links:
            for span in link_pair(spans[antecedent], spans[anaphor], probability):
                pairs.append(span)
    if len(pairs):
        doc.spans[LINKS] = pairs
    whole = [Span(doc, 0, len(doc), label=prefix)] if len(doc) else []
    doc.spans[READ] = SpanGroup(doc, name=READ, spans=whole)


def link_pair(antecedent: Span, anaphor: Span, probability: float) -> Iterator[Span]:
    """Two spans, the second with the probability as its `kb_id`.

    It is rounded to four digits: the vocabulary keeps every string forever.
    """
    yield Span(antecedent.doc, antecedent.start, antecedent.end, label="antecedent")
    yield Span(
        anaphor.doc,
        anaphor.start,
        anaphor.end,
        label="anaphor",
        kb_id=f"{probability:.4f}",
    )
