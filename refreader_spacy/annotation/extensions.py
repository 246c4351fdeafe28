"""Clusters, links and gates in span groups of a Doc, and extensions that read them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup, Token

from refreader_spacy.annotation.index import (
    DEFAULT_PREFIX,
    READ,
    cluster_groups,
    cluster_keys,
    index_of,
)
from refreader_spacy.annotation.resolved_text import resolved_text
from refreader_spacy.decoding.decoder import Cluster
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

    Each is a span group with its links as [antecedent, anaphor, probability] in the
    group's attrs, mentions being counted from 0 within the group.
    """
    for key in cluster_keys(doc, {prefix}):
        del doc.spans[key]
    kept = [c for c in clusters if keep_singletons or len(c.mentions) > 1]
    for number, (mentions, links) in enumerate(kept, start=1):
        index = {mention: i for i, mention in enumerate(mentions)}
        doc.spans[f"{prefix}_{number}"] = SpanGroup(
            doc,
            name=f"{prefix}_{number}",
            spans=[doc[mention.start : mention.end] for mention in mentions],
            attrs={
                "links": [
                    [index[antecedent], index[anaphor], probability]
                    for antecedent, anaphor, probability in links
                ]
            },
        )
    whole = [Span(doc, 0, len(doc), label=prefix)] if len(doc) else []
    doc.spans[READ] = SpanGroup(doc, name=READ, spans=whole)


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
    return [spans_of(doc, cluster) for cluster in index_of(doc).clusters]


def coref_links(doc: Doc) -> list[CorefLink]:
    """All links in the order of the anaphors. `Doc.from_docs` doesn't keep them."""
    links = [
        CorefLink(group[antecedent], group[anaphor], probability)
        for group in cluster_groups(doc).values()
        for antecedent, anaphor, probability in group.attrs.get("links", ())
    ]
    return sorted(links, key=lambda link: (link.anaphor.start, link.anaphor.end))


def token_clusters(token: Token) -> list[list[Span]]:
    """The clusters that have a mention with this token in it."""
    index = index_of(token.doc)
    numbers = index.of_token.get(token.i, ())
    return [spans_of(token.doc, index.clusters[number]) for number in numbers]


def span_cluster(span: Span) -> list[Span] | None:
    """The cluster that this very span is a mention of."""
    index = index_of(span.doc)
    number = index.of_mention.get((span.start, span.end))
    return None if number is None else spans_of(span.doc, index.clusters[number])


def spans_of(doc: Doc, mentions: Sequence[tuple[int, int]]) -> list[Span]:
    return [doc[start:end] for start, end in mentions]


def doc_resolved_text(doc: Doc) -> str:
    """The text with anaphors replaced by their antecedents."""
    return resolved_text(doc, coref_clusters(doc))


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
