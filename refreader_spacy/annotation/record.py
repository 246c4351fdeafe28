"""A Doc's clusters and links as JSON: for files and for the page."""

from __future__ import annotations

from typing import Any

from spacy.tokens import Doc, Span

from refreader_spacy.annotation.extensions import (
    coref_clusters,
    coref_links,
    doc_resolved_text,
)


def record(id: str, doc: Doc) -> dict[str, Any]:
    """Clusters, links and resolved text, with mentions as [start, end, text]."""
    return {
        "id": id,
        "text": doc.text,
        "clusters": [
            [mention_record(mention) for mention in cluster]
            for cluster in coref_clusters(doc)
        ],
        "links": [
            {
                "antecedent": mention_record(antecedent),
                "anaphor": mention_record(anaphor),
                "probability": round(probability, 4),
            }
            for antecedent, anaphor, probability in coref_links(doc)
        ],
        "resolved_text": doc_resolved_text(doc),
    }


def mention_record(mention: Span) -> list[int | str]:
    return [mention.start_char, mention.end_char, mention.text]
