"""The gated recurrent unit in plain NumPy, where nothing is compiled.

Shapes: B texts, N tokens of all, H hidden size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]


def recur_reference(
    weight: Floats, bias: Floats, hidden: Floats, projected: Floats, lengths: Longs
) -> Floats:
    """Hidden states after each token of texts that follow one another (N, H).

    weight, bias (Floats): Of the recurrent products, in torch's order (3H, H), (3H,).
    hidden (Floats): Where each text begins; written over with where it ends (B, H).
    projected (Floats): The inputs' products with their bias (N, 3H).
    """
    size = hidden.shape[1]
    history = np.empty((len(projected), size), np.float32)
    token = 0
    for text, length in enumerate(lengths.tolist()):
        h = hidden[text].copy()
        for _ in range(length):
            x, r = projected[token], weight @ h + bias
            gates = 1 / (1 + np.exp(-np.clip(x[: 2 * size] + r[: 2 * size], -80, 80)))
            candidate = np.tanh(x[2 * size :] + gates[:size] * r[2 * size :])
            h = candidate + gates[size:] * (h - candidate)
            history[token] = h
            token += 1
        hidden[text] = h
    return history
