"""How well two sets of clusters agree: mentions, MUC, B-cubed, CEAFe, LEA, BLANC.

A cluster is a sequence of mentions, a mention anything that can be hashed: (start,
end) for exact match, the index of the head token for head match. Counts are summed
over documents before they are divided, as the reference scorers do. What would be
divided by zero is zero.

Shapes: K clusters in the key, R in the response, P pairs of them that share mentions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

Clusters = Iterable[Sequence[Hashable]]
Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Agreement:
    """Recall, precision and F1 of a response."""

    recall: float
    precision: float
    f1: float


@dataclass(frozen=True)
class Tally:
    """Numerators and denominators of recall and precision, added over documents."""

    recalled: float = 0
    key: float = 0
    precise: float = 0
    response: float = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.recalled + other.recalled,
            self.key + other.key,
            self.precise + other.precise,
            self.response + other.response,
        )

    @property
    def agreement(self) -> Agreement:
        recall = self.recalled / self.key if self.key else 0.0
        precision = self.precise / self.response if self.response else 0.0
        total = recall + precision
        f1 = 2 * recall * precision / total if total else 0.0
        return Agreement(recall, precision, f1)


@dataclass(frozen=True)
class Overlap:
    """All that the metrics know of one document.

    in_key, in_response (Indices): Which two clusters share mentions (P,).
    shared (Array): How many mentions they share, never zero (P,).
    key (Array): Sizes of the key's clusters (K,).
    response (Array): Sizes of the response's clusters (R,).
    """

    in_key: Indices
    in_response: Indices
    shared: Array
    key: Array
    response: Array

    @property
    def swapped(self) -> Overlap:
        return Overlap(
            self.in_response, self.in_key, self.shared, self.response, self.key
        )

    def by_key(self, values: Array) -> Array:
        """Sum what there is for each pair (P,) over the clusters of the key (K,)."""
        return np.bincount(self.in_key, values, len(self.key)).astype(np.float64)


def overlap(key: Clusters, response: Clusters, *, singletons: bool = True) -> Overlap:
    """Count shared mentions; a mention belongs to the first cluster that has it.

    singletons (bool): Without them, clusters of one mention are dropped on both sides.
    """
    key_of = _cluster_of(key, singletons=singletons)
    response_of = _cluster_of(response, singletons=singletons)
    pairs = np.array(
        [(key_of[m], response_of[m]) for m in key_of if m in response_of], dtype=np.intp
    ).reshape(-1, 2)
    response_sizes = _sizes(response_of)
    width = max(1, len(response_sizes))
    cells, shared = np.unique(pairs[:, 0] * width + pairs[:, 1], return_counts=True)
    return Overlap(
        in_key=cells // width,
        in_response=cells % width,
        shared=shared.astype(np.float64),
        key=_sizes(key_of),
        response=response_sizes,
    )


def mention(both: Overlap) -> Tally:
    """Mentions that both have, whatever their clusters."""
    return _same(both.shared.sum(), both.key.sum(), both.response.sum())


def muc(both: Overlap) -> Tally:
    """Links of the key that are kept, of those it takes to hold its clusters."""
    return _both_ways(_muc, both)


def b_cubed(both: Overlap) -> Tally:
    """How much of its own cluster each mention of the key meets again."""
    return _both_ways(_b_cubed, both)


def ceaf_e(both: Overlap) -> Tally:
    """Similarity of clusters, paired one to one in the best way there is."""
    sizes = both.key[both.in_key] + both.response[both.in_response]  # (P,)
    total = _best_assignment(both, 2 * both.shared / sizes)
    return _same(total, len(both.key), len(both.response))


def lea(both: Overlap) -> Tally:
    """Resolved links of each entity, weighted by its size; a singleton is one link."""
    return _both_ways(_lea, both)


def blanc_coreference(both: Overlap) -> Tally:
    """Pairs of mentions that are in one cluster."""
    return _same(*(float(_n_links(n).sum()) for n in _three(both)))


def blanc_non_coreference(both: Overlap) -> Tally:
    """Pairs of mentions that are in two clusters."""
    apart_in_both = _n_links(both.shared.sum()) - (
        _n_links(both.by_key(both.shared)).sum()
        + _n_links(both.swapped.by_key(both.shared)).sum()
        - _n_links(both.shared).sum()
    )
    return _same(
        float(apart_in_both),
        *(float(_n_links(n.sum()) - _n_links(n).sum()) for n in _three(both)[1:]),
    )


METRICS: dict[str, Callable[[Overlap], Tally]] = {
    "mention": mention,
    "muc": muc,
    "b3": b_cubed,
    "ceafe": ceaf_e,
    "lea": lea,
}
BLANC = (blanc_coreference, blanc_non_coreference)
CLUSTER_METRICS = (*METRICS, "blanc")


def cluster_scores(
    documents: Iterable[tuple[Clusters, Clusters]], *, singletons: bool = True
) -> dict[str, Agreement]:
    """All of CLUSTER_METRICS over pairs of key and response.

    singletons (bool): Without them, clusters of one mention are dropped on both sides.
    """
    overlaps = [overlap(k, r, singletons=singletons) for k, r in documents]
    scores = {
        name: sum(map(metric, overlaps), Tally()).agreement
        for name, metric in METRICS.items()
    }
    return {**scores, "blanc": _blanc(overlaps)}


def conll_f1(scores: dict[str, Agreement]) -> float:
    """The mean of MUC, B-cubed and CEAFe F1."""
    return sum(scores[name].f1 for name in ("muc", "b3", "ceafe")) / 3


def _cluster_of(clusters: Clusters, *, singletons: bool) -> dict[Hashable, int]:
    """The cluster of each mention, numbered without gaps."""
    seen: set[Hashable] = set()
    cluster_of: dict[Hashable, int] = {}
    numbers = count()
    for cluster in clusters:
        new = {mention for mention in cluster if mention not in seen}
        seen |= new
        if len(new) > (not singletons):
            cluster_of |= dict.fromkeys(new, next(numbers))
    return cluster_of


def _sizes(cluster_of: dict[Hashable, int]) -> Array:
    numbers = np.fromiter(cluster_of.values(), dtype=np.intp)
    return np.bincount(numbers).astype(np.float64)


def _n_links(n_mentions: Array) -> Array:
    return n_mentions * (n_mentions - 1) / 2


def _three(both: Overlap) -> tuple[Array, Array, Array]:
    return both.shared, both.key, both.response


def _same(shared: float, key: float, response: float) -> Tally:
    """The tally where recall and precision have one numerator."""
    return Tally(float(shared), float(key), float(shared), float(response))


def _both_ways(
    recall: Callable[[Overlap], tuple[Array, Array]], both: Overlap
) -> Tally:
    """The tally where precision is the recall of key and response changed over."""
    recalled, precise = recall(both), recall(both.swapped)
    return Tally(*(float(np.sum(part)) for part in (*recalled, *precise)))


def _muc(both: Overlap) -> tuple[Array, Array]:
    ones = np.ones_like(both.shared)
    return both.by_key(both.shared) - both.by_key(ones), both.key - 1


def _b_cubed(both: Overlap) -> tuple[Array, Array]:
    return both.shared**2 / both.key[both.in_key], both.key


def _lea(both: Overlap) -> tuple[Array, Array]:
    alone = both.response[both.in_response] == 1  # (P,)
    self_links = both.by_key(np.where(alone, both.shared, 0))  # (K,)
    links = np.where(both.key == 1, self_links, both.by_key(_n_links(both.shared)))
    all_links = np.where(both.key == 1, 1, _n_links(both.key))
    return both.key * links / all_links, both.key


def _best_assignment(both: Overlap, similarity: Array) -> float:
    """The highest sum of similarities (P,) if a cluster may be in one pair only.

    The (K, R) matrix of a novel has hundreds of millions of zeros, so it stays sparse.
    The solver wants a partner for every row: beside the clusters of the response, each
    row has a dummy of similarity zero. It minimises, and takes a stored zero for
    a missing entry, so costs are 2 - similarity.
    """
    from scipy.sparse import csr_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import (  # type: ignore[import-untyped]
        min_weight_full_bipartite_matching,
    )

    if not len(similarity):
        return 0.0
    n_rows, n_columns = len(both.key), len(both.response)
    dummies = np.arange(n_rows)
    costs = np.concatenate([2 - similarity, np.full(n_rows, 2.0)])
    rows = np.concatenate([both.in_key, dummies])
    columns = np.concatenate([both.in_response, n_columns + dummies])
    table = csr_array((costs, (rows, columns)), shape=(n_rows, n_columns + n_rows))
    matched = min_weight_full_bipartite_matching(table)
    return 2 * n_rows - float(table[matched].sum())


def _blanc(overlaps: Sequence[Overlap]) -> Agreement:
    """The mean over both kinds of pairs, or the one kind that the key has."""
    tallies = [sum(map(kind, overlaps), Tally()) for kind in BLANC]
    kinds = [tally.agreement for tally in tallies if tally.key]
    n = max(1, len(kinds))
    return Agreement(
        recall=sum(kind.recall for kind in kinds) / n,
        precision=sum(kind.precision for kind in kinds) / n,
        f1=sum(kind.f1 for kind in kinds) / n,
    )
