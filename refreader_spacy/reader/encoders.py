"""Token encoders of ours: what turns a Doc into one vector a token for the reader.

Both give a token a vector that depends on that token alone (`lookahead` is False), so
they take parts of Docs as well.

Shapes: T tokens, X width, R rows and K keys of a table.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import LOWER, ORTH, SHAPE
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span
from spacy.vectors import Mode
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from refreader_spacy.errors import Errors

Vectors = list[Floats2d]
Encoder = Model[list[Doc], Vectors]


def build_fixed_vectors_v1(width: int) -> Encoder:
    """The pipeline's own word vectors, scaled to unit deviation, never trained.

    Vector tables differ in scale by an order of magnitude, and the reader's gates
    saturate on large ones, so the scale is measured when training begins and kept.

    width (int): Of the pipeline's vectors.
    """
    attrs = {"scale": 1.0, "learn": False, "lookahead": False, "takes_spans": True}
    init: Any = _init_fixed
    return Model(
        "fixed_vectors", _forward_fixed, init=init, dims={"nO": width}, attrs=attrs
    )


def build_word_vectors_v1(width: int, learn: bool = True) -> Encoder:
    """A table of word vectors inside the model: it needs none in the pipeline.

    It starts as a copy of the pipeline's vectors, scaled to unit deviation.

    width (int): Of those vectors.
    learn (bool): Train them.
    """
    attrs = {
        "keys": b"",
        "rows": b"",
        "found_by": [ORTH, LOWER],  # tried in this order
        "learn": learn,
        "lookahead": False,
        "takes_spans": True,
    }
    init: Any = _init_words
    return Model(
        "word_vectors",
        partial(_forward_words, learn=learn),
        init=init,
        dims={"nO": width},
        params={"E": None},
        attrs=attrs,
    )


def _forward_fixed(
    model: Encoder, docs: list[Doc], is_train: bool
) -> tuple[Vectors, Callable[[Vectors], list[Doc]]]:
    return [_fixed_vectors(model, doc) for doc in docs], lambda d_vectors: []


def _init_fixed(model: Encoder, X: list[Doc] | None = None, Y: Any = None) -> None:
    if X:
        model.attrs["scale"] = _unit_scale(model, X[0].vocab)


def _fixed_vectors(model: Encoder, doc: Doc | Span) -> Floats2d:
    _check(model, doc.vocab)
    if len(doc) == 0:
        return model.ops.alloc2f(0, model.get_dim("nO"))
    table = doc.vocab.vectors
    keys = _values(doc, ORTH).tolist()
    if table.mode == Mode.floret:
        vectors = table.get_batch(keys)
    else:
        rows = table.find(keys=keys)
        if (rows < 0).any():  # tables of lower-cased words
            lower = table.find(keys=_values(doc, LOWER).tolist())
            rows = np.where(rows < 0, lower, rows)
        vectors = np.where(rows[:, None] < 0, 0.0, table.data[rows])
    return cast(Floats2d, model.ops.asarray2f(vectors) * model.attrs["scale"])


def _forward_words(
    model: Encoder, docs: list[Doc], is_train: bool, *, learn: bool
) -> tuple[Vectors, Callable[[Vectors], list[Doc]]]:
    table: Any = model.get_param("E")
    rows = [word_rows(model, doc) for doc in docs]

    def backprop(d_vectors: Vectors) -> list[Doc]:
        if learn:
            d_table = model.ops.alloc2f(*table.shape)
            flat = model.ops.xp.concatenate(rows)
            model.ops.scatter_add(d_table, flat, model.ops.xp.concatenate(d_vectors))
            d_table[0] = 0.0  # the unknown word's vector stays zero
            model.inc_grad("E", d_table)
        return []

    return [cast(Floats2d, table[r]) for r in rows], backprop


def _init_words(model: Encoder, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Row 0 is for unknown words, so the table's rows move up by one."""
    if not X:
        return
    scale = _unit_scale(model, X[0].vocab)
    vectors = X[0].vocab.vectors
    _set_keys(model, {key: row + 1 for key, row in vectors.key2row.items()})
    unknown = model.ops.alloc2f(1, model.get_dim("nO"))
    table = model.ops.asarray2f(vectors.data) * scale
    model.set_param("E", model.ops.xp.concatenate([unknown, table]))


