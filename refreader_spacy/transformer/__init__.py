"""Architectures for a transformer below the reader.

The other modules of this package need the extra `transformers`, and are imported only
when a config uses these architectures.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from refreader_spacy.errors import Errors


def build_transformer_v1(
    name: str,
    layers: list[int],
    window: int = 384,
    stride: int = 256,
    lookahead: bool = True,
    trained_layers: int = 0,
    learn_rate_factor: float = 1.0,
    save_weights: bool = False,
    mixed_precision: bool = False,
    pooling: Literal["mean", "last"] = "mean",
    surprisal: bool = False,
    adapter_rank: int = 0,
) -> Model[list[Doc], Any]:
    """Some hidden layers of a transformer, for spacy-transformers' `transformer` pipe.

    Each layer is scaled to unit deviation. The layers above the highest one that is
    used are not loaded, unless they are needed for surprisal.

    name (str): Of a model on the Hugging Face hub, or a folder that holds one.
    layers (list[int]): Which hidden layers, counted from 1; 0 is the embeddings.
    window (int): Word pieces that are read together.
    stride (int): Word pieces from the start of a window to that of the next.
    lookahead (bool): Whether a token's vector may depend on what follows. False is for
        causal models such as GPT-2, and is checked.
    trained_layers (int): How many layers are trained, from the highest down; 0 freezes
        the transformer, and all of them train the embeddings as well.
    learn_rate_factor (float): The transformer's learning rate, relative to the
        optimizer's.
    save_weights (bool): Save the transformer with the pipeline; otherwise the saved
        pipeline has only its name, and loads it by that.
    mixed_precision (bool): Multiply in bfloat16 where the machine has it, as newer GPUs
        and CPUs do, which is quicker there. The weights are float32 either way.
    pooling (str): A token's vector is the "mean" of its word pieces' or that of the
        "last", which in a causal model is the one that has seen all of them.
    surprisal (bool): Predict each piece from those before it, with all layers of a
        causal language model, for `token._.surprisal`. The vectors are the same.
    adapter_rank (int): Instead of the trained layers' weights, train additions to them
        of this rank, which are all that is saved: a few megabytes.
    """
    with _extra():
        from refreader_spacy.transformer.hub import Hub
        from refreader_spacy.transformer.pipe import transformer_model
    hub = Hub(
        name=name,
        layers=tuple(layers),
        window=window,
        stride=stride,
        lookahead=lookahead,
        trained_layers=trained_layers,
        save_weights=save_weights,
        mixed_precision=mixed_precision,
        pooling=pooling,
        surprisal=surprisal,
        adapter_rank=adapter_rank,
    )
    return transformer_model(hub, learn_rate_factor)


def build_transformer_layers_v1(
    width: int, dropout: float = 0.5, lookahead: bool = True, upstream: str = "*"
) -> Model[list[Doc], list[Floats2d]]:
    """The layers of a `refreader-spacy.Transformer.v1`, projected for a reader.

    width (int): Of the vectors that come out.
    dropout (float): On the layers; one mask serves all tokens of a Doc.
    lookahead (bool): As that of the transformer.
    upstream (str): The transformer's name in the pipeline; "*" is any.
    """
    with _extra():
        from refreader_spacy.transformer.listener import Listener, transformer_layers
    return transformer_layers(width, dropout, lookahead, Listener(upstream))


def build_own_transformer_v1(
    transformer: Model[list[Doc], Any], width: int, dropout: float = 0.5
) -> Model[list[Doc], list[Floats2d]]:
    """The same layers of a transformer that the reader has for itself, and won't train.

    The pipeline needs no `transformer` pipe then, and other pipes don't share it.

    transformer (Model): A `refreader-spacy.Transformer.v1`.
    width (int): Of the vectors that come out.
    dropout (float): On the layers; one mask serves all tokens of a Doc.
    """
    with _extra():
        from refreader_spacy.transformer.listener import transformer_layers
        from refreader_spacy.transformer.own import OwnTransformer
    own = OwnTransformer(transformer)
    return transformer_layers(width, dropout, own.lookahead, own)


@contextmanager
def _extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(Errors.R300.format(missing=error.name)) from error
