"""The reader's encoder: the transformer's vectors of each Doc, projected.

They come from the pipeline's `transformer` pipe, or from a transformer of its own.

Shapes: N tokens of all Docs, X width of all layers, W width for the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from spacy.tokens import Doc, Span
from spacy_transformers.layers import TransformerListener
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

from refreader_spacy.errors import Errors
from refreader_spacy.protocol import Array
from refreader_spacy.transformer.own import OwnTransformer
from refreader_spacy.transformer.pipe import TokenData, token_data

Vectors = list[Floats2d]
Encoder = Model[list[Doc], Vectors]


def transformer_layers(
    width: int, dropout: float, lookahead: bool, source: Source
) -> Encoder:
    """A projection of the layers, learned with the reader."""
    return Model(
        "transformer_layers",
        _forward,
        init=_init,
        dims={"nI": None, "nO": width},
        params={"W": None, "b": None},
        layers=[source],
        attrs={
            "lookahead": lookahead,
            "needs_past": True,
            "takes_spans": True,
            "upstream": source.upstream_name,
            "surprisals": _surprisals,
            "dropout": dropout,
        },
    )


class Listener(TransformerListener):
    """The listener that the `transformer` pipe sends its output to."""

    samples: list[Doc] | None = None  # of initialization, not read by the transformer

    def prepare(self, samples: list[Doc] | None) -> None:
        """Before the first Doc is read."""
        if not self.has_dim("nO"):
            raise ValueError(Errors.R313.format(upstream=self.upstream_name))
        self.samples = samples

    def outputs_of(self, docs: list[Doc], is_train: bool) -> list[TokenData]:
        """The transformer's output: in an update the last batch, else from the Docs."""
        if is_train and self._batch_id is not None:
            self.verify_inputs(docs)
            return cast(list[TokenData], self._outputs)
        return [self._data(doc, docs is self.samples) for doc in docs]

    def surprisals_of(self, docs: Sequence[Doc]) -> list[Array | None]:
        """Each token's surprisal in bits (T,), if the transformer has it."""
        return [getattr(doc._.trf_data, "surprisal", None) for doc in docs]

    def _data(self, doc: Doc | Span, is_sample: bool) -> TokenData:
        if isinstance(doc, Span):
            whole = self._data(doc.doc, is_sample)
            vectors = whole.model_output["last_hidden_state"][doc.start : doc.end]
            return token_data(vectors, getattr(whole, "frozen", True))
        data = doc._.trf_data
        if data is None and (is_sample or not len(doc)):
            zeros: Any = np.zeros((len(doc), self.get_dim("nO")), dtype=np.float32)
            return token_data(zeros, frozen=True)
        if data is None:
            raise ValueError(Errors.R312.format(text=doc.text[:40]))
        return cast(TokenData, data)


Source = Listener | OwnTransformer


def _init(model: Encoder, X: list[Doc] | None = None, Y: Any = None) -> Encoder:
    source = cast(Source, model.layers[0])
    source.prepare(X)
    width = source.get_dim("nO")
    model.set_dim("nI", width)
    shape = (model.get_dim("nO"), width)
    model.set_param("W", glorot_uniform_init(model.ops, shape))
    model.set_param("b", model.ops.alloc1f(shape[0]))
    return model


def _forward(
    model: Encoder, docs: list[Doc], is_train: bool
) -> tuple[Vectors, Callable[[Vectors], list[Doc]]]:
    source = cast(Any, model.layers[0])
    xp: Any = model.ops.xp
    data_of_docs = source.outputs_of(docs, is_train)
    vectors = [_vectors(model, data) for data in data_of_docs]
    masks = [_mask(model) for _ in docs] if is_train else []
    weights: Any = model.get_param("W")
    stops = np.cumsum([len(doc) for doc in docs])[:-1]
    inputs: Any = model.ops.alloc2f(0, weights.shape[1])
    if docs:
        inputs = xp.concatenate(vectors)
    if masks:
        for part, mask in zip(xp.split(inputs, stops), masks, strict=True):
            part *= mask
    outputs = inputs @ weights.T + model.get_param("b")  # (N, W)

    def backprop(d_vectors: Vectors) -> list[Doc]:
        d_outputs = xp.concatenate(d_vectors)
        model.inc_grad("W", d_outputs.T @ inputs)
        model.inc_grad("b", d_outputs.sum(axis=0))
        if all(getattr(data, "frozen", True) for data in data_of_docs):
            source.receive(None, None, None)  # done with this batch
        else:
            parts = xp.split(d_outputs @ weights, stops)
            d_data = [part * m for part, m in zip(parts, masks, strict=True)]
            source.backprop_and_clear([token_data(d, False) for d in d_data])
        return []

    return list(xp.split(outputs, stops)), backprop


def _surprisals(model: Encoder, docs: Sequence[Doc], name: str) -> list[Array]:
    """The transformer's surprisals of each Doc (T,), in bits.

    name (str): Of the component, for errors.
    """
    source = cast(Source, model.layers[0])
    found = []
    for doc, bits in zip(docs, source.surprisals_of(docs), strict=True):
        if bits is None and len(doc):
            raise ValueError(Errors.R319.format(name=name))
        found.append(np.zeros(0, np.float32) if bits is None else bits)
    return found


def _vectors(model: Encoder, data: TokenData) -> Any:
    vectors = data.model_output.get("last_hidden_state")
    if vectors is None:  # spacy-transformers does so for batches of empty Docs only
        return model.ops.alloc2f(0, model.get_dim("nI"))
    if vectors.ndim != 2 or vectors.shape[1] != model.get_dim("nI"):
        raise ValueError(
            Errors.R314.format(found=vectors.shape, expected=model.get_dim("nI"))
        )
    return model.ops.asarray2f(vectors)


def _mask(model: Encoder) -> Any:
    """A dropout mask that all tokens of a Doc share (X,)."""
    rate = model.attrs["dropout"]
    kept = model.ops.xp.random.uniform(size=model.get_dim("nI")) >= rate
    return model.ops.asarray1f(kept / (1 - rate))