def give_rows(model: Encoder, vocab: Vocab, words: list[str]) -> None:
    """Give words rows of their own in a table of word vectors, to be learned.

    In a pruned table many words share a row. The first that asks for a row keeps it,
    and what is learned for it is also for the words that nobody asked for; the others
    get copies. A word without a vector begins at zero. Words may be shapes, such as
    `Xxxxx`: a word that isn't found is looked up by its shape from now on.

    words (list[str]): The most frequent first.
    """
    keys = np.frombuffer(model.attrs["keys"], dtype="<u8").tolist()
    rows = np.frombuffer(model.attrs["rows"], dtype="<u4").tolist()
    row_of = dict(zip(keys, rows, strict=True))
    table: Any = model.get_param("E")
    before = word_rows(model, Doc(vocab, words=words)).tolist()
    taken = {0}
    copied: list[int] = []
    for word, row in zip(words, before, strict=True):
        key = get_string_id(word)
        if row in taken or key not in row_of:
            row_of[key] = len(table) + len(copied)
            copied.append(row)
        else:
            taken.add(row)
    _set_keys(model, row_of)
    model.set_param("E", model.ops.xp.concatenate([table, table[copied]]))
    model.attrs["found_by"] = [ORTH, LOWER, SHAPE]


def _set_keys(model: Encoder, row_of: dict[int, int]) -> None:
    keys = np.array(list(row_of), dtype="<u8")  # (K,)
    rows = np.array(list(row_of.values()), dtype="<u4")  # (K,)
    order = np.argsort(keys)
    model.attrs["keys"] = keys[order].tobytes()
    model.attrs["rows"] = rows[order].tobytes()


def word_rows(model: Encoder, doc: Doc | Span) -> NDArray[np.uint32]:
    """Which row of the table each token's vector is; 0 is that of unknown words."""
    keys = np.frombuffer(model.attrs["keys"], dtype="<u8")
    rows = np.frombuffer(model.attrs["rows"], dtype="<u4")
    found = np.zeros(len(doc), dtype=np.uint32)
    for attr in model.attrs["found_by"]:
        wanted = _values(doc, attr)  # (T,)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = (keys[place] == wanted) & (found == 0)
        found[known] = rows[place[known]]
    return found


def check_loaded(model: Model[Any, Any]) -> None:
    """Raise an error unless tables that were loaded can be looked things up in."""
    for layer in model.walk():
        tables: list[Any] = [
            layer.get_param(name) for name in layer.param_names if layer.has_param(name)
        ]
        if any(table.dtype.kind != "f" or not table.ndim for table in tables):
            raise ValueError(Errors.R005.format(problem=f"parameters of {layer.name}"))
        if "found_by" in layer.attrs and tables:
            check_words(layer)


def check_words(model: Encoder) -> None:
    """Raise an error unless every word has a row of the table."""
    table, attrs = model.get_param("E"), model.attrs
    keys, rows, found_by = attrs["keys"], attrs["rows"], attrs["found_by"]
    if (
        table.ndim != 2
        or table.shape[1] != model.get_dim("nO")
        or not isinstance(keys, bytes)
        or not isinstance(rows, bytes)
        or not keys
        or len(keys) % 8
        or len(keys) != 2 * len(rows)
        or np.frombuffer(rows, dtype="<u4").max() >= len(table)
        or not isinstance(found_by, list)
        or not all(attr in (ORTH, LOWER, SHAPE) for attr in found_by)
    ):
        raise ValueError(Errors.R005.format(problem="words without a vector"))


def _values(tokens: Any, attr: int) -> NDArray[np.uint64]:
    """An attribute of each token (T,); spaCy doesn't declare that Spans have it."""
    return cast(NDArray[np.uint64], tokens.to_array([attr]).ravel())


def _unit_scale(model: Encoder, vocab: Vocab) -> float:
    _check(model, vocab)
    deviation = float(np.std(vocab.vectors.data))
    return 1 / deviation if deviation else 1.0


def _check(model: Encoder, vocab: Vocab) -> None:
    n_rows, width = vocab.vectors.shape
    expected = model.get_dim("nO")
    if n_rows == 0:
        raise ValueError(Errors.R003.format(name=model.name))
    if width != expected:
        raise ValueError(
            Errors.R004.format(found=width, name=model.name, expected=expected)
        )
