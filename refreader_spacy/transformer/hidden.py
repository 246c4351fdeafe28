"""The torch module: word pieces in, the chosen hidden layers of each token out.

Shapes: W windows, P pieces of the longest, N tokens, R pieces that tokens are made of,
L layers, H width of a layer.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding_bag, layer_norm

from refreader_spacy.transformer.adapters import has_adapters, without_adapters

BFLOAT16 = "avx512_bf16", "amx_bf16"  # CPU features that multiply it
EPS = 1e-12  # only a token without pieces has so little variance
AT_ONCE = 128  # pieces that are predicted at once: each has a number for every piece

Pooling = Literal["mean", "last"]


class HiddenLayers(nn.Module):
    """A transformer, read at several layers and pooled over word pieces.

    pooling (str): A token's vector is the "mean" of its pieces', or that of the "last".
    lookahead (bool): Otherwise padding at the end, which is later, needs no mask.
    head (nn.Module | None): From the highest layer of all to the next piece's scores.
    drops (bool): Use the transformer's own dropout in training. On a CPU, that is half
        of the time, and what is added to frozen weights has little need of it.
    """

    def __init__(
        self,
        transformer: Any,
        layers: tuple[int, ...],
        *,
        mixed_precision: bool,
        pooling: Pooling,
        lookahead: bool,
        head: nn.Module | None = None,
        drops: bool = True,
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.layers = layers
        self.mixed_precision = mixed_precision
        self.pooling = pooling
        self.lookahead = lookahead
        self.head = head
        self.drops = drops

    def train(self, mode: bool = True) -> HiddenLayers:
        """Begin or end training."""
        super().train(mode)
        if not self.drops:
            self.transformer.eval()
        return self

    @property
    def width(self) -> int:
        """Of a token's vector, L * H."""
        return len(self.layers) * int(self.transformer.config.hidden_size)

    def round_weights(self) -> None:
        """Keep the weights in bfloat16 for good: quicker than to round at each use."""
        if has_bfloat16(next(self.transformer.parameters()).device):
            self.transformer.to(torch.bfloat16)

    def forward(
        self, ids: Tensor, mask: Tensor, rows: Tensor, starts: Tensor
    ) -> Tensor:
        """Each token's layers side by side, each at unit deviation.

        ids, mask (Tensor): Padded windows (W, P).
        rows (Tensor): All tokens' pieces, as places in the flattened windows (R,).
        starts (Tensor): Where each token's begin in `rows` (N,).
        RETURNS (Tensor): (N, L * H); zeros for a token without pieces. With a head, and
            outside training, another column has each token's surprisal in bits.
        """
        states = self._states(ids, attention_mask=mask if self.lookahead else None)
        vectors = self._pooled(states, rows, starts)
        if self.head is None or torch.is_grad_enabled():
            return vectors
        if has_adapters(self.transformer):  # they unlearn to predict words
            with without_adapters(self.transformer):
                states = self._states(ids)
        bits = self._surprisals(states[-1].flatten(0, 1), ids.flatten(), rows)
        each = torch.arange(len(rows), device=rows.device)
        column = embedding_bag(each, bits[:, None], starts, mode="sum")  # (N, 1)
        return torch.cat([vectors, column], dim=-1)

    @torch.no_grad()
    def go_on(self, ids: Tensor, rows: Tensor, starts: Tensor, cache: Any) -> Tensor:
        """The vectors of tokens of one window that is read piece by piece.

        ids (Tensor): The pieces after those that the cache has (1, P).
        cache (Any): Keys and values of those before, which get these as well.
        RETURNS (Tensor): (N, L * H).
        """
        states = self._states(ids, past_key_values=cache, use_cache=True)
        return self._pooled(states, rows, starts)

    def _states(self, ids: Tensor, **inputs: Any) -> tuple[Tensor, ...]:
        """All hidden layers (W, P, H), the embeddings first."""
        is_float32 = next(self.transformer.parameters()).dtype == torch.float32
        mixed = self.mixed_precision and is_float32 and has_bfloat16(ids.device)
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=mixed):
            found = self.transformer(input_ids=ids, output_hidden_states=True, **inputs)
        return tuple(found.hidden_states)

    def _pooled(
        self, states: tuple[Tensor, ...], rows: Tensor, starts: Tensor
    ) -> Tensor:
        if self.pooling == "last":
            stops = torch.cat([starts[1:], starts.new_tensor([len(rows)])])
            any_piece = stops > starts  # (N,)
            rows = rows[stops[any_piece] - 1]
            starts = any_piece.cumsum(dim=0) - any_piece.long()
        pooled = [
            embedding_bag(rows, states[i].float().flatten(0, 1), starts, mode="mean")
            for i in self.layers
        ]
        return torch.cat([layer_norm(x, x.shape[-1:], eps=EPS) for x in pooled], dim=-1)

    def _surprisals(self, highest: Tensor, ids: Tensor, rows: Tensor) -> Tensor:
        """How unexpected pieces were, each after those before it, in bits (R,).

        highest (Tensor): The last hidden layer of all pieces (W * P, H).
        """
        head: Any = self.head
        found = [
            cross_entropy(head(highest[part - 1].float()), ids[part], reduction="none")
            for part in rows.split(AT_ONCE)
        ]
        return torch.cat([rows.new_zeros(0, dtype=torch.float32), *found]) / math.log(2)


def has_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies bfloat16 natively, not by emulation."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capabilities: Any = getattr(
        torch.cpu, "get_capabilities", dict
    )  # not in older torch
    found = capabilities()
    return device.type == "cpu" and any(found.get(kind) for kind in BFLOAT16)
