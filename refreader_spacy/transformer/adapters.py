"""Low-rank additions to a transformer's weights: what fine-tuning learns is small.

A linear layer's weights stay as they are, and the product of two thin matrices is added
to what comes out of it. Only those are trained and saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.nn import functional as F

from refreader_spacy.errors import Errors


class AdaptedLinear(nn.Module):
    """A linear layer that is frozen, and what is added to it.

    It begins as the layer alone: the upper matrix is zero.
    """

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        self.is_on = True
        device = base.weight.device
        self.down = nn.Parameter(torch.empty(rank, base.in_features, device=device))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, device=device))
        nn.init.normal_(self.down, std=base.in_features**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        """The sum of both, in the layer's own precision."""
        if not self.is_on:
            return cast(Tensor, self.base(x))
        low = F.linear(x, self.down.to(x.dtype))
        added = F.linear(low, self.up.to(x.dtype))
        return torch.add(self.base(x), added)


def add_adapters(transformer: Any, layers: Sequence[str], rank: int) -> None:
    """Give all linear layers within some layers of a transformer an addition.

    layers (Sequence[str]): Their names as modules.
    """
    for name in layers:
        layer = transformer.get_submodule(name)
        found = [n for n, part in layer.named_modules() if isinstance(part, nn.Linear)]
        if not found:
            raise ValueError(Errors.R336.format(name=type(transformer).__name__))
        for part in found:
            outside, _, inside = part.rpartition(".")
            parent = layer.get_submodule(outside)
            setattr(parent, inside, AdaptedLinear(getattr(parent, inside), rank))


def has_adapters(transformer: Any) -> bool:
    """Whether something was added to a transformer's weights."""
    return any(isinstance(part, AdaptedLinear) for part in transformer.modules())


@contextmanager
def without_adapters(transformer: Any) -> Iterator[None]:
    """A transformer as it was before anything was added."""
    parts = [p for p in transformer.modules() if isinstance(p, AdaptedLinear)]
    for part in parts:
        part.is_on = False
    try:
        yield
    finally:
        for part in parts:
            part.is_on = True


def adapters_to_bytes(transformer: Any) -> bytes:
    """The additions of a transformer; none, if it has none."""
    found = {name: p.detach().cpu().contiguous() for name, p in _parts(transformer)}
    return save(found) if found else b""


def adapters_from_bytes(transformer: Any, data: bytes) -> None:
    """Give a transformer the additions that were saved."""
    saved, parts = load(data) if data else {}, dict(_parts(transformer))
    if {k: v.shape for k, v in saved.items()} != {k: v.shape for k, v in parts.items()}:
        raise ValueError(Errors.R337)
    with torch.no_grad():
        for name, part in parts.items():
            part.copy_(saved[name])


def halve_adapters(transformer: Any) -> None:
    """Make the additions half as large, to save them."""
    for _, part in _parts(transformer):
        part.data = part.data.half()


def _parts(transformer: Any) -> list[tuple[str, nn.Parameter]]:
    return [
        (f"{name}.{which}", getattr(module, which))
        for name, module in transformer.named_modules()
        if isinstance(module, AdaptedLinear)
        for which in ("down", "up")
    ]
