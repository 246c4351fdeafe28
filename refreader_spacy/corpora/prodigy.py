"""Prodigy's relations, as `coref.manual` and `rel.manual` have them: read and written.

A line of JSON for each text: `tokens`, `spans` by their first and last token, and
`relations` between the last tokens of two spans. Spans that relations join are one
entity. What the annotator rejected or ignored is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.lines import parsed_rows
from refreader_spacy.errors import Errors

COREF = "COREF"

Place = tuple[int, int]  # first and last token


def read_prodigy(path: Path, scheme: str = "prodigy") -> Iterator[GoldDocument]:
    """The documents that were accepted."""

    def parse(number: int, row: Any) -> GoldDocument | None:
        if row.get("answer", "accept") != "accept":
            return None
        return _document(GoldDocument(f"{path.stem}_{number}", scheme), row)

    found = parsed_rows(path, parse, Errors.R418)
    return (document for document in found if document is not None)


def _document(document: GoldDocument, row: dict[str, Any]) -> GoldDocument:
    meta = row.get("meta") or {}
    document.id = str(meta.get("document", document.id))
    for token in row["tokens"]:
        if not isinstance(token["text"], str) or not token["text"]:
            raise TypeError("a token should have a text")
        document.add_word(token["text"], bool(token.get("ws", True)))
    starts = meta.get("sentence_starts", [0])
    numbers = range(len(document.words))
    document.sentence_starts = [
        i for i in starts if isinstance(i, int) and i in numbers
    ]
    labels: dict[Place, str] = {}
    for span in row.get("spans") or ():
        labels[_place(span, document)] = str(span.get("label") or "")
    links = [
        (
            _place(relation["head_span"], document),
            _place(relation["child_span"], document),
        )
        for relation in row.get("relations") or ()
    ]
    for place in (place for link in links for place in link):
        labels.setdefault(place, "")
    places = sorted(labels)
    for place, entity in zip(places, _joined(places, links), strict=True):
        label = "" if labels[place] == COREF else labels[place]
        mention = GoldMention(place[0], place[1] + 1, label=label)
        document.add_mention(str(entity), mention)
    return document


def _place(span: dict[str, Any], document: GoldDocument) -> Place:
    first, last = span["token_start"], span["token_end"]
    if not (isinstance(first, int) and isinstance(last, int)):
        raise TypeError("a span should have token_start and token_end")
    if not 0 <= first <= last < len(document.words):
        raise ValueError(f"there are no tokens from {first} to {last}")
    return first, last


def _joined(places: list[Place], links: list[tuple[Place, Place]]) -> list[int]:
    """The number of the entity that each span is of."""
    from scipy.sparse import coo_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import (  # type: ignore[import-untyped]
        connected_components,
    )

    rank = {place: i for i, place in enumerate(places)}
    pairs = np.array([[rank[a], rank[b]] for a, b in links]).reshape(-1, 2).astype(int)
    shape = len(places), len(places)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape)
    _, numbers = connected_components(graph, directed=False)
    entities: list[int] = numbers.tolist()
    return entities


def prodigy_lines(documents: Iterable[GoldDocument]) -> Iterator[str]:
    """The documents, each mention in a relation with the next of its entity."""
    for document in documents:
        spaces = document.spaces or [True] * len(document.words)
        tokens, text = [], ""
        for i, (word, space) in enumerate(zip(document.words, spaces, strict=True)):
            start, text = len(text), text + word
            place = {"start": start, "end": len(text), "id": i, "ws": space}
            tokens.append({"text": word, **place})
            text += " " * space
        spans, relations = [], []
        for mentions in document.entities.values():
            found = [_span(m, tokens) for m in sorted(mentions)]
            spans += found
            relations += [_relation(a, b) for a, b in pairwise(found)]
        row = {
            "text": text,
            "tokens": tokens,
            "spans": sorted(spans, key=lambda span: (span["start"], span["end"])),
            "relations": relations,
            "answer": "accept",
            "meta": {
                "document": document.id,
                "sentence_starts": document.sentence_starts,
            },
        }
        yield json.dumps(row, ensure_ascii=False)


def _span(mention: GoldMention, tokens: list[dict[str, Any]]) -> dict[str, Any]:
    first, last = mention.start, mention.end - 1
    return {
        "start": tokens[first]["start"],
        "end": tokens[last]["end"],
        "token_start": first,
        "token_end": last,
        "label": mention.label or COREF,
    }


def _relation(head: dict[str, Any], child: dict[str, Any]) -> dict[str, Any]:
    return {
        "head": head["token_end"],
        "child": child["token_end"],
        "head_span": head,
        "child_span": child,
        "label": COREF,
    }
