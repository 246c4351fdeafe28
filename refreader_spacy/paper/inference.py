"""From Docs to Readings in bounded memory: grouping by length, long Docs in blocks.

Documents of similar length are read together by the model's `predict`, in torch. On the
CPU, one document alone is read by NumPy, which has less to do per token, and a long one
in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from spacy.attrs import NORM
from spacy.tokens import Doc, Span
from thinc.api import Model, NumpyOps

from refreader_spacy.paper.weights import NumpyWeights
from refreader_spacy.protocol import BLOCK, Array, Reading

GROUP = 32 * BLOCK  # tokens of all documents of a group

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


def read_docs(model: ReaderModel, docs: Sequence[Doc], *, whole: bool) -> list[Reading]:
    """The memory's history over each Doc, in the order of the Docs.

    whole (bool): Read everything now. Otherwise, long Docs are read when their gates
        are accessed.
    """
    readings: dict[int, Reading] = {}
    for group in groups_by_length([len(doc) for doc in docs]):
        found = read_group(model, [docs[i] for i in group], whole=whole)
        readings.update(zip(group, found, strict=True))
    return [readings[i] for i in range(len(docs))]


def groups_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of documents of similar length, the longest first."""
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if group and (len(group) + 1) * lengths[group[0]] > GROUP:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def read_group(model: ReaderModel, docs: list[Doc], *, whole: bool) -> list[Reading]:
    """Read documents of similar length, the longest first."""
    weights = weights_of(model)
    if weights is None or not isinstance(model.ops, NumpyOps):
        return model.predict(docs)
    if len(docs) > 1 and not weights.batches:
        return model.predict(docs)
    if len(docs) == 1 and len(docs[0]) > BLOCK:
        reading = LongReading(model, weights, docs[0])
        return [reading.whole if whole else reading]
    lengths = [len(doc) for doc in docs]
    vectors = np.concatenate(encode(model, docs))
    together = weights.documents(weights.start(len(docs))).read(vectors, lengths)
    stops = np.cumsum(lengths)[:-1]
    gates = together.update, together.overwrite, together.salience
    columns = zip(*(np.split(gate, stops) for gate in gates), strict=True)
    return [Reading(*column) for column in columns]


class LongReading(Reading):
    """A lazy Reading of one document of any length.

    `blocks` reads it in blocks and keeps none of them; the gates read it whole. The
    model must not be updated before that.
    """

    def __init__(self, model: ReaderModel, weights: NumpyWeights, doc: Doc) -> None:
        self._model, self._weights, self._doc = model, weights, doc

    def __len__(self) -> int:
        return len(self._doc)

    @property
    def n_cells(self) -> int:
        return self._weights.n_cells

    def blocks(self) -> Iterator[Reading]:
        """All of it from left to right, read again each time."""
        documents = self._weights.documents()
        for vectors in vectors_of(self._model, self._doc):
            yield documents.read(vectors, [len(vectors)])

    @cached_property
    def whole(self) -> Reading:
        """All gates at once."""
        # Filled in place: of many cells gates are large, and joining parts copies them
        gates = np.empty((3, len(self), self.n_cells), np.float32)
        start = 0
        for block in self.blocks():
            stop = start + len(block)
            gates[:, start:stop] = block.update, block.overwrite, block.salience
            start = stop
        return Reading(*gates)

    @property
    def update(self) -> Array:
        return self.whole.update

    @property
    def overwrite(self) -> Array:
        return self.whole.overwrite

    @property
    def salience(self) -> Array:
        return self.whole.salience


def weights_of(model: ReaderModel) -> NumpyWeights | None:
    """The reader's weights as they are now, if the model is an encoder and a reader."""
    weights = model.layers[-1].attrs.get("weights") if model.layers else None
    return None if weights is None else cast(NumpyWeights, weights(model.layers[-1]))


def encode(model: ReaderModel, docs: Sequence[Doc | Span]) -> list[Array]:
    """The encoder's vectors (T, X) of each Doc, or each part of one."""
    vectors = model.layers[0].predict(docs)
    return [cast(Array, model.ops.to_numpy(v)) for v in vectors]


def vectors_of(model: ReaderModel, doc: Doc) -> Iterator[Array]:
    """The encoder's vectors of a long Doc, block by block."""
    starts = range(0, len(doc), BLOCK)
    if lookahead(model):
        (vectors,) = encode(model, [doc])
        yield from (vectors[start : start + BLOCK] for start in starts)
    else:
        parts = (part_of(model, doc[start : start + BLOCK]) for start in starts)
        yield from (encode(model, [part])[0] for part in parts)


def lookahead(model: ReaderModel) -> bool:
    """Whether vectors depend on other tokens; assumed of an unknown encoder."""
    if not model.layers:
        return True
    encoder = model.layers[0]
    leaves = {node.name for node in encoder.walk() if not node.layers}
    return bool(encoder.attrs.get("lookahead", not leaves <= ALONE))


def part_of(model: ReaderModel, part: Span) -> Doc | Span:
    """Some tokens of a Doc as the model's encoder takes them."""
    return part if model.layers[0].attrs.get("takes_spans") else doc_of(part)


def doc_of(part: Span) -> Doc:
    """The part as a Doc, with all attributes that token-level encoders use."""
    words = [token.text for token in part]
    spaces = [bool(token.whitespace_) for token in part]
    norms: Any = np.array([[token.norm] for token in part], dtype=np.uint64)
    return Doc(part.doc.vocab, words=words, spaces=spaces).from_array([NORM], norms)
