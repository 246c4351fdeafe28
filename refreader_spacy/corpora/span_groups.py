"""The span groups of gold annotation and of what is known before it."""

from __future__ import annotations

from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

PREFIX = "coref_clusters"  # an entity each, numbered from 1
SPEAKERS = "speakers"  # a span for each turn, labelled with who says it
SPEAKER_LABELS = "speaker_labels"  # "Anna:" before what she says
SINGLE = "single"  # ends the key of one group for all that nothing refers to
ANNOTATION = "annotation"  # one span over all: by which scheme it was annotated


class GoldCluster(NamedTuple):
    """An entity's mentions, and what is known of each: lists by name."""

    spans: list[Span]
    attrs: dict[str, Any]


def gold_clusters(doc: Doc, prefix: str) -> list[GoldCluster]:
    """The gold clusters of a Doc, singletons included.

    Singletons may be groups as all others, or together in one, which is quicker: spaCy
    takes its time for each group that it loads.
    """
    numbered = [
        GoldCluster(list(group), dict(group.attrs))
        for key, group in doc.spans.items()
        if key.startswith(f"{prefix}_") and key.removeprefix(f"{prefix}_").isdecimal()
    ]
    if f"{prefix}_{SINGLE}" not in doc.spans:
        return numbered
    group = doc.spans[f"{prefix}_{SINGLE}"]
    return numbered + [
        GoldCluster([span], {name: [values[i]] for name, values in group.attrs.items()})
        for i, span in enumerate(group)
    ]


def has_clusters(doc: Doc, prefix: str) -> bool:
    """Is there anything to learn from?"""
    return any(
        key.startswith(f"{prefix}_") and len(group) for key, group in doc.spans.items()
    )
