"""A transformer inside of a reader's encoder, where the pipeline has no pipe for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span
from thinc.api import Model

from refreader_spacy.errors import Errors
from refreader_spacy.protocol import Array
from refreader_spacy.transformer.past import TransformerPast
from refreader_spacy.transformer.pipe import (
    TokenData,
    TransformerModel,
    past_of,
    token_data,
)
from refreader_spacy.transformer.shim import TransformerShim


class OwnTransformer(Model[list[Doc], Any]):
    """A transformer that reads Docs itself, in the place of a listener.

    It is not trained here.
    """

    upstream_name = ""

    def __init__(self, transformer: TransformerModel) -> None:
        hub = cast(TransformerShim, transformer.shims[0]).hub
        if hub.trains_weights:
            raise ValueError(Errors.R339.format(found=hub.trained_layers))
        self.lookahead = hub.lookahead
        self.parts: WeakKeyDictionary[Doc, TokenData] = WeakKeyDictionary()
        self.bits: WeakKeyDictionary[Doc, Array] = WeakKeyDictionary()
        super().__init__(
            "own_transformer",
            _forward,
            dims={"nO": None},
            layers=[transformer],
            attrs={"past": _past},
        )

    def prepare(self, samples: list[Doc] | None) -> None:
        """Before the first Doc is read: load the transformer."""
        transformer: TransformerModel = self.layers[0]
        transformer.initialize()
        self.set_dim("nO", transformer.get_dim("nO"))

    def outputs_of(
        self, docs: Sequence[Doc | Span], is_train: bool
    ) -> Sequence[TokenData]:
        """The transformer's output of each Doc, or each part of one.

        A part of a stream has been read, after what came before it.
        """
        found: dict[int, Any] = {id(d.doc): self.parts.get(d.doc) for d in docs}
        whole = {id(d.doc): d.doc for d in docs if found[id(d.doc)] is None}
        transformer: TransformerModel = self.layers[0]
        read = transformer.predict(list(whole.values())).cached_doc_data or []
        found |= dict(zip(whole, read, strict=True))
        bits = ((doc, found[i].surprisal) for i, doc in whole.items())
        self.bits.update((doc, each) for doc, each in bits if each is not None)
        return [_part(doc, found[id(doc.doc)]) for doc in docs]

    def surprisals_of(self, docs: Sequence[Doc]) -> list[Array | None]:
        """Each token's surprisal in bits (T,), where Docs were read with it."""
        return [self.bits.pop(doc, None) for doc in docs]

    def receive(self, *_: Any) -> None:
        """Nothing: it is frozen."""


def _past(model: OwnTransformer) -> TransformerPast:
    """For a text that is read in parts."""
    return past_of(model.layers[0], model.parts.__setitem__)


def _part(doc: Doc | Span, data: Any) -> TokenData:
    if isinstance(doc, Span):
        vectors = data.model_output["last_hidden_state"][doc.start : doc.end]
        return token_data(vectors, frozen=True)
    return cast(TokenData, data)


def _forward(
    model: OwnTransformer, docs: list[Doc], is_train: bool
) -> tuple[Sequence[TokenData], Callable[[Any], list[Doc]]]:
    return model.outputs_of(docs, is_train), lambda d_outputs: []
