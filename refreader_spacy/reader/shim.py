"""Thinc's seam to torch: averaged weights, and weights as plain arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np
import srsly
import torch
from thinc.api import PyTorchShim, xp2torch
from torch import nn

from refreader_spacy.errors import Errors

Net = TypeVar("Net", bound=nn.Module)


class ReaderShim(PyTorchShim):
    """Thinc's seam to torch, with the averaged weights that Thinc's own passes by.

    The optimizer files averages under (shim, name); Thinc looks for another key, so
    `use_averages` has no effect on its torch models.
    """

    @contextmanager
    def use_params(self, params: dict[Any, Any]) -> Iterator[None]:
        """Put averages in the weights' place for a while."""
        weights = dict(self._model.named_parameters())
        averages = {n: params[self.id, n] for n in weights if (self.id, n) in params}
        kept = {name: weights[name].detach().clone() for name in averages}
        with torch.no_grad():
            for name, average in averages.items():
                weights[name].copy_(xp2torch(average))
        try:
            yield
        finally:
            with torch.no_grad():
                for name, value in kept.items():
                    weights[name].copy_(value)


def tensors_to_bytes(reader: nn.Module) -> bytes:
    arrays = {k: v.cpu().numpy() for k, v in reader.state_dict().items()}
    return cast(bytes, srsly.msgpack_dumps(arrays))


def tensors_from_bytes(reader: Net, data: bytes, device: Any) -> Net:
    """Plain arrays, so that loading weights never runs code."""
    arrays = srsly.msgpack_loads(data)
    state = {k: torch.from_numpy(v.astype(np.float32)) for k, v in arrays.items()}
    for name in ("memory.initial_keys", "memory.initial_values"):
        if name in state:
            # More cells than were trained begin like those that were
            n_cells = len(reader.get_parameter(name))
            state[name] = state[name][torch.arange(n_cells) % len(state[name])]
    try:
        reader.load_state_dict(state)
    except RuntimeError as error:
        _, problem, *_ = str(error).splitlines()  # the first of many
        problem = problem.strip().rstrip(".")
        raise ValueError(Errors.R005.format(problem=problem)) from error
    return reader.to(device)
