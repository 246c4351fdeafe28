"""What both readers' Thinc models share: an encoder, a network and a kept reader."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
import torch
from spacy.tokens import Doc, Span
from thinc.api import Model
from thinc.types import Floats2d

from refreader_spacy.batching import read_docs
from refreader_spacy.errors import Errors
from refreader_spacy.protocol import Array, ReaderModel
from refreader_spacy.reader.shim import ReaderShim

Encoder = Model[list[Doc], list[Floats2d]]
Made = TypeVar("Made")
Weights = TypeVar("Weights")


class ForwardToLearn(Protocol):
    """What a model does in training; `learn`: does the encoder learn as well?"""

    def __call__(
        self, model: ReaderModel, docs: list[Doc], *, learn: bool
    ) -> tuple[Any, Callable[[Any], list[Doc]]]: ...


def reader_model(
    name: str,
    tok2vec: Encoder,
    network: torch.nn.Module,
    width: int,
    *,
    make: Callable[[ReaderModel], Any],
    forward_to_learn: ForwardToLearn,
    attrs: dict[str, Any] | None = None,
) -> ReaderModel:
    """A network over an encoder, which reads unless it is to learn.

    make (Callable): The reader of the model, with its weights as they are.
    """
    # Not an attr, which would be loaded with the weights: the config decides
    learn = bool(tok2vec.attrs.get("learn", True))
    return Model(
        name,
        partial(_forward, forward_to_learn=partial(forward_to_learn, learn=learn)),
        init=initialize,
        dims={"nI": width},
        layers=[tok2vec],
        attrs={"reader": KeptReader(make), **(attrs or {})},
        shims=[ReaderShim(network)],
    )


def _forward(
    model: ReaderModel,
    docs: list[Doc],
    is_train: bool,
    *,
    forward_to_learn: Callable[[ReaderModel, list[Doc]], Any],
) -> Any:
    if is_train:
        return forward_to_learn(model, docs)
    return read_docs(model, docs), lambda d_parts: []


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
                Errors.R023.format(name=name, expected=expected, found=share)
            )


def check_probabilities(**probabilities: float) -> None:
    """Raise an error unless all are from 0 to 1."""
    for name, probability in probabilities.items():
        if not 0 <= probability <= 1:
            raise ValueError(
                Errors.R023.format(name=name, expected="from 0 to 1", found=probability)
            )


def check_positive(**numbers: float) -> None:
    """Raise an error unless all are above 0, and finite."""
    for name, number in numbers.items():
        if not 0 < number < math.inf:
            raise ValueError(
                Errors.R023.format(name=name, expected="above 0", found=number)
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
                Errors.R023.format(name=where, expected="at least 0", found=weight)
            )
    return kind(**(given or {}))
