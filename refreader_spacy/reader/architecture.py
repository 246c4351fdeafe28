"""The default reader as a Thinc model: Docs in, what was decided out.

In training, what comes out is what the network saw of the tokens: the loss goes on from
there in torch, and its gradient comes back the same way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import torch2xp, xp2torch

from refreader_spacy.protocol import ReaderModel
from refreader_spacy.reader.entity_reader import EntityReader
from refreader_spacy.reader.loss import EntityLoss, LossWeights, windows_of
from refreader_spacy.reader.model import (
    Encoder,
    check_shares,
    check_sizes,
    encode,
    looks_ahead,
    loss_weights_of,
    reader_model,
    shim_of,
)
from refreader_spacy.reader.network import Encoded, EntityNetwork
from refreader_spacy.reader.tokens import TextState, token_rows
from refreader_spacy.reader.weights import ReaderWeights


@dataclass
class TrainingOutput:
    """What the network saw of a batch's tokens, or the gradient in it."""

    network: EntityNetwork
    encoded: Encoded
    lengths: list[int]


def build_entity_reader_v1(
    tok2vec: Encoder,
    width: int,
    token_size: int = 160,
    hidden_size: int = 256,
    mention_size: int = 128,
    score_size: int = 64,
    product_size: int = 48,
    n_cells: int = 64,
    dropout: float = 0.35,
    word_dropout: float = 0.08,
    noise: float = 0.03,
    lookahead: bool | None = None,
    loss_weights: dict[str, float] | None = None,
) -> ReaderModel:
    """A reader of everything that a text mentions, with many memory cells.

    tok2vec (Model): Gives one vector a token.
    width (int): Of the encoder's vectors.
    token_size (int): Of what the recurrent unit reads of a token.
    hidden_size (int): Of the recurrent unit.
    mention_size (int): Of the vector that a mention is remembered by.
    score_size (int): Of the hidden layer that compares a mention with a cell.
    product_size (int): Of the products of mention and cell, which compare their
        meanings.
    n_cells (int): How many entities are remembered; the least salient is overwritten.
    dropout (float): On vectors, hidden states and mentions.
    word_dropout (float): How often a word is read as an unknown one.
    noise (float): How often a mention goes to a wrong cell in training, as it will
        later.
    lookahead (bool | None): Do tokens' vectors depend on later tokens? None is what the
        encoder says; of one that doesn't say, we assume so.
    loss_weights (dict[str, float] | None): What each decision counts in training:
        detection, link, edge, flag (of annotation schemes), type.
    """
    check_sizes(
        width=width,
        token_size=token_size,
        hidden_size=hidden_size,
        mention_size=mention_size,
        score_size=score_size,
        product_size=product_size,
        n_cells=n_cells,
    )
    check_shares(dropout=dropout, word_dropout=word_dropout, noise=noise)
    network = EntityNetwork(
        width=width,
        token_size=token_size,
        hidden_size=hidden_size,
        mention_size=mention_size,
        score_size=score_size,
        product_size=product_size,
        dropout=dropout,
        word_dropout=word_dropout,
    )
    loss = EntityLoss(loss_weights_of(LossWeights, loss_weights), n_cells, noise)
    make = partial(
        _reader, n_cells=n_cells, loss=loss, lookahead=looks_ahead(tok2vec, lookahead)
    )
    return reader_model(
        "entity_reader",
        tok2vec,
        network,
        width,
        make=make,
        forward_to_learn=_forward_to_learn,
    )


def _reader(
    model: ReaderModel, *, n_cells: int, loss: EntityLoss, lookahead: bool
) -> EntityReader:
    """The reader with the weights as they are now."""
    network: EntityNetwork = shim_of(model)._model
    parameters = {k: v.cpu().numpy() for k, v in network.state_dict().items()}
    return EntityReader(
        ReaderWeights(parameters, n_cells),
        partial(encode, model),
        loss,
        lookahead=lookahead,
        needs_past=bool(model.layers[0].attrs.get("needs_past")),
    )


def _forward_to_learn(
    model: ReaderModel, docs: list[Doc], *, learn: bool
) -> tuple[TrainingOutput, Callable[[TrainingOutput], list[Doc]]]:
    encoder: Any = model.layers[0]
    network: EntityNetwork = shim_of(model)._model
    network.train()
    tokens = [token_rows(doc, TextState()) for doc in docs]
    given, backprop = encoder(docs, is_train=True)
    read = [v[t.places] for v, t in zip(given, tokens, strict=True)]
    vectors = xp2torch(model.ops.xp.concatenate(read), requires_grad=learn)
    device = next(network.parameters()).device
    rows = torch.from_numpy(np.concatenate([t.rows for t in tokens]).astype(np.int64))
    lengths = [len(t) for t in tokens]
    inputs = network.token_inputs(vectors.to(device), rows.to(device))
    windows, valid = windows_of(lengths)
    encoded = network.encode(inputs, windows.to(device), valid.to(device))
    seen = Encoded(*(x.detach().requires_grad_() for x in encoded))

    def finish(d_output: TrainingOutput) -> list[Doc]:
        torch.autograd.backward(list(encoded), list(d_output.encoded))
        if not learn:
            return []
        gradient: Any = torch2xp(cast(torch.Tensor, vectors.grad))
        d_read = model.ops.xp.split(gradient, np.cumsum(lengths)[:-1])
        d_vectors = []
        for whole, token, part in zip(given, tokens, d_read, strict=True):
            d_whole = model.ops.xp.zeros_like(whole)
            d_whole[token.places] = part
            d_vectors.append(d_whole)
        return cast(list[Doc], backprop(d_vectors))

    return TrainingOutput(network, seen, lengths), finish
