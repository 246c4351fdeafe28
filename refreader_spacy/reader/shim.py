"""Thinc's torch wrapper: averaged weights, and weights as plain arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np
import srsly
import torch
from thinc.api import Optimizer, PyTorchShim, xp2torch
from torch import nn

from refreader_spacy.errors import Errors

Net = TypeVar("Net", bound=nn.Module)


class ReaderShim(PyTorchShim):
    """Thinc's torch wrapper, with support for averaged weights.

    The optimizer stores averages under (shim, name), but Thinc looks for another key,
    so `use_averages` has no effect on its torch models.

    version (int): Grows whenever the weights may have changed.
    """

    version = 0

    def __init__(self, network: nn.Module) -> None:
        super().__init__(
            network,
            serialize_model=tensors_to_bytes,
            deserialize_model=tensors_from_bytes,
        )

    def changed(self) -> None:
        """The weights were changed, by whoever calls this."""
        self.version += 1

    def finish_update(self, optimizer: Optimizer) -> None:
        """A step of the optimizer."""
        super().finish_update(optimizer)
        self.changed()

    def to_device(self, device_type: str, device_id: int) -> None:
        """Move the weights."""
        super().to_device(device_type, device_id)
        self.changed()

    def from_bytes(self, bytes_data: bytes) -> ReaderShim:
        """Load weights that fit the network."""
        super().from_bytes(bytes_data)  # type: ignore[no-untyped-call]
        self.changed()
        return self

    @contextmanager
    def use_params(self, params: dict[Any, Any]) -> Iterator[None]:
        """Use averaged weights within the block."""
        weights = dict(self._model.named_parameters())
        averages = {n: params[self.id, n] for n in weights if (self.id, n) in params}
        kept = {name: weights[name].detach().clone() for name in averages}
        self._set(weights, {n: xp2torch(average) for n, average in averages.items()})
        try:
            yield
        finally:
            self._set(weights, kept)

    @torch.no_grad()
    def _set(self, weights: dict[str, Any], values: dict[str, torch.Tensor]) -> None:
        for name, value in values.items():
            weights[name].copy_(value)
        self.changed()


def tensors_to_bytes(network: nn.Module) -> bytes:
    arrays = {k: v.cpu().numpy() for k, v in network.state_dict().items()}
    return cast(bytes, srsly.msgpack_dumps(arrays))


def tensors_from_bytes(network: Net, data: bytes, device: Any) -> Net:
    """Plain arrays, so that loading weights never runs code."""
    arrays = srsly.msgpack_loads(data)
    state = {k: torch.from_numpy(v.astype(np.float32)) for k, v in arrays.items()}
    for name in ("memory.initial_keys", "memory.initial_values"):
        if name in state:
            # Cells beyond those that were trained start as copies of them
            n_cells = len(network.get_parameter(name))
            state[name] = state[name][torch.arange(n_cells) % len(state[name])]
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        _, problem, *_ = str(error).splitlines()  # the first of several lines
        problem = problem.strip().rstrip(".")
        raise ValueError(Errors.R005.format(problem=problem)) from error
    return network.to(device)
