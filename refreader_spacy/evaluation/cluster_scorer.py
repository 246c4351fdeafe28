"""Cluster metrics over Examples, for spaCy and for the command line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from refreader_spacy.annotation.index import DEFAULT_PREFIX
from refreader_spacy.corpora.span_groups import ANNOTATION
from refreader_spacy.evaluation.anaphors import anaphor_scores, type_accuracy
from refreader_spacy.evaluation.cluster_metrics import (
    CLUSTER_METRICS,
    Agreement,
    cluster_scores,
    conll_f1,
)
from refreader_spacy.evaluation.mentions import ScoredDocument, scored_document

PREFIXES = {"span": "coref", "head": "coref_head"}  # of scores, by what has to match
CLUSTER_SCORES = (
    *(
        f"{prefix}_{score}"
        for prefix in PREFIXES.values()
        for score in (
            "f",
            *(f"{name}_{part}" for name in CLUSTER_METRICS for part in "prf"),
        )
    ),
    *("coref_type_acc", "coref_per_anaphor"),
)


def score_clusters(
    examples: Iterable[Example],
    *,
    spans_prefix: str = DEFAULT_PREFIX,
    keep_singletons: bool = False,
    **_: Any,
) -> dict[str, Any]:
    """The registered cluster scorer; all scores are None without gold clusters.

    keep_singletons (bool): The pipe's setting. A pipe that keeps no singletons is
        scored without those of the gold, one that keeps them with all.
    """
    documents = [scored_document(example, spans_prefix) for example in examples]
    return document_scores(documents, singletons=keep_singletons)


def genre_scores(
    examples: Iterable[Example], **settings: Any
) -> dict[str, dict[str, Any]]:
    """The scores of each kind of text, where the gold says which it is."""
    by_genre: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if genre := _genre(example.reference):
            by_genre[genre].append(example)
    return {
        genre: {"n_docs": len(group), **score_clusters(group, **settings)}
        for genre, group in sorted(by_genre.items())
    }


def document_scores(
    documents: Sequence[ScoredDocument], *, singletons: bool
) -> dict[str, Any]:
    """All of CLUSTER_SCORES.

    `coref_f` is CoNLL F1 and `coref_muc_p` a metric's precision, of spans that match
    exactly; `coref_head_f` and `coref_head_muc_p` are the same of mentions that match
    by their heads. `coref_type_acc` is the share of right types among mentions that
    match by their heads. `coref_per_anaphor` has the links of each kind of anaphor, as
    `ents_per_type` has entities.
    """
    if not any(document.key for document in documents):
        return dict.fromkeys(CLUSTER_SCORES)
    scores: dict[str, Any] = {}
    for place, prefix in PREFIXES.items():
        pairs = (document.by(attrgetter(place)) for document in documents)
        agreements = cluster_scores(pairs, singletons=singletons)
        scores[f"{prefix}_f"] = conll_f1(agreements)
        for metric, agreement in agreements.items():
            for part, value in parts(agreement).items():
                scores[f"{prefix}_{metric}_{part}"] = value
    scores["coref_type_acc"] = type_accuracy(documents)
    scores["coref_per_anaphor"] = {
        kind.value: parts(agreement)
        for kind, agreement in anaphor_scores(documents).items()
    }
    return scores


def parts(agreement: Agreement) -> dict[str, float]:
    """Under spaCy's names for them."""
    return {"p": agreement.precision, "r": agreement.recall, "f": agreement.f1}


def _genre(doc: Doc) -> str:
    group = doc.spans.get(ANNOTATION)
    return str(group.attrs.get("genre", "")) if group is not None else ""
