"""How well two sets of clusters agree: MUC, B-cubed, CEAFe, LEA, CoNLL F1.

A cluster is a sequence of mentions, a mention anything that can be hashed. Counts
are summed over documents before they are divided, as the reference scorers do;
singletons count where a metric lets them (all but MUC), and what would be divided
by zero is zero.

Shapes: K clusters in the key, R in the response.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

Clusters = Iterable[Sequence[Hashable]]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """Recall and precision of a response, and their harmonic mean."""

    recall: float
    precision: float

    @property
    def f1(self) -> float:
        total = self.recall + self.precision
        return 2 * self.recall * self.precision / total if total else 0.0


@dataclass(frozen=True)
class Overlap:
    """All that the metrics know of one document.

    shared (Array): Mentions that two clusters have in common (K, R).
    key (Array): Sizes of the key's clusters (K,).
    response (Array): Sizes of the response's clusters (R,).
    """

    shared: Array
    key: Array
    response: Array

    @property
    def swapped(self) -> Overlap:
        return Overlap(self.shared.T, self.response, self.key)


def overlap(key: Clusters, response: Clusters) -> Overlap:
    """Count shared mentions; a mention belongs to the first cluster that has it."""
    key_of, response_of = _cluster_of(key), _cluster_of(response)
    key_size, response_size = _sizes(key_of), _sizes(response_of)
    shared = np.zeros((len(key_size), len(response_size)))
    for mention in key_of.keys() & response_of.keys():
        shared[key_of[mention], response_of[mention]] += 1
    return Overlap(shared, key_size, response_size)


Fraction = tuple[float, float]  # top and bottom: documents are added before dividing
Metric = Callable[[Overlap], Fraction]


def muc(both: Overlap) -> Fraction:
    """Links of the key that are kept, of those it takes to hold its clusters."""
    parts = np.count_nonzero(both.shared, axis=1) + both.key - both.shared.sum(axis=1)
    return float(np.sum(both.key - parts)), float(np.sum(both.key - 1))


def b_cubed(both: Overlap) -> Fraction:
    """How much of its own cluster each mention of the key meets again."""
    found = both.shared**2 / both.key[:, None]  # (K, R)
    return float(np.sum(found)), float(np.sum(both.key))


def ceaf_e(both: Overlap) -> Fraction:
    """Similarity of clusters, paired one to one in the best way there is."""
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

    similarity = 2 * both.shared / (both.key[:, None] + both.response)  # (K, R)
    pairs = linear_sum_assignment(similarity, maximize=True)
    return float(np.sum(similarity[pairs])), len(both.key)


def lea(both: Overlap) -> Fraction:
    """Resolved links of each entity, weighted by its size; a singleton is one link."""
    singletons = both.shared[:, both.response == 1].sum(axis=1)  # (K,)
    links = np.where(both.key == 1, singletons, _n_links(both.shared).sum(axis=1))
    all_links = np.where(both.key == 1, 1, _n_links(both.key))
    return float(np.sum(both.key * links / all_links)), float(np.sum(both.key))


METRICS: dict[str, Metric] = {
    "muc": muc,
    "b3": b_cubed,
    "ceafe": ceaf_e,
    "lea": lea,
}


def cluster_scores(
    documents: Iterable[tuple[Clusters, Clusters]],
) -> dict[str, Agreement]:
    """All metrics over pairs of key and response.

    A metric gives the recall; the precision is the recall of the two changed over.
    """
    overlaps = [overlap(key, response) for key, response in documents]
    swapped = [both.swapped for both in overlaps]
    return {
        name: Agreement(
            recall=_total(metric, overlaps), precision=_total(metric, swapped)
        )
        for name, metric in METRICS.items()
    }


def conll_f1(scores: dict[str, Agreement]) -> float:
    """The mean of MUC, B-cubed and CEAFe F1."""
    return sum(scores[name].f1 for name in ("muc", "b3", "ceafe")) / 3


def _cluster_of(clusters: Clusters) -> dict[Hashable, int]:
    """The cluster of each mention, numbered without gaps."""
    cluster_of: dict[Hashable, int] = {}
    numbers = count()
    for cluster in clusters:
        if new := [mention for mention in cluster if mention not in cluster_of]:
            cluster_of |= dict.fromkeys(new, next(numbers))
    return cluster_of


def _sizes(cluster_of: dict[Hashable, int]) -> Array:
    numbers = np.fromiter(cluster_of.values(), dtype=np.intp)
    return np.bincount(numbers).astype(np.float64)


def _n_links(n_mentions: Array) -> Array:
    return n_mentions * (n_mentions - 1) / 2


def _total(metric: Metric, overlaps: Iterable[Overlap]) -> float:
    fractions = [metric(both) for both in overlaps]
    whole = sum(bottom for _, bottom in fractions)
    return sum(top for top, _ in fractions) / whole if whole else 0.0
