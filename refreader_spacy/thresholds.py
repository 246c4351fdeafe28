"""The search for the threshold that turns probabilities into the best decisions.

Shapes: N decisions, K thresholds that tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LOWEST = 1e-6  # where the logarithm of a threshold ends


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

    def smooth_f1(self, reach: float) -> Array:
        """F1 averaged over all thresholds that are near in logarithm.

        Few rows make a ragged curve, on which the highest point is often luck.

        reach (float): How far to look to each side, as a difference of logarithms.
        RETURNS (Array): One average for each threshold (K,).
        """
        edges = np.r_[0.0, _log(self.accepted), _log(0.0)]  # (K + 2,), falling
        heights = np.r_[0.0, self.f1]  # (K + 1,), F1 between two edges
        area = np.r_[0.0, np.cumsum(heights * -np.diff(edges))]  # (K + 2,)
        center = _log(self.threshold)  # (K,)
        high = np.minimum(center + reach, 0.0)
        low = np.maximum(center - reach, edges[-1])
        # np.interp wants its positions to rise.
        total = np.interp(-low, -edges, area) - np.interp(-high, -edges, area)
        average: Array = total / (high - low)
        return average


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


def _log(threshold: Array | float) -> Array:
    logarithm: Array = np.log(np.clip(threshold, LOWEST, 1.0))
    return logarithm
