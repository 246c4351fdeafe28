"""Clusters, links and gates in span groups of a Doc, and extensions that read them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup, Token

from refreader_spacy.annotation.entities import (
    entity_of,
    ents_by_token,
    named_entity,
)
from refreader_spacy.annotation.index import (
    DEFAULT_PREFIX,
    LINKS,
    READ,
    cluster_keys,
    index_of,
)
from refreader_spacy.annotation.lookup import cluster_of
from refreader_spacy.annotation.resolved_text import (
    resolve,
    resolved,
    span_resolved_text,
)
from refreader_spacy.decoding.decoder import Cluster, Link
from refreader_spacy.protocol import Array, Reading


class CorefLink(NamedTuple):
    """Two mentions of one entity."""

    antecedent: Span
    anaphor: Span
    probability: float


def write_clusters(
    doc: Doc,
    clusters: Sequence[Cluster],
    *,
    prefix: str = DEFAULT_PREFIX,
    keep_singletons: bool = False,
) -> None:
    """Write clusters to the Doc's span groups, in place of earlier ones.

    Each is a span group of spans that are labelled with the entity's type, as
    `doc.ents` or else the reader tell it, and have the cluster's number as their id.
    The group's attrs have the mentions' heads, and links as [antecedent, anaphor,
    probability], mentions being counted from 0 within the group.
    """
    for key in cluster_keys(doc, {prefix}):
        del doc.spans[key]
    ents = ents_by_token(doc)
    pairs: list[Span] = []
    kept = [c for c in clusters if keep_singletons or len(c.mentions) > 1]
    for number, (mentions, links, kind, heads) in enumerate(kept, start=1):
        places = {mention: i for i, mention in enumerate(mentions)}
        label, kb_id = kind, ""
        if ents:
            anchors = heads or [mention.end - 1 for mention in mentions]
            named, kb_id = named_entity(anchors, ents)
            label = named or kind
        spans = [
            Span(
                doc,
                mention.start,
                mention.end,
                label=label,
                kb_id=kb_id,
                span_id=str(number),
            )
            for mention in mentions
        ]
        attrs: dict[str, Any] = {
            "links": [
                [places[antecedent], places[anaphor], probability]
                for antecedent, anaphor, probability in links
            ]
        }
        if heads:
            attrs["heads"] = list(heads)
        doc.spans[f"{prefix}_{number}"] = SpanGroup(
            doc, name=f"{prefix}_{number}", spans=spans, attrs=attrs
        )
        pairs += link_pairs(doc, links)
    if pairs:
        doc.spans[LINKS] = SpanGroup(doc, name=LINKS, spans=pairs)
    elif LINKS in doc.spans:
        del doc.spans[LINKS]
    whole = [Span(doc, 0, len(doc), label=prefix)] if len(doc) else []
    doc.spans[READ] = SpanGroup(doc, name=READ, spans=whole)


def link_pairs(doc: Doc, links: Iterable[Link]) -> Iterator[Span]:
    """Links as spans that `Doc.from_docs` and JSON keep, to four digits.

    There are few such numbers, so that the vocabulary's strings don't grow.
    """
    for antecedent, anaphor, probability in links:
        yield Span(doc, antecedent.start, antecedent.end, label="antecedent")
        yield Span(
            doc,
            anaphor.start,
            anaphor.end,
            label="anaphor",
            kb_id=f"{probability:.4f}",
        )


def write_trace(doc: Doc, reading: Reading) -> None:
    """Store gates and saliences on the Doc, exactly."""
    if READ not in doc.spans:
        doc.spans[READ] = SpanGroup(doc, name=READ)
    doc.spans[READ].attrs["trace"] = {
        "shape": list(reading.update.shape),
        "update": encoded(reading.update),
        "overwrite": encoded(reading.overwrite),
        "salience": encoded(reading.salience),
    }


def read_trace(doc: Doc) -> Reading | None:
    """The gates and saliences stored on the Doc, if any."""
    trace = doc.spans[READ].attrs.get("trace") if READ in doc.spans else None
    if trace is None:
        return None
    return Reading(
        update=decoded(trace["update"], trace["shape"]),
        overwrite=decoded(trace["overwrite"], trace["shape"]),
        salience=decoded(trace["salience"], trace["shape"]),
    )


def encoded(array: Array) -> str:
    return base64.b64encode(array.astype("<f4").tobytes()).decode("ascii")


def decoded(text: str, shape: list[int]) -> Array:
    array = np.frombuffer(base64.b64decode(text), dtype="<f4")
    return array.reshape(shape).astype(np.float32)


def coref_clusters(doc: Doc) -> list[list[Span]]:
    """All clusters, ordered by first mention, with their mentions in text order."""
    return [cluster.spans(doc) for cluster in index_of(doc).clusters]


def coref_links(doc: Doc) -> list[CorefLink]:
    """All links in the order of the anaphors."""
    links = [
        CorefLink(spans[antecedent], spans[anaphor], probability)
        for cluster in index_of(doc).clusters
        for spans in (cluster.spans(doc),)
        for antecedent, anaphor, probability in cluster.links
    ]
    return sorted(links, key=lambda link: (link.anaphor.start, link.anaphor.end))


def token_clusters(token: Token) -> list[list[Span]]:
    """The clusters that have a mention with this token in it."""
    index = index_of(token.doc)
    numbers = index.of_token.get(token.i, ())
    return [index.clusters[number].spans(token.doc) for number in numbers]


def span_cluster(span: Span) -> list[Span] | None:
    """The cluster that has this span as a mention, or one with the same head.

    So it is found for a named entity that has the article or the title that the mention
    doesn't have.
    """
    cluster = cluster_of(span)
    return None if cluster is None else cluster.spans(span.doc)


def span_main(span: Span) -> Span | None:
    """The most informative mention of what this span means, or None if unknown."""
    cluster = cluster_of(span)
    return None if cluster is None else entity_of(span.doc, 0, cluster, {}).main


def doc_resolved_text(doc: Doc) -> str:
    """The text with pronouns replaced by the main mention of their entity."""
    return resolved(doc).text


def token_surprisal(token: Token) -> float | None:
    """A token's surprisal in bits, if the reader had `surprisal` set."""
    doc = token.doc
    kept = doc.spans[READ].attrs.get("surprisal") if READ in doc.spans else None
    return None if kept is None else float(decoded(kept, [len(doc)])[token.i])


EXTENSIONS: list[tuple[type[Doc | Token | Span], str, Callable[..., Any]]] = [
    (Doc, "coref_clusters", coref_clusters),
    (Doc, "coref_links", coref_links),
    (Doc, "resolved_text", doc_resolved_text),
    (Token, "coref_clusters", token_clusters),
    (Token, "surprisal", token_surprisal),
    (Span, "coref_cluster", span_cluster),
    (Span, "coref_main", span_main),
    (Span, "resolved_text", span_resolved_text),
]


def register_extensions() -> None:
    """Register the getters, except under names that are taken already.

    The pipe does it when it is created, not when it is imported: every spaCy pipeline
    in the environment imports it, and may have extensions of the same names. To read
    annotated Docs without the pipe, call this first.
    """
    for owner, name, getter in EXTENSIONS:
        if not owner.has_extension(name):
            owner.set_extension(name, getter=getter)
    if not Doc.has_extension("resolve"):
        Doc.set_extension("resolve", method=resolve)
