"""The torch module: word pieces in, the chosen hidden layers of each token out.

Shapes: W windows, P pieces of the longest, N tokens, L layers, H width of a layer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, layer_norm

BFLOAT16 = "avx512_bf16", "amx_bf16"  # CPU features that multiply it
EPS = 1e-12  # only a token without pieces has so little variance


class HiddenLayers(nn.Module):
    """A transformer, read at several layers and pooled over word pieces."""

    def __init__(
        self, transformer: Any, layers: tuple[int, ...], mixed_precision: bool
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.layers = layers
        self.mixed_precision = mixed_precision

    @property
    def width(self) -> int:
        """Of a token's vector, L * H."""
        return len(self.layers) * int(self.transformer.config.hidden_size)

    def forward(
        self, ids: Tensor, mask: Tensor, rows: Tensor, starts: Tensor
    ) -> Tensor:
        """Each token's layers side by side, each at unit deviation.

        ids, mask (Tensor): Padded windows (W, P).
        rows (Tensor): The pieces of all tokens, as places in the flattened windows.
        starts (Tensor): Where each token's begin in `rows` (N,).
        RETURNS (Tensor): (N, L * H); zeros for a token without pieces.
        """
        mixed = self.mixed_precision and has_bfloat16(ids.device)
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=mixed):
            states = self.transformer(
                input_ids=ids, attention_mask=mask, output_hidden_states=True
            ).hidden_states
        pooled = [
            embedding_bag(rows, states[i].float().flatten(0, 1), starts, mode="mean")
            for i in self.layers
        ]
        return torch.cat([layer_norm(x, x.shape[-1:], eps=EPS) for x in pooled], dim=-1)


def has_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies bfloat16 natively, not by emulation."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capabilities: Any = getattr(
        torch.cpu, "get_capabilities", dict
    )  # not in older torch
    found = capabilities()
    return device.type == "cpu" and any(found.get(kind) for kind in BFLOAT16)
