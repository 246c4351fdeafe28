"""Gates -> link probabilities, against gold -> the loss and its gradient in the gates.

Shapes: B documents, T tokens of the longest, M memory cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy
from torch.nn.utils.rnn import pad_sequence

from refreader_spacy.paper.gold import GoldLinks
from refreader_spacy.paper.links import link_probabilities
from refreader_spacy.protocol import Reading

EPS = 1e-6


def coreference_loss(
    readings: Sequence[Reading], golds: Sequence[GoldLinks]
) -> tuple[float, list[Reading]]:
    """Weighted cross-entropy over all pairs of tokens, a mean over documents.

    RETURNS: The loss, and its gradient in each Reading's gates.
    """
    update = _padded([reading.update for reading in readings])  # (B, T, M)
    overwrite = _padded([reading.overwrite for reading in readings])  # (B, T, M)
    n_docs, n_tokens, _ = update.shape
    target = torch.zeros(n_docs, n_tokens, n_tokens)
    weight = torch.zeros(n_docs, n_tokens, n_tokens)
    for i, gold in enumerate(golds):
        length = len(gold.target)
        target[i, :length, :length] = torch.from_numpy(gold.target)
        weight[i, :length, :length] = torch.from_numpy(gold.weight)
    links = link_probabilities(update, overwrite).clamp(EPS, 1 - EPS)
    loss = binary_cross_entropy(links, target, weight.triu(1), reduction="sum") / n_docs
    loss.backward()
    gradients = zip(update.grad.numpy(), overwrite.grad.numpy(), strict=True)  # type: ignore[union-attr]
    return loss.item(), [
        Reading(
            d_update[: len(reading)],
            d_overwrite[: len(reading)],
            np.zeros_like(reading.salience),
        )
        for reading, (d_update, d_overwrite) in zip(readings, gradients, strict=True)
    ]


def _padded(gates: list[np.ndarray]) -> torch.Tensor:
    tensors = [torch.from_numpy(gate) for gate in gates]
    return pad_sequence(tensors, batch_first=True).requires_grad_()
