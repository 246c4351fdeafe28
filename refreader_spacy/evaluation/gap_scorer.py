"""GAP's metric over Examples: on gates, which have probabilities, and on clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import SpanGroup
from spacy.training import Example

from refreader_spacy.annotation.extensions import read_trace
from refreader_spacy.annotation.index import DEFAULT_PREFIX
from refreader_spacy.corpora.gap import GAP_KEYS, Answer, Gender
from refreader_spacy.errors import Errors
from refreader_spacy.evaluation.gap_metric import Decision, ScoreCard, score_card
from refreader_spacy.evaluation.mentions import cluster_groups, span_heads
from refreader_spacy.evaluation.thresholds import (
    Sweep,
    calibrated_threshold,
    threshold_sweep,
)
from refreader_spacy.protocol import Reading

CARD_SCORES = ("p", "r", "f", "masc_f", "fem_f", "bias")
GAP_SCORES = (
    *(f"gap_{score}" for score in CARD_SCORES),
    *("gap_best_f", "gap_best_threshold", "gap_ap"),
    *(f"gap_clusters_{score}" for score in CARD_SCORES),
)


@dataclass(frozen=True)
class GapLinks:
    """One GAP row: what is true, and what the pipeline finds.

    p_a, p_b (float): How probable its gates make a link to A and to B.
    clusters (Answer): Which of them are in a cluster with the pronoun.
    """

    id: str
    gender: Gender
    a_gold: bool
    b_gold: bool
    p_a: float
    p_b: float
    clusters: Answer

    def answer(self, threshold: float) -> Answer:
        return Answer(a=self.p_a >= threshold, b=self.p_b >= threshold)

    def decisions(self, answer: Answer) -> Iterator[Decision]:
        yield Decision(self.gender, self.a_gold, answer.a)
        yield Decision(self.gender, self.b_gold, answer.b)


def score_gap(
    examples: Iterable[Example],
    *,
    threshold: float,
    spans_prefix: str = DEFAULT_PREFIX,
    **_: Any,
) -> dict[str, Any]:
    """The registered GAP scorer; all scores are None without GAP examples."""
    rows = gap_links(examples, spans_prefix)
    if not rows:
        return dict.fromkeys(GAP_SCORES)
    gates = score_card(d for row in rows for d in row.decisions(row.answer(threshold)))
    clusters = score_card(d for row in rows for d in row.decisions(row.clusters))
    best, best_f = best_threshold(rows)
    return {
        **card_scores(gates),
        "gap_best_f": best_f,
        "gap_best_threshold": best,
        "gap_ap": _sweep(rows).average_precision,
        **card_scores(clusters, "gap_clusters"),
    }


def card_scores(card: ScoreCard, prefix: str = "gap") -> dict[str, Any]:
    """GAP's score card under the names that spaCy's tables and ours have for it."""
    return {
        f"{prefix}_p": card.overall.precision,
        f"{prefix}_r": card.overall.recall,
        f"{prefix}_f": card.overall.f1,
        f"{prefix}_masc_f": card.masculine.f1,
        f"{prefix}_fem_f": card.feminine.f1,
        f"{prefix}_bias": card.bias,
    }


def gap_links(
    examples: Iterable[Example], prefix: str = DEFAULT_PREFIX
) -> list[GapLinks]:
    """What was found for A and for B, for all examples that come from GAP."""
    return [_gap_links(example, prefix) for example in examples if is_gap(example)]


def best_threshold(rows: Sequence[GapLinks]) -> tuple[float, float]:
    """The threshold with the highest F1, and that F1."""
    sweep = _sweep(rows)
    best = np.argmax(sweep.f1)
    return float(sweep.threshold[best]), float(sweep.f1[best])


def steady_threshold(rows: Sequence[GapLinks]) -> float:
    """A threshold for other rows than these: it doesn't follow every accident."""
    return calibrated_threshold(*_decisions(rows))


def is_gap(example: Example) -> bool:
    return "gap_pronoun" in example.reference.spans


def _gap_links(example: Example, prefix: str) -> GapLinks:
    reading = read_trace(example.predicted)
    if reading is None:
        raise ValueError(Errors.R109.format(text=example.predicted.text[:40]))
    groups = [example.reference.spans[key] for key in GAP_KEYS]
    pronoun, a, b = (_tokens(example, group) for group in groups)
    together = _clustered_tokens(example, prefix, pronoun)
    return GapLinks(
        id=groups[0].attrs["id"],
        gender=groups[0].attrs["gender"],
        a_gold=groups[1].attrs["coref"],
        b_gold=groups[2].attrs["coref"],
        p_a=_link_probability(reading, pronoun, a),
        p_b=_link_probability(reading, pronoun, b),
        clusters=Answer(a=not together.isdisjoint(a), b=not together.isdisjoint(b)),
    )


def _clustered_tokens(
    example: Example, prefix: str, pronoun: Sequence[int]
) -> set[int]:
    """The heads of all mentions in the pronoun's clusters.

    A name is found if one of its tokens is a head: "Ann's mother" is not Ann.
    """
    clusters = [
        set(span_heads(group)) for group in cluster_groups(example.predicted, prefix)
    ]
    return set().union(*(heads for heads in clusters if not heads.isdisjoint(pronoun)))


def _tokens(example: Example, group: SpanGroup) -> list[int]:
    """The tokens of the predicted Doc where the reference has the group's one span."""
    return [
        int(token)
        for span in group
        for token in example.alignment.y2x[span.start : span.end]
    ]


def _link_probability(
    reading: Reading, pronoun: Sequence[int], name: Sequence[int]
) -> float:
    """The paper's rule: the best link of a pronoun's token and a name's token."""
    pairs = product(pronoun, name)
    return max((reading.link_probability(i, j) for i, j in pairs), default=0.0)


def _sweep(rows: Sequence[GapLinks]) -> Sweep:
    return threshold_sweep(*_decisions(rows))


def _decisions(
    rows: Sequence[GapLinks],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The probabilities of all A and B, and whether they corefer."""
    return (
        np.array([p for row in rows for p in (row.p_a, row.p_b)]),
        np.array([gold for row in rows for gold in (row.a_gold, row.b_gold)]),
    )
