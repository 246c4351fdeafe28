"""The paper's reader as a Thinc model: Docs in, gates or decisions out.

In training, what comes out are each Doc's gates: the loss goes on from there, and its
gradient in them comes back.

Shapes: N tokens of all documents, T tokens of one, M memory cells, X input size.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import torch2xp, xp2torch

from refreader_spacy.paper.gold import LossWeights
from refreader_spacy.paper.network import PaperNetwork
from refreader_spacy.paper.packing import by_document, packed_order
from refreader_spacy.paper.paper_reader import PaperReader
from refreader_spacy.protocol import ReaderModel, Reading
from refreader_spacy.reader.model import (
    Encoder,
    check_positive,
    check_probabilities,
    check_shares,
    check_sizes,
    encode,
    looks_ahead,
    loss_weights_of,
    reader_model,
    shim_of,
)

Readings = list[Reading]


def build_refreader_v1(
    tok2vec: Encoder,
    width: int,
    hidden_size: int = 300,
    key_size: int = 16,
    n_cells: int = 2,
    entity_half_life: float = 4.0,
    word_half_life: float = 30.0,
    memory_bias: float = 0.0,
    dropout: float = 0.5,
    tolerance: float = 0.0,
    lookahead: bool | None = None,
    loss_weights: dict[str, float] | None = None,
) -> ReaderModel:
    """The Referential Reader over any token encoder; defaults are the paper's.

    tok2vec (Model): One vector per token.
    width (int): Of the encoder's vectors.
    hidden_size (int): Of the hidden state, and of a cell's value.
    key_size (int): Of a cell's key.
    n_cells (int): How many entities are remembered.
    entity_half_life (float): Mentions until a cell's salience has halved.
    word_half_life (float): Other tokens until a cell's salience has halved.
    memory_bias (float): Where the gate that lets the memory into the hidden state
        starts; below zero, the reader begins as a plain recurrent network.
    dropout (float): On token vectors, pre-recurrent states and hidden states.
    tolerance (float): A gate below it leaves a cell's key and value as they are, which
        saves most of the work, in training and in reading; 0 is the paper's.
    lookahead (bool | None): Do tokens' vectors depend on later tokens? None is what the
        encoder says; of one that doesn't say, we assume so.
    loss_weights (dict[str, float] | None): What a pair of tokens counts in training:
        inside a mention (within), of one entity (coref), of two entities (coref times
        negative_ratio), or any other (other).
    """
    check_sizes(
        width=width, hidden_size=hidden_size, key_size=key_size, n_cells=n_cells
    )
    check_shares(dropout=dropout)
    check_probabilities(tolerance=tolerance)
    check_positive(entity_half_life=entity_half_life, word_half_life=word_half_life)
    network = PaperNetwork(
        width=width,
        hidden_size=hidden_size,
        key_size=key_size,
        n_cells=n_cells,
        entity_half_life=entity_half_life,
        word_half_life=word_half_life,
        memory_bias=memory_bias,
        dropout=dropout,
        tolerance=tolerance,
    )
    make = partial(
        _reader,
        loss_weights=loss_weights_of(LossWeights, loss_weights),
        lookahead=looks_ahead(tok2vec, lookahead),
    )
    return reader_model(
        "refreader",
        tok2vec,
        network,
        width,
        make=make,
        forward_to_learn=_forward_to_learn,
        attrs={"temperature": 1.0},
    )


def _reader(
    model: ReaderModel, *, loss_weights: LossWeights, lookahead: bool
) -> PaperReader:
    return PaperReader(
        shim_of(model)._model,
        partial(encode, model),
        loss_weights,
        lookahead=lookahead,
        needs_past=bool(model.layers[0].attrs.get("needs_past")),
    )


def _forward_to_learn(
    model: ReaderModel, docs: list[Doc], *, learn: bool
) -> tuple[Readings, Callable[[Readings], list[Doc]]]:
    encoder: Any = model.layers[0]
    network: PaperNetwork = shim_of(model)._model
    xp: Any = model.ops.xp
    vectors, backprop = encoder(docs, is_train=True)
    lengths = [len(v) for v in vectors]
    order, batch_sizes = packed_order(lengths)
    flat = xp.concatenate(vectors)  # (N, X)
    tokens = xp2torch(model.ops.as_contig(flat[order]), requires_grad=learn)
    network.train()
    temperature = model.attrs["temperature"]
    packed = network(tokens, batch_sizes=batch_sizes, temperature=temperature)
    gates = [packed.update, packed.overwrite, packed.salience]
    columns = (by_document(x.detach().cpu().numpy(), order, lengths) for x in gates)

    def finish(d_readings: Readings) -> list[Doc]:
        d_fields = [(d.update, d.overwrite, d.salience) for d in d_readings]
        d_gates = [
            torch.from_numpy(np.concatenate(field)[order]).to(gate.device)
            for field, gate in zip(zip(*d_fields, strict=True), gates, strict=True)
        ]
        torch.autograd.backward(gates, d_gates)
        if learn:
            d_flat = xp.zeros_like(flat)
            d_flat[order] = torch2xp(cast(Any, tokens.grad))
            backprop(list(xp.split(d_flat, np.cumsum(lengths)[:-1])))
        return []

    return [Reading(*each) for each in zip(*columns, strict=True)], finish
