"""Clusters, links and gates in span groups of a Doc, and extensions that read them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup, Token

from refreader_spacy.annotation.entities import (
    entity_of,
    ents_by_token,
    most_common,
    named_entity,
)
from refreader_spacy.annotation.index import (
    DEFAULT_PREFIX,
    READ,
    IndexedCluster,
    IndexedMention,
    index_of,
)
from refreader_spacy.annotation.lookup import cluster_of
from refreader_spacy.annotation.resolved_text import (
    resolve,
    resolved,
    span_resolved_text,
)
from refreader_spacy.annotation.span_groups import store_clusters
from refreader_spacy.decoding.clusters import Cluster
from refreader_spacy.protocol import Array, Reading


class CorefLink(NamedTuple):
    """Two mentions of one entity."""

    antecedent: Span
    anaphor: Span
    probability: float


def write_clusters(
    doc: Doc,
    clusters: Iterable[Cluster],
    *,
    prefix: str = DEFAULT_PREFIX,
    keep_singletons: bool = False,
) -> None:
    """Write clusters to the Doc's span groups, in place of earlier ones.

    Entity types are those of `doc.ents`, or else the reader's.
    """
    several = (c for c in clusters if len(c.mentions) > 1 or keep_singletons)
    store_clusters(doc, indexed(doc, several), prefix)


def indexed(doc: Doc, clusters: Iterable[Cluster]) -> Iterator[IndexedCluster]:
    """Clusters as they are stored: types, ids and numbers are hashes."""
    ents = ents_by_token(doc)
    strings = doc.vocab.strings
    for number, (mentions, links) in enumerate(clusters, start=1):
        named, kb_id = named_entity([mention.head for mention in mentions], ents)
        label = named or most_common(mention.label for mention in mentions)
        hashes = strings.add(label), strings.add(kb_id), strings.add(str(number))
        places = {mention: i for i, mention in enumerate(mentions)}
        yield IndexedCluster(
            [
                IndexedMention(mention.start, mention.end, *hashes, mention.head)
                for mention in mentions
            ],
            [
                (places[antecedent], places[anaphor], probability)
                for antecedent, anaphor, probability in links
            ],
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


def read_surprisals(doc: Doc) -> Array | None:
    """Each token's surprisal in bits (T,), if the reader had `surprisal` set."""
    kept = doc.spans[READ].attrs.get("surprisal") if READ in doc.spans else None
    return None if kept is None else decoded(kept, [len(doc)])


def token_surprisal(token: Token) -> float | None:
    """A token's surprisal in bits, if the reader had `surprisal` set."""
    surprisals = read_surprisals(token.doc)
    return None if surprisals is None else float(surprisals[token.i])


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
