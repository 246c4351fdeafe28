"""The registered scorers of `spacy train` and `spacy evaluate`."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from spacy.training import Example

from refreader_spacy.annotation.index import DEFAULT_PREFIX
from refreader_spacy.evaluation.cluster_scorer import score_clusters
from refreader_spacy.evaluation.gap_scorer import is_gap, score_gap

Scores = dict[str, Any]
Scorer = Callable[..., Scores]


def make_gap_scorer() -> Scorer:
    """GAP's metric at the pipe's threshold, and at the best one to choose models by."""
    return score_gap


def make_cluster_scorer(spans_prefix: str = DEFAULT_PREFIX) -> Scorer:
    """The cluster metrics and CoNLL F1 of the span groups with this prefix.

    spans_prefix (str): Gold clusters are `{spans_prefix}_1`, `_2`, ...
    """
    return partial(score_clusters, spans_prefix=spans_prefix)


def make_coref_scorer() -> Scorer:
    """GAP's metric for GAP's examples, cluster metrics for all others."""
    return score_coref


def score_coref(examples: Iterable[Example], **kwargs: Any) -> Scores:
    """GAP marks three mentions of a text, so its clusters say nothing of the rest."""
    examples = list(examples)
    others = [example for example in examples if not is_gap(example)]
    return {**score_gap(examples, **kwargs), **score_clusters(others, **kwargs)}
