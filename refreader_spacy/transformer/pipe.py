"""The model for spacy-transformers' pipe: Docs in, one vector per token out.

Shapes: N tokens of all Docs, T tokens of one, X width of a token's vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

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
from refreader_spacy.transformer.past import TransformerPast
from refreader_spacy.transformer.shim import TransformerShim
from refreader_spacy.transformer.store import Store, rounded

TransformerModel = Model[list[Doc], FullTransformerBatch]


@dataclass
class TokenData(TransformerData):
    """What the pipe stores on a Doc: one vector per token, not per word piece.

    frozen (bool): No gradient is needed.
    surprisal (Array | None): Of each token in bits (T,), if it was asked for.
    """

    frozen: bool = True
    surprisal: Array | None = None


def transformer_model(hub: Hub, learn_rate_factor: float) -> TransformerModel:
    """A model for the pipe; `initialize` or `from_bytes` loads the transformer."""
    return Model(
        "transformer",
        _forward,
        init=_init,
        dims={"nO": None},
        attrs={"past": past_on_docs},
        shims=[TransformerShim(hub, learn_rate_factor)],
    )


def use_store(model: TransformerModel, folder: Path) -> Store:
    """Store the frozen transformer's vectors in a folder, and reuse them."""
    shim = _shim(model)
    if shim.hub.trained_layers:
        found = f"{shim.hub.trained_layers} of its layers are trained"
        raise ValueError(Errors.R310.format(found=found))
    if shim.hub.surprisal:
        raise ValueError(Errors.R310.format(found="it is asked for surprisal"))
    shim.store = Store(folder / shim.fingerprint)
    return shim.store


def token_data(vectors: Any, frozen: bool, surprisal: Array | None = None) -> TokenData:
    """Vectors (T, X) as spacy-transformers' data class."""
    each = np.arange(len(vectors), dtype="i")
    return TokenData(
        wordpieces=WordpieceBatch.empty(),
        model_output=BaseModelOutput(last_hidden_state=vectors),
        align=Ragged(cast(Any, each), cast(Any, np.ones_like(each))),
        frozen=frozen,
        surprisal=surprisal,
    )


def past_on_docs(model: TransformerModel) -> TransformerPast:
    """For a text that is read in parts, which get vectors as the pipe writes them."""

    def write(doc: Doc, data: TokenData) -> None:
        doc._.trf_data = data

    return past_of(model, write)


def past_of(
    model: TransformerModel, write: Callable[[Doc, TokenData], None]
) -> TransformerPast:
    """For a text that is read in parts.

    write (Callable): Takes the transformer's output of each.
    """
    shim = _shim(model)
    loaded = cast(Loaded, shim.loaded)

    def write_vectors(doc: Doc, vectors: Array) -> None:
        frozen = shim.hub.trained_layers == 0
        given: Any = rounded(vectors) if frozen else vectors
        write(doc, token_data(model.ops.asarray2f(given), frozen))

    return TransformerPast(
        shim.hub, loaded, shim._model, shim.fingerprint, write_vectors
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
        found = _frozen(shim, docs)
    else:
        found = _read(shim, docs, is_train)
        if not is_train:  # memory of the last update is free now
            trim_heap()
    result = FullTransformerBatch.empty(len(docs))
    to_device = cast(Callable[[Any], Any], model.ops.asarray2f)
    result.cached_doc_data = [
        token_data(to_device(vectors), frozen, bits)
        for vectors, bits in zip(found.vectors, found.surprisals, strict=True)
    ]

    def d_docs(d_result: FullTransformerBatch) -> list[Doc]:
        if found.backprop is not None:
            (d_vectors,) = d_result.model_output.values()
            found.backprop(d_vectors)
        return docs

    return result, d_docs


class Found(NamedTuple):
    """Of each Doc, vectors (T, X) and, if they were asked for, bits (T,)."""

    vectors: list[Array]
    surprisals: Sequence[Array | None]
    backprop: Callable[[Tensor], None] | None = None


def _frozen(shim: TransformerShim, docs: Sequence[Doc]) -> Found:
    """Rounded as if they came from a Store, even if there is none."""
    store = shim.store
    if store is None:
        read = _read(shim, docs, is_train=False)
        return Found([rounded(v) for v in read.vectors], read.surprisals)
    unread = store.missing(docs)
    for doc, vectors in zip(unread, _read(shim, unread, False).vectors, strict=True):
        store.write(doc, vectors)
    return Found([store.read(doc) for doc in docs], [None] * len(docs))


def _read(shim: TransformerShim, docs: Sequence[Doc], is_train: bool) -> Found:
    stops = np.cumsum([len(doc) for doc in docs], dtype=int)
    n_tokens = sum(len(doc) for doc in docs)
    width = shim._model.width
    with_bits = shim.hub.surprisal and not is_train
    columns = np.zeros((n_tokens, width + with_bits), dtype=np.float32)
    calls = []
    for tokens, inputs in batches(shim.hub, cast(Loaded, shim.loaded), docs):
        outputs, backprop = shim(inputs, is_train)
        columns[tokens] = outputs.detach().cpu().numpy()
        if is_train:
            calls.append((tokens, outputs, backprop))

    def d_vectors(gradient: Tensor) -> None:
        for tokens, outputs, backprop in calls:
            d_outputs = [gradient[tokens].to(outputs.device)]
            backprop(ArgsKwargs(((outputs,),), {"grad_tensors": d_outputs}))

    vectors = np.split(columns[:, :width], stops)[:-1]
    bits = np.split(columns[:, width], stops)[:-1] if with_bits else [None] * len(docs)
    return Found(vectors, bits, d_vectors)
