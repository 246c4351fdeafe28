"""Which tokens the memory picture shows, and which entity each of them belongs to."""

from __future__ import annotations

import numpy as np
from spacy.tokens import Doc, Span

from refreader_spacy.annotation.extensions import coref_clusters
from refreader_spacy.annotation.index import cluster_keys
from refreader_spacy.errors import Errors
from refreader_spacy.protocol import Reading

TOLERANCE = 0.05  # a token is hidden if all its gates are below
SHORTEST = 3  # the least number of hidden tokens in a row

Column = int | None  # a token, or an ellipsis
Mentions = list[tuple[int, int]]


def shown_columns(reading: Reading, marked: dict[int, int]) -> list[Column]:
    """The tokens to draw, with None in place of each hidden stretch.

    marked (dict[int, int]): The entities of tokens that are shown in any case.
    """
    gates = np.maximum(reading.update, reading.overwrite)
    lively = gates.max(axis=1, initial=0.0) >= TOLERANCE  # (T,)
    lively[list(marked)] = True
    near = lively.copy()  # or beside such a token
    near[1:] |= lively[:-1]
    near[:-1] |= lively[1:]
    columns: list[Column] = []
    dull: list[Column] = []
    for token, shown in [*enumerate(near), (-1, True)]:
        if not shown:
            dull.append(token)
            continue
        columns += dull if len(dull) < SHORTEST else [None]
        dull = []
        columns.append(token)
    return columns[:-1]


def entity_of_tokens(doc: Doc, gold: str | Doc | None) -> dict[int, int]:
    """The number of the entity that each token in a mention belongs to, from 1.

    Where mentions nest, the innermost counts.
    """
    owners: dict[int, tuple[int, int]] = {}
    for number, mentions in enumerate(entity_mentions(doc, gold), start=1):
        for start, end in mentions:
            for token in range(start, end):
                owners[token] = min(
                    owners.get(token, (len(doc) + 1, 0)), (end - start, number)
                )
    return {token: number for token, (_, number) in owners.items()}


def entity_mentions(doc: Doc, gold: str | Doc | None) -> list[Mentions]:
    """Each entity's mentions in token offsets, ordered by the first one."""
    if gold is None:
        clusters = coref_clusters(doc)
    elif isinstance(gold, str):
        keys = cluster_keys(doc, {gold})
        if not keys:
            raise ValueError(Errors.R223.format(prefix=gold, found=list(doc.spans)))
        clusters = [list(doc.spans[key]) for key in keys]
    elif gold.text == doc.text:
        clusters = [
            [span for mention in cluster if (span := same_words(doc, mention))]
            for cluster in coref_clusters(gold)
        ]
    else:
        raise ValueError(
            Errors.R224.format(found=gold.text[:40], expected=doc.text[:40])
        )
    return sorted(sorted((span.start, span.end) for span in c) for c in clusters)


def same_words(doc: Doc, mention: Span) -> Span | None:
    """Another Doc's mention on this one, whose tokens may be others."""
    start, end = mention.start_char, mention.end_char
    return doc.char_span(start, end, alignment_mode="expand")
