"""Token encoders of ours: what turns a Doc into one vector a token for the reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from spacy.tokens import Doc
from spacy.vectors import Mode
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from refreader_spacy.errors import Errors

Vectors = list[Floats2d]


def build_fixed_vectors_v1(width: int) -> Model[list[Doc], Vectors]:
    """The pipeline's own word vectors, scaled to unit deviation, never trained.

    Vector tables differ in scale by an order of magnitude, and the reader's gates
    saturate on large ones, so the scale is measured when training begins and kept.
    A token's vector depends on that token alone.

    width (int): Of the pipeline's vectors.
    """
    return Model(
        "fixed_vectors", _forward, init=_init, dims={"nO": width}, attrs={"scale": 1.0}
    )


def _forward(
    model: Model[list[Doc], Vectors], docs: list[Doc], is_train: bool
) -> tuple[Vectors, Callable[[Vectors], list[Doc]]]:
    vectors = [_vectors(model, doc) for doc in docs]

    def backprop(d_vectors: Vectors) -> list[Doc]:
        return []

    return vectors, backprop


def _init(
    model: Model[list[Doc], Vectors],
    X: list[Doc] | None = None,
    Y: Vectors | None = None,
) -> None:
    if X:
        _check(model, X[0].vocab)
        deviation = float(np.std(model.ops.to_numpy(X[0].vocab.vectors.data)))
        model.attrs["scale"] = 1 / deviation if deviation else 1.0


def _vectors(model: Model[list[Doc], Vectors], doc: Doc) -> Floats2d:
    _check(model, doc.vocab)
    table = doc.vocab.vectors
    if len(doc) == 0:
        return model.ops.alloc2f(0, model.get_dim("nO"))
    keys = doc.to_array(table.attr).tolist()
    vectors = model.ops.asarray2f(table.get_batch(keys)) * model.attrs["scale"]
    if table.mode == Mode.default:
        vectors[table.find(keys=keys) < 0] = 0.0  # the table gives its last row
    return cast(Floats2d, vectors)


def _check(model: Model[list[Doc], Vectors], vocab: Vocab) -> None:
    n_rows, width = vocab.vectors.shape
    if n_rows == 0:
        raise ValueError(Errors.R003.format(name=model.name))
    if width != model.get_dim("nO"):
        raise ValueError(
            Errors.R004.format(
                found=width, name=model.name, expected=model.get_dim("nO")
            )
        )
