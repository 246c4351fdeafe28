"""Docs with clusters written by hand."""

import re

import spacy
from spacy.tokens import Doc, Span, SpanGroup

NLP = spacy.blank("en")


def marked(text: str, types: dict[str, str] | None = None) -> Doc:
    """A Doc with clusters from brackets with a cluster's letter: [a:Ahab] left."""
    plain, opened, found = "", [], []
    for piece in re.split(r"(\[\w:|\])", text):
        if piece.startswith("["):
            opened.append((piece[1], len(plain)))
        elif piece == "]":
            letter, start = opened.pop()
            found.append((letter, start, len(plain)))
        else:
            plain += piece
    doc = NLP(plain)
    clusters: dict[str, list[Span]] = {}
    for letter, start, end in sorted(found, key=lambda mention: mention[1:]):
        span = doc.char_span(start, end, label=(types or {}).get(letter, ""))
        clusters.setdefault(letter, []).append(span)
    for number, spans in enumerate(clusters.values(), start=1):
        key = f"coref_clusters_{number}"
        doc.spans[key] = SpanGroup(doc, name=key, spans=spans)
    return doc
