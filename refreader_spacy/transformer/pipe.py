"""The model for spacy-transformers' pipe: Docs in, one vector per token out.

Shapes: N tokens of all Docs, T tokens of one, X width of a token's vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from spacy.tokens import Doc
from spacy_transformers.data_classes import (
    FullTransformerBatch,
    TransformerData,
    WordpieceBatch,
)
from thinc.api import ArgsKwargs, Model
from thinc.types import Ragged
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from refreader_spacy.errors import Errors
from refreader_spacy.protocol import Array
from refreader_spacy.transformer.batches import batches
from refreader_spacy.transformer.heap import trim_heap
from refreader_spacy.transformer.hub import Hub, Loaded
from refreader_spacy.transformer.shim import TransformerShim
from refreader_spacy.transformer.store import Store, rounded

TransformerModel = Model[list[Doc], FullTransformerBatch]


@dataclass
class TokenData(TransformerData):
    """What the pipe stores on a Doc: one vector per token, not per word piece.

    frozen (bool): No gradient is needed.
    """

    frozen: bool = True


def transformer_model(hub: Hub, learn_rate_factor: float) -> TransformerModel:
    """A model for the pipe; `initialize` or `from_bytes` loads the transformer."""
    return Model(
        "transformer",
        _forward,
        init=_init,
        dims={"nO": None},
        shims=[TransformerShim(hub, learn_rate_factor)],
    )


def use_store(model: TransformerModel, folder: Path) -> Store:
    """Store the frozen transformer's vectors in a folder, and reuse them."""
    shim = _shim(model)
    if shim.hub.trained_layers:
        raise ValueError(Errors.R310.format(found=shim.hub.trained_layers))
    shim.store = Store(folder / shim.fingerprint)
    return shim.store


def token_data(vectors: Any, frozen: bool) -> TokenData:
    """Vectors (T, X) as spacy-transformers' data class."""
    each = np.arange(len(vectors), dtype="i")
    return TokenData(
        wordpieces=WordpieceBatch.empty(),
        model_output=BaseModelOutput(last_hidden_state=vectors),
        align=Ragged(cast(Any, each), cast(Any, np.ones_like(each))),
        frozen=frozen,
    )


def _shim(model: TransformerModel) -> TransformerShim:
    return cast(TransformerShim, model.shims[0])


def _init(
    model: TransformerModel, X: list[Doc] | None = None, Y: Any = None
) -> TransformerModel:
    shim = _shim(model)
    if shim.loaded is None:
        shim.attach(shim.hub.load())
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
        vectors, backprop = _read(shim, docs, is_train)
        if not is_train:  # memory of the last update is free now
            trim_heap()
    result = FullTransformerBatch.empty(len(docs))
    to_device = cast(Callable[[Any], Any], model.ops.asarray2f)
    result.cached_doc_data = [token_data(to_device(v), frozen) for v in vectors]

    def d_docs(d_result: FullTransformerBatch) -> list[Doc]:
        if backprop is not None:
            (d_vectors,) = d_result.model_output.values()
            backprop(d_vectors)
        return docs

    return result, d_docs


def _frozen(shim: TransformerShim, docs: Sequence[Doc]) -> list[Array]:
    """Rounded as if they came from a Store, even if there is none."""
    store = shim.store
    unread = docs if store is None else store.missing(docs)
    vectors, _ = _read(shim, unread, is_train=False)
    if store is None:
        return [rounded(v) for v in vectors]
    for doc, found in zip(unread, vectors, strict=True):
        store.write(doc, found)
    return [store.read(doc) for doc in docs]


def _read(
    shim: TransformerShim, docs: Sequence[Doc], is_train: bool
) -> tuple[list[Array], Callable[[Tensor], None]]:
    stops = np.cumsum([len(doc) for doc in docs], dtype=int)
    n_tokens = sum(len(doc) for doc in docs)
    vectors = np.zeros((n_tokens, shim._model.width), dtype=np.float32)
    calls = []
    for tokens, inputs in batches(shim.hub, cast(Loaded, shim.loaded), docs):
        outputs, backprop = shim(inputs, is_train)
        vectors[tokens] = outputs.detach().cpu().numpy()
        if is_train:
            calls.append((tokens, outputs, backprop))

    def d_vectors(gradient: Tensor) -> None:
        for tokens, outputs, backprop in calls:
            d_outputs = [gradient[tokens].to(outputs.device)]
            backprop(ArgsKwargs(((outputs,),), {"grad_tensors": d_outputs}))

    return np.split(vectors, stops)[:-1], d_vectors
