"""The Thinc shim of a transformer: loading, saving and updates."""

from __future__ import annotations

from typing import Any, cast

import srsly
from thinc.api import (
    Optimizer,
    PyTorchShim,
    get_torch_default_device,
    torch2xp,
    xp2torch,
)

from refreader_spacy.errors import Errors
from refreader_spacy.transformer.adapters import (
    adapters_from_bytes,
    adapters_to_bytes,
    add_adapters,
)
from refreader_spacy.transformer.heap import trim_heap
from refreader_spacy.transformer.hidden import HiddenLayers
from refreader_spacy.transformer.hub import Hub, Loaded
from refreader_spacy.transformer.store import Store


class TransformerShim(PyTorchShim):
    """A transformer that is loaded by name, with its own learning rate."""

    def __init__(self, hub: Hub, learn_rate_factor: float) -> None:
        super().__init__(None)
        self.hub = hub
        self.learn_rate_factor = learn_rate_factor
        self.store: Store | None = None
        self.loaded: Loaded | None = None
        self.fingerprint = ""

    def attach(self, loaded: Loaded) -> None:
        """Wrap this transformer."""
        self.loaded = loaded
        hub = self.hub
        self._model = HiddenLayers(
            loaded.transformer,
            hub.layers,
            mixed_precision=hub.mixed_precision,
            pooling=hub.pooling,
            lookahead=hub.lookahead,
            head=loaded.head,
            drops=hub.trains_weights,
        )
        self._model.to(get_torch_default_device())
        self.fingerprint = self.hub.fingerprint(loaded)
        if hub.may_round:
            self._model.round_weights()
        if hub.adapter_rank:
            trained = hub.trained_names(loaded.transformer)
            add_adapters(loaded.transformer, trained, hub.adapter_rank)

    def finish_update(self, optimizer: Optimizer) -> None:
        """A step of the optimizer, at the transformer's own rate.

        A factor on the gradients would change nothing: Adam normalizes them.
        """
        if not self.hub.trained_layers:
            return
        for name, parameter in self._model.named_parameters():
            if parameter.grad is not None:
                weights, _ = optimizer(
                    (self.id, name),
                    cast(Any, torch2xp(parameter.data)),
                    cast(Any, torch2xp(parameter.grad)),
                    lr_scale=self.learn_rate_factor,
                )
                parameter.data = xp2torch(weights, device=parameter.device)
                parameter.grad = None
        trim_heap()

    def to_bytes(self) -> bytes:
        """The transformer, or only its fingerprint and what was added to it."""
        saved = self.loaded if self.hub.save_weights else None
        message = {
            "fingerprint": self.fingerprint,
            "transformer": self.hub.to_bytes(saved) if saved else b"",
        }
        if self.hub.adapter_rank and self.loaded is not None:
            message["adapters"] = adapters_to_bytes(self.loaded.transformer)
        return cast(bytes, srsly.msgpack_dumps(message))

    def from_bytes(self, bytes_data: bytes) -> TransformerShim:
        """The saved transformer, or the named one if its fingerprint is the same."""
        message = srsly.msgpack_loads(bytes_data)
        if message["transformer"]:
            self.attach(self.hub.from_bytes(message["transformer"]))
        elif message["fingerprint"]:
            self.attach(self.hub.load())
            if self.fingerprint != message["fingerprint"]:
                raise ValueError(Errors.R311.format(name=self.hub.name))
        if self.loaded is not None:
            adapters_from_bytes(self.loaded.transformer, message.get("adapters", b""))
        return self
