"""A transformer inside of a reader's encoder, where the pipeline has no pipe for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from spacy.tokens import Doc, Span
from thinc.api import Model

from refreader_spacy.errors import Errors
from refreader_spacy.transformer.pipe import TokenData, TransformerModel, token_data
from refreader_spacy.transformer.shim import TransformerShim


class OwnTransformer(Model[list[Doc], Any]):
    """A frozen transformer that reads Docs itself, in the place of a listener."""

    upstream_name = ""

    def __init__(self, transformer: TransformerModel) -> None:
        hub = cast(TransformerShim, transformer.shims[0]).hub
        if hub.trained_layers:
            raise ValueError(Errors.R339.format(found=hub.trained_layers))
        self.lookahead = hub.lookahead
        super().__init__(
            "own_transformer",
            _forward,
            dims={"nO": None},
            layers=[transformer],
        )

    def prepare(self, samples: list[Doc] | None) -> None:
        """Before the first Doc is read: load the transformer."""
        transformer: TransformerModel = self.layers[0]
        transformer.initialize()
        self.set_dim("nO", transformer.get_dim("nO"))

    def outputs_of(
        self, docs: Sequence[Doc | Span], is_train: bool
    ) -> Sequence[TokenData]:
        """The transformer's output of each Doc, or each part of one."""
        whole = {id(doc.doc): doc.doc for doc in docs}
        transformer: TransformerModel = self.layers[0]
        read = transformer.predict(list(whole.values())).cached_doc_data or []
        found = dict(zip(whole, read, strict=True))
        return [_part(doc, found[id(doc.doc)]) for doc in docs]

    def receive(self, *_: Any) -> None:
        """Nothing: it is frozen."""


def _part(doc: Doc | Span, data: Any) -> TokenData:
    if isinstance(doc, Span):
        vectors = data.model_output["last_hidden_state"][doc.start : doc.end]
        return token_data(vectors, frozen=True)
    return cast(TokenData, data)


def _forward(
    model: OwnTransformer, docs: list[Doc], is_train: bool
) -> tuple[Sequence[TokenData], Callable[[Any], list[Doc]]]:
    return model.outputs_of(docs, is_train), lambda d_outputs: []
