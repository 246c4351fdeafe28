"""From gates to link probabilities, for training: all pairs of tokens.

Shapes: B documents, T tokens, M memory cells.
"""

from __future__ import annotations

import torch
from torch import Tensor

EPS = 1e-6


def link_probabilities(update: Tensor, overwrite: Tensor) -> Tensor:
    """Probability that two tokens were written to the same cell: the paper's psi.

    Token i is in cell m if it updated or overwrote m; a later token j joins it by an
    update, unless m was overwritten after i, up to and including j.

    update, overwrite (Tensor): Gates (B, T, M), together at most 1 per token.
    RETURNS (Tensor): (B, T, T), zero unless the row comes before the column.
    """
    _, n_tokens, _ = update.shape
    log_keep = torch.log1p(-overwrite.clamp(max=1 - EPS)).cumsum(dim=1)  # (B, T, M)
    log_survival = log_keep[:, None] - log_keep[:, :, None]  # (B, T, T, M)
    later = torch.ones(n_tokens, n_tokens, dtype=torch.bool, device=update.device).triu(
        1
    )
    # Masked before exp: above the diagonal the exponent grows without bound, and
    # infinity times zero is NaN. Below it, rounding may leave it a hair above zero.
    masked = log_survival.masked_fill(~later[:, :, None], -torch.inf)
    survival = masked.clamp(max=0.0).exp()  # (B, T, T, M)
    return torch.einsum("bim,bjm,bijm->bij", update + overwrite, update, survival)
