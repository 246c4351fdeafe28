"""The surprisal of each word, in bits.

Shapes: T tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from spacy.tokens import Doc, SpanGroup

from refreader_spacy.annotation.extensions import encoded
from refreader_spacy.annotation.index import READ
from refreader_spacy.pretraining.blocks import Cutter
from refreader_spacy.pretraining.language_model import Streams, read_language_model
from refreader_spacy.pretraining.vocabulary import UNKNOWN
from refreader_spacy.protocol import Array, ReaderModel
from refreader_spacy.reader.encoders import word_rows

SIDE_BY_SIDE = Cutter(n_streams=64, length=256)  # bounds the memory


@torch.no_grad()
def surprisals(
    model: ReaderModel, articles: Sequence[Sequence[Doc]], name: str = "refreader"
) -> tuple[list[Array], int]:
    """The surprisal of each token of each article, which may be in several Docs.

    All words outside the vocabulary count as one word.

    name (str): Of the component, for errors.
    RETURNS: Bits (T,) for each article, and how many words were not in the vocabulary.
    """
    language_model, vocabulary = read_language_model(model, name)
    encoder = model.layers[0]
    docs = [doc for article in articles for doc in article]
    if not docs:
        return [], 0
    lengths = [sum(map(len, article)) for article in articles]
    starts = np.cumsum([0, *lengths])
    classes = np.concatenate([vocabulary.classes(doc) for doc in docs])
    rows = np.concatenate([word_rows(encoder, doc) for doc in docs]).astype(np.int64)
    tokens = np.arange(len(rows), dtype=np.int32)
    streams = Streams(language_model, SIDE_BY_SIDE.n_streams, rows, classes, tokens)
    bits = np.zeros(len(rows), np.float32)
    for block in SIDE_BY_SIDE(starts, np.flatnonzero(lengths)):
        places, _ = block.packed()
        bits[places] = streams.read(block).log_probability.numpy() / -math.log(2)
    return np.split(bits, starts[1:-1]), int((classes == UNKNOWN).sum())


def write_surprisals(model: ReaderModel, docs: Sequence[Doc], name: str) -> None:
    """Store each Doc's surprisals on it, in the attrs of a span group.

    An encoder that is a language model has them already.
    """
    given = model.layers[0].attrs.get("surprisals")
    if given is None:
        found, _ = surprisals(model, [[doc] for doc in docs], name)
    else:
        found = given(model.layers[0], docs, name)
    for doc, bits in zip(docs, found, strict=True):
        if READ not in doc.spans:
            doc.spans[READ] = SpanGroup(doc, name=READ)
        doc.spans[READ].attrs["surprisal"] = encoded(bits)
