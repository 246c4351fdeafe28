"""From Docs to Readings, quickly and in bounded memory: who is read with whom, and how.

The model's own `predict` is the plain way, in torch, and the one a GPU takes. On the
CPU the reader's weights are lent to NumPy: few documents are read one by one, many side
by side with others of similar length, and long ones in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from spacy.attrs import NORM
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

from refreader_spacy.model.fast import Pen, State, Weights
from refreader_spacy.model.fast_batch import packed_order, read_packed
from refreader_spacy.model.types import Array, Reading

FEW = 6  # up to so many documents, one by one is quicker
MANY = 128  # documents side by side; more gain little
BLOCK = 1024  # tokens of one document that have vectors at the same time
GROUP = 16 * BLOCK  # tokens of all documents of a group

# Layers of Thinc's and spaCy's that treat each token by itself
ALONE = {
    "charembed",
    "dropout",
    "extract_features",
    "hashembed",
    "ints-getitem",
    "layernorm",
    "list2ragged",
    "maxout",
    "ragged2list",
    "static_vectors",
}

ReaderModel = Model[list[Doc], list[Reading]]


def read_docs(model: ReaderModel, docs: Sequence[Doc]) -> list[Reading]:
    """The memory's history over each Doc, in the order of the Docs."""
    readings: dict[int, Reading] = {}
    for group in groups_by_length([len(doc) for doc in docs]):
        found = read_group(model, [docs[i] for i in group])
        readings.update(zip(group, found, strict=True))
    return [readings[i] for i in range(len(docs))]


def groups_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of documents of similar length; a long one is a group by itself."""
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if len(group) == MANY or (len(group) + 1) * lengths[i] > GROUP:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def read_group(model: ReaderModel, docs: list[Doc]) -> list[Reading]:
    """Read documents of similar length."""
    weights = weights_of(model)
    if weights is None or not isinstance(model.ops, NumpyOps):
        return model.predict(docs)
    if len(docs) <= FEW:
        return [read_long(model, Pen(weights), doc) for doc in docs]
    vectors = encode(model, docs)
    lengths = [len(doc) for doc in docs]
    order, sizes = packed_order(lengths)
    packed = read_packed(weights, np.concatenate(vectors)[order], sizes)
    stops = np.cumsum(lengths)[:-1]
    columns = []
    for gate in (packed.update, packed.overwrite, packed.salience):
        flat = np.empty_like(gate)
        flat[order] = gate
        columns.append(np.split(flat, stops))
    return [Reading(*column) for column in zip(*columns, strict=True)]


def read_long(model: ReaderModel, pen: Pen, doc: Doc) -> Reading:
    """Go on with a document of any length, of which the gates are all that is kept."""
    if len(doc) <= BLOCK:
        (vectors,) = encode(model, [doc])
        return pen.read(vectors)
    starts = range(0, len(doc), BLOCK)
    if lookahead(model):
        (vectors,) = encode(model, [doc])
        parts = [pen.read(vectors[start : start + BLOCK]) for start in starts]
    else:
        parts = [
            pen.read(*encode(model, [part_of(doc, start, start + BLOCK)]))
            for start in starts
        ]
    return Reading(
        np.concatenate([part.update for part in parts]),
        np.concatenate([part.overwrite for part in parts]),
        np.concatenate([part.salience for part in parts]),
    )


def pen_for(model: ReaderModel, state: State | None = None) -> Pen | None:
    """What reads one document token by token, if the model's reader is ours."""
    weights = weights_of(model)
    return None if weights is None else Pen(weights, state)


def weights_of(model: ReaderModel) -> Weights | None:
    """The reader's weights as they are now, if the model is an encoder and a reader."""
    lend = model.layers[-1].attrs.get("weights") if model.layers else None
    return None if lend is None else cast(Weights, lend(model.layers[-1]))


def encode(model: ReaderModel, docs: list[Doc]) -> list[Array]:
    """The encoder's vectors (T, X) of each Doc."""
    vectors = model.layers[0].predict(docs)
    return [cast(Array, model.ops.to_numpy(v)) for v in vectors]


def lookahead(model: ReaderModel) -> bool:
    """Do tokens' vectors depend on other tokens? Of an unknown encoder we assume so."""
    if not model.layers:
        return True
    encoder = model.layers[0]
    leaves = {node.name for node in encoder.walk() if not node.layers}
    return bool(encoder.attrs.get("lookahead", not leaves <= ALONE))


def part_of(doc: Doc, start: int, stop: int) -> Doc:
    """Some tokens of a Doc with all that an encoder of single tokens can ask for."""
    tokens = doc[start:stop]
    words = [token.text for token in tokens]
    spaces = [bool(token.whitespace_) for token in tokens]
    norms: Any = np.array([[token.norm] for token in tokens], dtype=np.uint64)
    return Doc(doc.vocab, words=words, spaces=spaces).from_array([NORM], norms)
