"""Gold clusters on a reference Doc -> which tokens should link, and how much we care.

Shapes: T tokens of the predicted Doc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from spacy.training import Example

from refreader_spacy.corpora.span_groups import gold_clusters
from refreader_spacy.protocol import Array


@dataclass(frozen=True)
class LossWeights:
    """How much each kind of token pair counts; defaults are the paper's."""

    within: float = 0.1  # inside one mention
    coref: float = 5.0  # between two mentions of an entity
    negative_ratio: float = 10.0  # between mentions of two entities, relative to that
    other: float = 1.0  # all the rest: not linked


@dataclass(frozen=True)
class GoldLinks:
    """What the link probabilities should be: pairs above the diagonal count."""

    target: Array  # (T, T), 0 or 1
    weight: Array  # (T, T)


def gold_links(example: Example, prefix: str, weights: LossWeights) -> GoldLinks:
    """Targets and weights for the tokens of the predicted Doc.

    A token that gold mentions share belongs to the shortest; of equals, to the last.
    """
    n_tokens = len(example.predicted)
    mention = np.full(n_tokens, -1)  # which mention each token is in
    entity = np.full(n_tokens, -1)  # which entity
    spans = [
        (span.end - span.start, number, span)
        for number, group in enumerate(gold_clusters(example.reference, prefix))
        for span in group.spans
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
    weight = np.full((n_tokens, n_tokens), weights.other, dtype=np.float32)
    weight[annotated[:, None] & annotated[None]] = (
        weights.coref * weights.negative_ratio
    )
    weight[same_entity] = weights.coref
    weight[same_mention] = weights.within
    return GoldLinks(target=same_entity.astype(np.float32), weight=weight)
