"""Scores for `spacy train` and `spacy evaluate`: two Docs in, numbers out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example

from refreader_spacy.annotation.extensions import read_trace
from refreader_spacy.corpora.gap import GAP_KEYS, Answer, Gender
from refreader_spacy.errors import Errors
from refreader_spacy.evaluation.cluster_metrics import (
    CLUSTER_METRICS,
    cluster_scores,
    conll_f1,
)
from refreader_spacy.evaluation.gap_metric import Decision, ScoreCard, score_card
from refreader_spacy.evaluation.thresholds import (
    Sweep,
    calibrated_threshold,
    threshold_sweep,
)
from refreader_spacy.protocol import Reading

Scores = dict[str, Any]
Scorer = Callable[..., Scores]
Cluster = list[tuple[int, int]]  # its mentions, from character to character

GAP_SCORES = (
    *("gap_p", "gap_r", "gap_f", "gap_masc_f", "gap_fem_f", "gap_bias"),
    *("gap_best_f", "gap_best_threshold", "gap_ap"),
)
CLUSTER_SCORES = (
    "coref_f",
    *(f"coref_{metric}_{part}" for metric in CLUSTER_METRICS for part in "prf"),
)


@dataclass(frozen=True)
class GapLinks:
    """One GAP row: what is true, and how probable the pipeline finds it."""

    id: str
    gender: Gender
    a_gold: bool
    b_gold: bool
    p_a: float
    p_b: float

    def answer(self, threshold: float) -> Answer:
        return Answer(a=self.p_a >= threshold, b=self.p_b >= threshold)


def make_gap_scorer() -> Scorer:
    """GAP's metric at the pipe's threshold, and at the best one to choose models by."""
    return score_gap


def make_cluster_scorer(spans_prefix: str = "coref_clusters") -> Scorer:
    """The cluster metrics and CoNLL F1 of the span groups with this prefix."""
    return partial(score_clusters, spans_prefix=spans_prefix)


def make_coref_scorer() -> Scorer:
    """GAP's metric for GAP's examples, cluster metrics for all others."""
    return score_coref


def score_coref(examples: Iterable[Example], **kwargs: Any) -> Scores:
    """GAP marks three mentions of a text, so its clusters say nothing of the rest."""
    examples = list(examples)
    others = [example for example in examples if not _is_gap(example)]
    return {**score_gap(examples, **kwargs), **score_clusters(others, **kwargs)}


def score_gap(examples: Iterable[Example], *, threshold: float, **_: Any) -> Scores:
    """The registered GAP scorer; all scores are None without GAP examples."""
    rows = gap_probabilities(examples)
    if not rows:
        return dict.fromkeys(GAP_SCORES)
    card = score_card(
        decision
        for row in rows
        for decision in (
            Decision(row.gender, row.a_gold, row.answer(threshold).a),
            Decision(row.gender, row.b_gold, row.answer(threshold).b),
        )
    )
    best, best_f = best_threshold(rows)
    return {
        **card_scores(card),
        "gap_best_f": best_f,
        "gap_best_threshold": best,
        "gap_ap": _sweep(rows).average_precision,
    }


def card_scores(card: ScoreCard) -> Scores:
    """GAP's score card under the names that spaCy's tables and ours have for it."""
    return {
        "gap_p": card.overall.precision,
        "gap_r": card.overall.recall,
        "gap_f": card.overall.f1,
        "gap_masc_f": card.masculine.f1,
        "gap_fem_f": card.feminine.f1,
        "gap_bias": card.bias,
    }


def gap_probabilities(examples: Iterable[Example]) -> list[GapLinks]:
    """The probabilities of A and of B, for all examples that come from GAP."""
    return [_gap_links(example) for example in examples if _is_gap(example)]


def best_threshold(rows: Sequence[GapLinks]) -> tuple[float, float]:
    """The threshold with the highest F1, and that F1."""
    sweep = _sweep(rows)
    best = np.argmax(sweep.f1)
    return float(sweep.threshold[best]), float(sweep.f1[best])


def steady_threshold(rows: Sequence[GapLinks]) -> float:
    """A threshold for other rows than these: it doesn't follow every accident."""
    return calibrated_threshold(*_decisions(rows))


def score_clusters(
    examples: Iterable[Example], *, spans_prefix: str = "coref_clusters", **_: Any
) -> Scores:
    """The registered cluster scorer; all scores are None without gold clusters."""
    documents = [
        (
            _clusters(example.reference, spans_prefix),
            _clusters(example.predicted, spans_prefix),
        )
        for example in examples
    ]
    if not any(key for key, _ in documents):
        return dict.fromkeys(CLUSTER_SCORES)
    agreements = cluster_scores(documents)
    scores = {"coref_f": conll_f1(agreements)}
    for metric, agreement in agreements.items():
        scores[f"coref_{metric}_p"] = agreement.precision
        scores[f"coref_{metric}_r"] = agreement.recall
        scores[f"coref_{metric}_f"] = agreement.f1
    return scores


def _clusters(doc: Doc, prefix: str) -> list[Cluster]:
    """The clusters in span groups `{prefix}_1`, `_2` and so on, whatever the tokens."""
    return [
        [(span.start_char, span.end_char) for span in group]
        for key, group in doc.spans.items()
        if key.startswith(f"{prefix}_") and key.removeprefix(f"{prefix}_").isdecimal()
    ]


def _is_gap(example: Example) -> bool:
    return "gap_pronoun" in example.reference.spans


def _gap_links(example: Example) -> GapLinks:
    reading = read_trace(example.predicted)
    if reading is None:
        raise ValueError(Errors.R109.format(text=example.predicted.text[:40]))
    pronoun, a, b = (example.reference.spans[key] for key in GAP_KEYS)
    return GapLinks(
        id=pronoun.attrs["id"],
        gender=pronoun.attrs["gender"],
        a_gold=a.attrs["coref"],
        b_gold=b.attrs["coref"],
        p_a=_link_probability(reading, _tokens(example, pronoun), _tokens(example, a)),
        p_b=_link_probability(reading, _tokens(example, pronoun), _tokens(example, b)),
    )


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
