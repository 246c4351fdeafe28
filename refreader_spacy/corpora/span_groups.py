"""The span groups of gold annotation and of what is known before it."""

from __future__ import annotations

from spacy.tokens import Doc, SpanGroup

PREFIX = "coref_clusters"  # an entity each, numbered from 1
SPEAKERS = "speakers"  # a span for each turn, labelled with who says it
SPEAKER_LABELS = "speaker_labels"  # "Anna:" before what she says
ANNOTATION = "annotation"  # one span over all: by which scheme it was annotated


def gold_groups(doc: Doc, prefix: str) -> list[SpanGroup]:
    """The gold clusters of a Doc, singletons included."""
    return [
        group
        for key, group in doc.spans.items()
        if key.startswith(f"{prefix}_") and key.removeprefix(f"{prefix}_").isdecimal()
    ]
