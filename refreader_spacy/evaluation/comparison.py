"""How sure is it that one system is better than another on GAP?

Shapes: S runs of a system, R rows, and K resampled test sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.corpora.gap import Answer, GapRow

Array = NDArray[np.int64]

N_SAMPLES = 10_000
BATCH = 100  # resampled test sets that are in memory together


@dataclass(frozen=True)
class Gain:
    """What is won in overall F1, and where that would be with other rows.

    low, high (float): The middle 95 % of the gains on resampled test sets.
    chance (float): The share of them with a gain at all.
    """

    old: float
    new: float
    low: float
    high: float
    chance: float


def paired_gain(
    rows: Sequence[GapRow],
    old: Sequence[Mapping[str, Answer]],
    new: Sequence[Mapping[str, Answer]],
    *,
    seed: int = 0,
) -> Gain:
    """Compare the mean F1 of two systems' runs by a paired bootstrap over rows.

    Both are scored on the same resampled rows, so what is hard for both cancels out.
    Runs are taken as they are: the interval says what other rows might give, not what
    other seeds might.
    """
    from scipy.stats import bootstrap  # type: ignore[import-untyped]

    counts = np.stack([_counts(rows, answers) for answers in (*old, *new)])  # (S, R, 2)

    def f1(sample: Array, axis: int = -1) -> Any:
        """The mean of each system, from the numbers of rows (K, R) or (R,)."""
        hits, total = np.moveaxis(counts[:, sample].sum(axis=-2), -1, 0)  # (S, K)
        runs = 2 * hits / np.maximum(1, total)
        return runs[: len(old)].mean(axis=0), runs[len(old) :].mean(axis=0)

    def gain(sample: Array, axis: int = -1) -> Any:
        before, after = f1(sample)
        return after - before

    numbers = np.arange(len(rows))
    result = bootstrap(
        (numbers,),
        gain,
        n_resamples=N_SAMPLES,
        batch=BATCH,
        vectorized=True,
        method="percentile",
        random_state=np.random.default_rng(seed),
    )
    before, after = f1(numbers)
    return Gain(
        old=float(before),
        new=float(after),
        low=float(result.confidence_interval.low),
        high=float(result.confidence_interval.high),
        chance=float(np.mean(result.bootstrap_distribution > 0)),
    )


def _counts(rows: Sequence[GapRow], answers: Mapping[str, Answer]) -> Array:
    """What F1 is made of, for each row: right TRUEs, and all TRUEs of both sides."""
    gold = np.array([(row.a_coref, row.b_coref) for row in rows], dtype=np.int64)
    given = np.array([answers[row.id] for row in rows], dtype=np.int64)
    return np.stack([(gold * given).sum(1), (gold + given).sum(1)], axis=1)  # (R, 2)
