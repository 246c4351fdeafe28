"""Where spacy-transformers' pipe meets our transformer: Docs in, a vector a token out.

Shapes: N tokens of all Docs, T tokens of one, X width of a token's vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import srsly
import torch
from spacy.tokens import Doc
from spacy_transformers.data_classes import (
    FullTransformerBatch,
    TransformerData,
    WordpieceBatch,
)
from thinc.api import (
    ArgsKwargs,
    Model,
    Optimizer,
    PyTorchShim,
    get_torch_default_device,
    torch2xp,
    xp2torch,
)
from thinc.types import Ragged
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from refreader_spacy.errors import Errors
from refreader_spacy.model.transformer.hidden import HiddenLayers
from refreader_spacy.model.transformer.hub import Hub, Loaded
from refreader_spacy.model.transformer.pieces import (
    Ints,
    Window,
    pieces_of_text,
    pieces_of_tokens,
    windows,
)
from refreader_spacy.model.transformer.store import Store, rounded
from refreader_spacy.model.types import Array

MAX_PIECES = 4096  # that go through the transformer at once, padding included

TransformerModel = Model[list[Doc], FullTransformerBatch]


@dataclass
class TokenData(TransformerData):
    """What the pipe leaves on a Doc: a vector a token, where others have one a piece.

    frozen (bool): Nobody is interested in a gradient.
    """

    frozen: bool = True


class Batch(NamedTuple):
    """Windows that go through the transformer together."""

    tokens: Ints  # places among the N tokens of all Docs
    inputs: ArgsKwargs


def transformer_model(hub: Hub, learn_rate_factor: float) -> TransformerModel:
    """A model for the pipe; `initialize` or loading it brings the transformer."""
    return Model(
        "transformer",
        _forward,
        init=_init,
        dims={"nO": None},
        shims=[TransformerShim(hub, learn_rate_factor)],
    )


def use_store(model: TransformerModel, folder: Path) -> Store:
    """From now on, keep in a folder what the frozen transformer gives, and reuse it."""
    shim = _shim(model)
    if shim.hub.trained_layers:
        raise ValueError(Errors.R310.format(found=shim.hub.trained_layers))
    shim.store = Store(folder / shim.fingerprint)
    return shim.store


def token_data(vectors: Any, frozen: bool) -> TokenData:
    """Vectors (T, X) in the form in which spacy-transformers passes them around."""
    each = np.arange(len(vectors), dtype="i")
    return TokenData(
        wordpieces=WordpieceBatch.empty(),
        model_output=BaseModelOutput(last_hidden_state=vectors),
        align=Ragged(cast(Any, each), cast(Any, np.ones_like(each))),
        frozen=frozen,
    )


class TransformerShim(PyTorchShim):
    """Thinc's seam to a transformer that is loaded by name and may learn slowly."""

    def __init__(self, hub: Hub, learn_rate_factor: float) -> None:
        super().__init__(None)
        self.hub = hub
        self.learn_rate_factor = learn_rate_factor
        self.store: Store | None = None
        self.loaded: Loaded | None = None
        self.fingerprint = ""

    def take(self, loaded: Loaded) -> None:
        """Become the seam to this transformer."""
        self.loaded = loaded
        self._model = HiddenLayers(loaded.transformer, self.hub.layers)
        self._model.to(get_torch_default_device())
        self.fingerprint = self.hub.fingerprint(loaded)

    def finish_update(self, optimizer: Optimizer) -> None:
        """A step of the optimizer, at the transformer's own rate.

        A factor on the gradients instead would change nothing: Adam undoes it.
        """
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

    def to_bytes(self) -> bytes:
        """The transformer itself, or only by which weights it is known."""
        saved = self.loaded if self.hub.save_weights else None
        message = {
            "fingerprint": self.fingerprint,
            "transformer": self.hub.to_bytes(saved) if saved else b"",
        }
        return cast(bytes, srsly.msgpack_dumps(message))

    def from_bytes(self, bytes_data: bytes) -> TransformerShim:
        """The saved transformer, or the one of that name if it is still the same."""
        message = srsly.msgpack_loads(bytes_data)
        if message["transformer"]:
            self.take(self.hub.from_bytes(message["transformer"]))
        elif message["fingerprint"]:
            self.take(self.hub.load())
            if self.fingerprint != message["fingerprint"]:
                raise ValueError(Errors.R311.format(name=self.hub.name))
        return self


def _shim(model: TransformerModel) -> TransformerShim:
    return cast(TransformerShim, model.shims[0])


