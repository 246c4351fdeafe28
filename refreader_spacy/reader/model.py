"""What both readers' Thinc models share: an encoder, a network and a kept reader."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np
from spacy.tokens import Doc, Span
from thinc.api import Model
from thinc.types import Floats2d

from refreader_spacy.errors import Errors
from refreader_spacy.protocol import Array, ReaderModel
from refreader_spacy.reader.encoders import check_words
from refreader_spacy.reader.shim import ReaderShim

Encoder = Model[list[Doc], list[Floats2d]]
Made = TypeVar("Made")
Weights = TypeVar("Weights")


class KeptReader(Generic[Made]):
    """A model's reader, made when first asked for and when the weights have changed."""

    def __init__(self, make: Callable[[ReaderModel], Made]) -> None:
        self.make = make
        self._kept: tuple[tuple[Any, ...], Made] | None = None

    def __call__(self, model: ReaderModel) -> Made:
        """The reader of this model, with its weights as they are now."""
        shim, encoder = shim_of(model), model.layers[0]
        key = shim, shim.version, encoder
        if self._kept is None or self._kept[0] != key:
            self._kept = key, self.make(model)
        return self._kept[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copied model makes a reader of its own."""
        return KeptReader, (self.make,)


def shim_of(model: ReaderModel) -> ReaderShim:
    """The torch wrapper in a reader's model."""
    return cast(ReaderShim, model.shims[0])


def encode(model: ReaderModel, docs: Sequence[Doc | Span]) -> list[Array]:
    """The encoder's vectors (T, X) of each Doc, or each part of one."""
    encoder: Any = model.layers[0]
    given = [doc for doc in docs if len(doc)]
    if not encoder.attrs.get("takes_spans"):
        given = [doc.as_doc() if isinstance(doc, Span) else doc for doc in given]
    vectors = iter(encoder.predict(given) if given else ())
    empty = np.zeros((0, model.get_dim("nI")), np.float32)
    return [
        cast(Array, model.ops.to_numpy(next(vectors))) if len(doc) else empty
        for doc in docs
    ]


def looks_ahead(encoder: Encoder, lookahead: bool | None) -> bool:
    """What the config says; else the encoder; of one that doesn't say, we assume so."""
    if lookahead is None:
        return bool(encoder.attrs.get("lookahead", True))
    return lookahead


def initialize(model: ReaderModel, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Draw fresh weights, and check the width of the encoder's vectors."""
    encoder: Any = model.layers[0]
    encoder.initialize(X=X)
    shim = shim_of(model)
    shim._model.reset()
    shim.changed()
    expected = model.get_dim("nI")
    found = {v.shape[-1] for v in encoder.predict(X)} if X else set()
    for width in found - {expected}:
        raise ValueError(Errors.R001.format(found=width, expected=expected))


def check_loaded(model: Model[Any, Any]) -> None:
    """Raise an error unless tables that were loaded can be looked things up in."""
    for layer in model.walk():
        tables: list[Any] = [
            layer.get_param(name) for name in layer.param_names if layer.has_param(name)
        ]
        if any(table.dtype.kind != "f" or not table.ndim for table in tables):
            raise ValueError(Errors.R005.format(problem=f"parameters of {layer.name}"))
        if "found_by" in layer.attrs and tables:
            check_words(layer)


def check_sizes(**sizes: int) -> None:
    """Raise an error unless all sizes are at least 1."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(Errors.R015.format(name=name, found=size))


def check_shares(**shares: float) -> None:
    """Raise an error unless all are at least 0 and below 1."""
    for name, share in shares.items():
        if not 0 <= share < 1:
            expected = "at least 0 and below 1"
            raise ValueError(
                Errors.R019.format(name=name, expected=expected, found=share)
            )


def check_positive(**numbers: float) -> None:
    """Raise an error unless all are above 0, and finite."""
    for name, number in numbers.items():
        if not 0 < number < math.inf:
            raise ValueError(
                Errors.R019.format(name=name, expected="above 0", found=number)
            )


def loss_weights_of(
    kind: Callable[..., Weights], given: dict[str, float] | None
) -> Weights:
    """A reader's loss weights, with those that a config gives instead of its own."""
    known = vars(kind())
    for name in given or {}:
        if name not in known:
            raise ValueError(Errors.R016.format(found=name, known=sorted(known)))
    for name, weight in (given or {}).items():
        if not 0 <= weight < math.inf:
            where = f"loss_weights.{name}"
            raise ValueError(
                Errors.R019.format(name=where, expected="at least 0", found=weight)
            )
    return kind(**(given or {}))
