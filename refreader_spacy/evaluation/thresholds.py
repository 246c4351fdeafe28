"""The search for the threshold that turns probabilities into the best decisions.

Shapes: N decisions, K thresholds that tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RIDGE = 1e-3  # keeps the fit finite where all rows are told apart


@dataclass(frozen=True)
class Sweep:
    """Scores at every threshold that makes a difference, from strict to lax.

    accepted (Array): The lowest probability that still counts as a link (K,).
    threshold (Array): Between that and the next one, not on either (K,).
    """

    accepted: Array
    threshold: Array
    precision: Array
    recall: Array
    f1: Array

    @property
    def average_precision(self) -> float:
        """The area under precision as a step function of recall."""
        return float(np.sum(self.precision * np.diff(self.recall, prepend=0)))


def threshold_sweep(probabilities: Array, gold: NDArray[np.bool_]) -> Sweep:
    """Try all thresholds at once, in the time it takes to sort (N,) probabilities."""
    order = np.argsort(-probabilities)
    probabilities, gold = probabilities[order], gold[order]
    last = np.flatnonzero(np.diff(probabilities, append=-1.0))  # (K,), of equal ones
    accepted = probabilities[last]
    following = np.r_[accepted[1:], 0.0]
    between = (accepted + following) / 2
    tp, n_gold = np.cumsum(gold)[last], int(np.sum(gold))
    return Sweep(
        accepted=accepted,
        # Nothing lies between two floats that are next to each other.
        threshold=np.where(between > following, between, accepted),
        precision=tp / (last + 1),
        recall=tp / max(1, n_gold),
        f1=2 * tp / (last + 1 + n_gold),
    )


def calibrated_threshold(probabilities: Array, gold: NDArray[np.bool_]) -> float:
    """The threshold with the highest expected F1, if one is as likely as its fellows.

    With few rows, the best point of the ragged F1 curve is often luck. So the chance of
    being right is first fitted as a logistic function of a decision's rank, two numbers
    for all rows, and F1 is then expected under that.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    order = np.argsort(-probabilities)
    probabilities, right = probabilities[order], gold[order].astype(np.float64)
    ranks = np.linspace(1, -1, len(order))  # from sure to unlikely
    inputs = np.stack([np.ones_like(ranks), ranks], axis=1)  # (N, 2)

    def surprise(weights: Array) -> float:
        scores = inputs @ weights
        fit = np.logaddexp(0, scores).sum() - right @ scores
        return float(fit + RIDGE * weights @ weights)

    scores = inputs @ minimize(surprise, np.zeros(2)).x
    chances = 1 / (1 + np.exp(-scores))  # (N,)
    accepted = np.arange(1, len(chances) + 1)
    expected_f1 = 2 * np.cumsum(chances) / (accepted + chances.sum())
    lowest = int(np.argmax(expected_f1))
    # Between two probabilities: on one, another processor may round to its other side
    return float(probabilities[lowest : lowest + 2].mean())