def _init(
    model: TransformerModel, X: list[Doc] | None = None, Y: Any = None
) -> TransformerModel:
    shim = _shim(model)
    if shim.loaded is None:
        shim.take(shim.hub.load())
        model.set_dim("nO", shim._model.width)
    return model


def _forward(
    model: TransformerModel, docs: list[Doc], is_train: bool
) -> tuple[FullTransformerBatch, Callable[[FullTransformerBatch], list[Doc]]]:
    shim = _shim(model)
    frozen = shim.hub.trained_layers == 0
    if frozen:
        vectors = _frozen(shim, docs)
        backprop = None
    else:
        vectors, backprop = _learning(shim, docs, is_train)
    result = FullTransformerBatch.empty(len(docs))
    to_device = cast(Callable[[Any], Any], model.ops.asarray2f)
    given = [token_data(to_device(v), frozen) for v in vectors]
    result.cached_doc_data = given

    def d_docs(d_result: FullTransformerBatch) -> list[Doc]:
        if backprop is not None:
            (d_vectors,) = d_result.model_output.values()
            backprop(d_vectors)
        return docs

    return result, d_docs


def _frozen(shim: TransformerShim, docs: Sequence[Doc]) -> list[Array]:
    """Always as if they came from a Store, even where there is none."""
    store = shim.store
    unread = docs if store is None else store.missing(docs)
    vectors, _ = _learning(shim, unread, is_train=False)
    if store is None:
        return [rounded(v) for v in vectors]
    for doc, found in zip(unread, vectors, strict=True):
        store.write(doc, found)
    return [store.read(doc) for doc in docs]


def _learning(
    shim: TransformerShim, docs: Sequence[Doc], is_train: bool
) -> tuple[list[Array], Callable[[Tensor], None]]:
    stops = np.cumsum([len(doc) for doc in docs], dtype=int)
    n_tokens = sum(len(doc) for doc in docs)
    vectors = np.zeros((n_tokens, shim._model.width), dtype=np.float32)
    calls = []
    for tokens, inputs in _batches(shim, docs):
        outputs, backprop = shim(inputs, is_train)
        vectors[tokens] = outputs.detach().cpu().numpy()
        calls.append((tokens, outputs, backprop))

    def d_vectors(gradient: Tensor) -> None:
        for tokens, outputs, backprop in calls:
            d_outputs = [gradient[tokens].to(outputs.device)]
            backprop(ArgsKwargs(((outputs,),), {"grad_tensors": d_outputs}))

    return np.split(vectors, stops)[:-1], d_vectors


def _batches(shim: TransformerShim, docs: Sequence[Doc]) -> Iterator[Batch]:
    """All windows of all Docs, those of similar length together."""
    hub, loaded = shim.hub, cast(Loaded, shim.loaded)
    cut = pieces_of_text if hub.lookahead else pieces_of_tokens
    found: list[Window] = []
    offset = 0
    for doc in docs:
        pieces = cut(loaded.tokenizer, doc)
        found += (
            window._replace(tokens=window.tokens + offset)
            for window in windows(pieces, hub.window, hub.stride, hub.lookahead)
        )
        offset += len(doc)
    group: list[Window] = []
    special = len(loaded.prefix) + len(loaded.suffix)
    for window in sorted(found, key=lambda window: len(window.ids)):
        if group and (len(group) + 1) * (len(window.ids) + special) > MAX_PIECES:
            yield _batch(loaded, group)
            group = []
        group.append(window)
    if group:
        yield _batch(loaded, group)


def _batch(loaded: Loaded, group: Sequence[Window]) -> Batch:
    prefix, suffix = loaded.prefix, loaded.suffix
    rows = [[*prefix, *window.ids, *suffix] for window in group]
    longest = max(len(row) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)  # masked, so any id does
    mask = torch.zeros_like(ids)
    places: list[Ints] = []
    for number, (row, window) in enumerate(zip(rows, group, strict=True)):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
        base = number * longest + len(prefix)
        places += [
            np.arange(base + first, base + stop)
            for first, stop in zip(window.first, window.stop, strict=True)
        ]
    starts = np.cumsum([0, *map(len, places)])[:-1]
    device = next(loaded.transformer.parameters()).device
    arguments = (ids, mask, *map(torch.from_numpy, (np.concatenate(places), starts)))
    inputs = ArgsKwargs(tuple(each.to(device) for each in arguments), {})
    return Batch(np.concatenate([window.tokens for window in group]), inputs)
