"""Gold clusters on a reference Doc -> which tokens should link, and how much we care.

Shapes: T tokens of the predicted Doc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from spacy.tokens import SpanGroup
from spacy.training import Example

from refreader_spacy.corpora.span_groups import UNSURE
from refreader_spacy.protocol import Array

TAUGHT = "taught"  # a span group: the tokens of which a teacher says whom they mean


@dataclass(frozen=True)
class LossWeights:
    """How much each kind of token pair counts; defaults are the paper's."""

    within: float = 0.1  # inside one mention
    coref: float = 5.0  # between two mentions of an entity
    negative_ratio: float = 10.0  # between mentions of two entities, relative to that
    other: float = 1.0  # all the rest: not linked
    focus: float = 0.0  # power of disagreement with a teacher, for a reader of names


@dataclass(frozen=True)
class GoldLinks:
    """What the link probabilities should be: pairs above the diagonal count."""

    target: Array  # (T, T), 0 or 1
    weight: Array  # (T, T), 0 where nothing is annotated


def gold_groups(example: Example, prefix: str) -> list[SpanGroup]:
    """The gold clusters, singletons included."""
    spans = example.reference.spans
    return [group for key, group in spans.items() if key.startswith(f"{prefix}_")]


def has_gold(example: Example, prefix: str) -> bool:
    """Is there anything to learn from?"""
    return bool(gold_groups(example, prefix)) or TAUGHT in example.reference.spans


def gold_links(example: Example, prefix: str, weights: LossWeights) -> GoldLinks:
    """Targets and weights for the tokens of the predicted Doc.

    A token that gold mentions share belongs to the shortest; of equals, to the last.
    """
    n_tokens = len(example.predicted)
    mention = np.full(n_tokens, -1)  # which mention each token is in
    entity = np.full(n_tokens, -1)  # which entity
    unsure = np.zeros(n_tokens, dtype=bool)
    spans = [
        (span.end - span.start, number, span)
        for number, group in enumerate(gold_groups(example, prefix))
        for span in group
    ]
    alignment = example.alignment.y2x
    spans.sort(key=lambda item: item[0], reverse=True)
    for index, (_, number, span) in enumerate(spans):
        tokens = alignment[span.start : span.end]
        mention[tokens] = index
        entity[tokens] = number

    annotated = entity >= 0  # (T,)
    same_mention = (mention[:, None] == mention[None]) & annotated[:, None]
    same_entity = (entity[:, None] == entity[None]) & annotated[:, None]
    between = annotated[:, None] & annotated[None]
    weight = np.full((n_tokens, n_tokens), weights.other, dtype=np.float32)
    for span in example.reference.spans.get(UNSURE, ()):
        unsure[alignment[span.start : span.end]] = True
    weight[unsure[:, None] & unsure[None]] = 0.0
    weight[between] = weights.coref * weights.negative_ratio
    weight[same_entity] = weights.coref
    weight[same_mention] = weights.within
    return GoldLinks(target=same_entity.astype(np.float32), weight=weight)
