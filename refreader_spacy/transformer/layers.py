"""The layers of a transformer, whatever its library calls them."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def layer_names(transformer: Any) -> list[str]:
    """The names of all layers as modules, the lowest first."""
    n_layers = transformer.config.num_hidden_layers
    stack = next(
        name
        for name, module in transformer.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) == n_layers
    )
    return [f"{stack}.{number}" for number in range(n_layers)]


def take_out_norm(transformer: Any) -> nn.Module:
    """Take out the norm that follows the last layer, if there is one.

    It belongs to the prediction of pieces: the layers below come without a norm, so the
    highest does too, whether or not there are others above it.
    """
    stack, _, _ = layer_names(transformer)[0].rpartition(".")
    outside, _, inside = stack.rpartition(".")
    parent = transformer.get_submodule(outside)
    names = [name for name, _ in parent.named_children()]
    for name in names[names.index(inside) + 1 :]:
        norm: nn.Module = getattr(parent, name)
        if "Norm" in type(norm).__name__:
            setattr(parent, name, nn.Identity())
            return norm
    return nn.Identity()


@torch.no_grad()
def looks_ahead(transformer: Any) -> bool:
    """Whether another last piece changes the vectors before it."""
    texts = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 4]])
    states = transformer(input_ids=texts, output_hidden_states=True).hidden_states
    return any(not torch.allclose(s[0, :3], s[1, :3], atol=1e-5) for s in states)
