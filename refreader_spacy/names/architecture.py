"""Where Thinc meets the network and the memory: vectors in, Readings out.

In training, what comes out is what each token said: the loss is about that.

Shapes: N tokens of all documents, T tokens of one, X input size, S what a token says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from spacy.tokens import Doc, Span
from thinc.api import ArgsKwargs, Model, chain, torch2xp, xp2torch
from thinc.layers.pytorchwrapper import forward

from refreader_spacy.errors import Errors
from refreader_spacy.names.network import Network, Packed
from refreader_spacy.names.reading import Weights
from refreader_spacy.names.says import Said
from refreader_spacy.names.words import N_ADDED, numbers_of
from refreader_spacy.paper.architecture import (
    ReaderShim,
    Vectors,
    tensors_from_bytes,
    tensors_to_bytes,
)
from refreader_spacy.paper.packing import packed_order
from refreader_spacy.protocol import Reading

Output = list[Reading] | list[Said]


def build_name_reader_v1(
    tok2vec: Model[list[Doc], Vectors],
    width: int,
    hidden_size: int = 200,
    view_size: int = 128,
    judged_size: int = 64,
    n_cells: int = 16,
    dropout: float = 0.5,
    learn_recurrence: bool = False,
    gender_cost: float = 2.0,
    products: int = 0,
) -> Model[list[Doc], Output]:
    """A reader that stores whoever is named, and asks all of them who is meant.

    tok2vec (Model): Gives one vector a token.
    width (int): Of the encoder's vectors.
    view_size (int): Of what is seen of the hidden state before and after a token.
    judged_size (int): Of what is remembered of somebody, and of what is asked.
    n_cells (int): How many people are remembered.
    dropout (float): On what is said, and half of it on what is seen.
    learn_recurrence (bool): Train the recurrent unit too, and not only what is said.
    gender_cost (float): What a pronoun takes off the score of somebody of another
        gender, in reading. GAP, whose names are all of one gender, doesn't teach it.
    products (int): How many of the units that judge multiply what is asked with what
        is remembered, and so compare them; the others only add them up.
    """
    if not 0 <= products <= judged_size:
        raise ValueError(Errors.R318.format(size=judged_size, found=products))
    network = Network(
        width=width,
        hidden_size=hidden_size,
        view_size=view_size,
        judged_size=judged_size,
        dropout=dropout,
        learn_recurrence=learn_recurrence,
        products=products,
    )
    lend = partial(
        _weights, n_cells=n_cells, gender_cost=gender_cost, products=products
    )
    learn = learn_recurrence and tok2vec.attrs.get("learn", True)
    layer: Model[Vectors, Output] = Model(
        "name_reader",
        forward,
        init=_reset,
        dims={"nI": width, "nO": None},
        attrs={
            "convert_inputs": partial(_pack, learn=learn),
            "convert_outputs": partial(_unpack, n_cells=n_cells, lend=lend),
            "weights": None if tok2vec.attrs.get("needs_past") else lend,
        },
        shims=[
            ReaderShim(
                network,
                serialize_model=tensors_to_bytes,
                deserialize_model=tensors_from_bytes,
            )
        ],
    )
    return chain(with_words(tok2vec), layer)


def with_words(tok2vec: Model[list[Doc], Vectors]) -> Model[list[Doc], Vectors]:
    """An encoder's vectors, and as last numbers which word it is and of what kind.

    Two words that the encoder doesn't know have the same vector, and are still two.
    """
    kept = ("lookahead", "takes_spans", "needs_past")
    attrs = {name: tok2vec.attrs[name] for name in kept if name in tok2vec.attrs}
    return Model(
        "with_words", _add_words, init=_init_encoder, layers=[tok2vec], attrs=attrs
    )


def _init_encoder(
    model: Model[list[Doc], Vectors], X: list[Doc] | None = None, Y: Any = None
) -> None:
    model.layers[0].initialize(X=X)


def _add_words(
    model: Model[list[Doc], Vectors], docs: Sequence[Doc | Span], is_train: bool
) -> tuple[Vectors, Callable[[Vectors], list[Doc]]]:
    encoder: Any = model.layers[0]
    vectors, backprop = encoder(docs, is_train)
    xp = model.ops.xp
    both = [
        xp.concatenate([v, model.ops.asarray(cast(Any, numbers_of(doc)))], axis=1)
        for v, doc in zip(vectors, docs, strict=True)
    ]

    def drop_words(d_both: Vectors) -> list[Doc]:
        return cast(list[Doc], backprop([d[:, :-N_ADDED] for d in d_both]))

    return both, drop_words


def _reset(
    model: Model[Vectors, Output], X: Vectors | None = None, Y: Any = None
) -> None:
    model.shims[0]._model.reset()
    expected = model.get_dim("nI")
    for found in {v.shape[-1] - N_ADDED for v in X or ()} - {expected}:
        raise ValueError(Errors.R001.format(found=found, expected=expected))


def _pack(
    model: Model[Vectors, Output], vectors: Vectors, is_train: bool, *, learn: bool
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], Vectors]]:
    xp = model.ops.xp
    width = model.get_dim("nI")
    lengths = [len(v) for v in vectors]
    order, batch_sizes = packed_order(lengths)
    flat = (
        xp.concatenate(vectors)
        if sum(lengths)
        else model.ops.alloc2f(0, width + N_ADDED)
    )
    learn = is_train and learn
    packed = model.ops.as_contig(cast(Any, flat)[order, :width])
    tokens = xp2torch(packed, requires_grad=learn)

    def d_vectors(d_inputs: ArgsKwargs) -> Vectors:
        if not learn:
            return []
        d_flat = xp.zeros_like(flat)
        d_flat[order, :width] = torch2xp(d_inputs.args[0])
        return list(xp.split(d_flat, np.cumsum(lengths)[:-1]))

    kwargs = {"batch_sizes": batch_sizes}
    return ArgsKwargs(args=(tokens,), kwargs=kwargs), d_vectors


def _unpack(
    model: Model[Vectors, Output],
    inputs_outputs: tuple[Vectors, Packed],
    is_train: bool,
    *,
    n_cells: int,
    lend: Callable[[Model[Vectors, Output]], Weights],
) -> tuple[Output, Callable[[list[Said]], ArgsKwargs]]:
    vectors, packed = inputs_outputs
    lengths = [len(v) for v in vectors]
    order, _ = packed_order(lengths)
    flat = np.empty(packed.said.shape, dtype=np.float32)
    flat[order] = packed.said.detach().cpu().numpy()
    rows = np.split(flat, np.cumsum(lengths)[:-1])

    def d_said(d_rows: list[Said]) -> ArgsKwargs:
        device = packed.said.device
        joined = np.concatenate([d.rows for d in d_rows])
        d_packed = torch.from_numpy(joined[order]).to(device)
        d_judge = torch.from_numpy(sum(d.judge for d in d_rows)).to(device)
        gradients = {"grad_tensors": [d_packed, d_judge]}
        return ArgsKwargs(args=([packed.said, packed.judge],), kwargs=gradients)

    if is_train:
        judge = packed.judge.detach().cpu().numpy()
        return [Said(each, judge, n_cells) for each in rows], d_said
    words = [cast(Any, model.ops.to_numpy(v))[:, -N_ADDED:] for v in vectors]
    weights = lend(model)
    return [
        weights.decide(each, numbers) for each, numbers in zip(rows, words, strict=True)
    ], d_said


def _weights(
    model: Model[Vectors, Output], *, n_cells: int, gender_cost: float, products: int
) -> Weights:
    network: Network = model.shims[0]._model
    parameters = {k: v.cpu().numpy() for k, v in network.state_dict().items()}
    return Weights(
        parameters, n_cells=n_cells, gender_cost=gender_cost, products=products
    )
