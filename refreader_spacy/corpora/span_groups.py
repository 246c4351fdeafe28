"""The span groups that gold annotation uses."""

from __future__ import annotations

from spacy.tokens import Doc, SpanGroup

PREFIX = "coref_clusters"  # an entity each, numbered from 1
SPEAKERS = "speakers"  # a span for each turn
ANNOTATION = "annotation"  # one span over all: by which scheme it was annotated


def gold_groups(doc: Doc, prefix: str) -> list[SpanGroup]:
    """The gold clusters of a Doc, singletons included."""
    return [
        group
        for key, group in doc.spans.items()
        if key.startswith(f"{prefix}_") and key.removeprefix(f"{prefix}_").isdecimal()
    ]
