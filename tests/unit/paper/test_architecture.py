import copy
import pickle

import numpy as np
import pytest
import srsly
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Adam, Model, fix_random_seed

from refreader_spacy.batching import read_docs
from refreader_spacy.paper.architecture import build_refreader_v1
from refreader_spacy.paper.packing import packed_order
from refreader_spacy.protocol import Reading, reader_of

WIDTH = 3
VOCAB = Vocab()
LENGTHS = st.lists(st.integers(0, 5), min_size=1, max_size=5)
FIELDS = ("update", "overwrite", "salience")


def forward(model, docs, is_train):
    def backprop(d_vectors):
        model.attrs["d_vectors"] = d_vectors
        return []

    return [doc.tensor for doc in docs], backprop


def make_model(*, attrs=None, **settings) -> Model:
    """A reader over vectors that Docs bring with them."""
    fix_random_seed(0)
    encoder = Model("encoder", forward, dims={"nO": WIDTH}, attrs=attrs or {})
    settings = {"hidden_size": 4, "key_size": 2, "dropout": 0.0, **settings}
    return build_refreader_v1(encoder, width=WIDTH, **settings)


def doc_of(vectors) -> Doc:
    doc = Doc(VOCAB, words=["word"] * len(vectors))
    doc.tensor = np.asarray(vectors, np.float32)
    return doc


def ones(n_tokens=4):
    return [doc_of(np.ones((n_tokens, WIDTH)))]


def read(model, docs) -> list[Reading]:
    return [part.gates for part in read_docs(model, docs, gates=True)]


MODEL = make_model(attrs={"lookahead": False, "takes_spans": True})


def draw_docs(data, lengths):
    floats = st.floats(-2, 2, width=32)
    shapes = [(length, WIDTH) for length in lengths]
    return [doc_of(data.draw(arrays(np.float32, s, elements=floats))) for s in shapes]


def assert_equal(found: Reading, wanted: Reading) -> None:
    for field in FIELDS:
        one, other = getattr(found, field), getattr(wanted, field)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)


@given(LENGTHS)
def test_documents_are_packed_side_by_side(lengths):
    order, sizes = packed_order(lengths)
    by_length = sorted(range(len(lengths)), key=lambda doc: -lengths[doc])
    starts = np.cumsum([0, *lengths])
    wanted = [
        starts[doc] + place
        for place in range(max(lengths))
        for doc in by_length
        if place < lengths[doc]
    ]
    assert order.tolist() == wanted
    assert sizes == [
        sum(place < length for length in lengths) for place in range(max(lengths))
    ]


@settings(max_examples=30)
@given(LENGTHS, st.data())
def test_batching_changes_nothing(lengths, data):
    docs = draw_docs(data, lengths)
    together = read(MODEL, docs)
    assert len(together) == len(docs)
    for doc, reading in zip(docs, together, strict=True):
        assert_equal(reading, read(MODEL, [doc])[0])


@settings(max_examples=30)
@given(LENGTHS, st.data())
def test_training_sees_the_gates_that_reading_gives(lengths, data):
    """Without dropout, and with one cell, so that nothing is chosen at random."""
    docs = draw_docs(data, lengths)
    model = make_model(n_cells=1)
    outputs, _ = model.begin_update(docs)
    for output, reading in zip(outputs, read(model, docs), strict=True):
        assert_equal(output, reading)


@settings(max_examples=30)
@given(st.integers(0, 6), st.integers(0, 6), st.data())
def test_later_tokens_never_change_earlier_gates(length, stop, data):
    (doc,) = draw_docs(data, [length])
    whole = read(MODEL, [doc])[0]
    start = Reading(*(getattr(whole, field)[:stop] for field in FIELDS))
    assert_equal(read(MODEL, [doc_of(doc.tensor[:stop])])[0], start)


@settings(max_examples=15)
@given(LENGTHS, st.data())
def test_gradients_come_back_to_their_own_tokens(lengths, data):
    docs = draw_docs(data, lengths)
    chosen = data.draw(st.integers(0, len(lengths) - 1))
    _, backprop = MODEL.begin_update(docs)
    backprop(
        [
            Reading(*np.full((3, length, 2), n == chosen, dtype=np.float32))
            for n, length in enumerate(lengths)
        ]
    )
    d_vectors = MODEL.layers[0].attrs["d_vectors"]
    assert [d.shape for d in d_vectors] == [(n, WIDTH) for n in lengths]
    for n, d_document in enumerate(d_vectors):
        assert d_document.any() == (n == chosen and lengths[n] > 0)


def test_an_encoder_that_doesnt_learn_gets_no_gradient():
    model = make_model(attrs={"learn": False})
    outputs, backprop = model.begin_update(ones())
    backprop(outputs)
    assert "d_vectors" not in model.layers[0].attrs
    assert model.shims[0]._model.pre_input.weight.grad.abs().sum() > 0


def test_the_temperature_is_passed_on():
    model = make_model()
    model.attrs["temperature"] = 1e-3
    (cold,), _ = model.begin_update(ones())
    np.testing.assert_allclose(
        cold.overwrite.max(axis=1), cold.overwrite.sum(axis=1), rtol=1e-5
    )


def test_sizes_come_from_the_config():
    (reading,) = read(make_model(n_cells=5), ones())
    assert reading.update.shape == (4, 5)
    assert reading.update.dtype == np.float32


@pytest.mark.parametrize("name", ["hidden_size", "key_size", "n_cells"])
def test_sizes_are_at_least_one(name):
    with pytest.raises(ValueError, match=f"R015.*{name} is 0.*model.{name}"):
        make_model(**{name: 0})


def test_unknown_loss_weights_are_refused():
    with pytest.raises(ValueError, match=r"R016.*'focus'.*'coref'"):
        make_model(loss_weights={"coref": 1.0, "focus": 2.0})


def test_loss_weights_come_from_the_config():
    weights = reader_of(make_model(loss_weights={"coref": 1.0})).loss_weights
    assert (weights.coref, weights.other, weights.within) == (1.0, 1.0, 0.1)


@pytest.mark.parametrize(
    ("attrs", "lookahead", "expected"),
    [
        ({}, None, True),
        ({"lookahead": True}, None, True),
        ({"lookahead": False}, None, False),
        ({"lookahead": False}, True, True),
        ({}, False, False),
    ],
)
def test_the_encoder_says_whether_it_looks_ahead(attrs, lookahead, expected):
    model = make_model(attrs=attrs, lookahead=lookahead)
    assert reader_of(model).lookahead == expected


def test_weights_are_plain_arrays():
    data = srsly.msgpack_loads(make_model().to_bytes())
    (shim,) = [shim for shims in data["shims"] for shim in shims]
    arrays_ = srsly.msgpack_loads(srsly.msgpack_loads(shim)["state"])
    assert all(isinstance(array, np.ndarray) for array in arrays_.values())


def test_weights_survive_the_round_trip():
    model = make_model()
    fix_random_seed(5)
    encoder = Model("encoder", forward, dims={"nO": WIDTH})
    other = build_refreader_v1(encoder, WIDTH, hidden_size=4, key_size=2)
    before = read(other, ones())[0]
    other.from_bytes(model.to_bytes())
    (found,), (wanted,) = read(other, ones()), read(model, ones())
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(found, field), getattr(wanted, field))
    assert not np.allclose(before.salience, found.salience)


def test_weights_of_another_size_are_refused():
    data = make_model().to_bytes()
    with pytest.raises(ValueError, match=r"R005.*size mismatch.*config\.cfg"):
        make_model(hidden_size=5).from_bytes(data)


def test_more_cells_than_were_trained_begin_like_those():
    trained = make_model()
    more = make_model(n_cells=5).from_bytes(trained.to_bytes())
    two, five = (m.shims[0]._model.memory for m in (trained, more))
    for name in ("initial_keys", "initial_values"):
        first, *_ = (content := getattr(five, name)).split(2)
        torch.testing.assert_close(first, getattr(two, name))
        torch.testing.assert_close(content, first.repeat(3, 1)[:5])


def test_vectors_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"R001.*width 7.*width 3.*width = 7"):
        make_model().initialize(X=[doc_of(np.ones((2, 7)))])


def test_initializing_draws_fresh_weights():
    model = make_model()
    before = read(model, ones())[0].salience
    model.initialize(X=ones())
    assert not np.allclose(read(model, ones())[0].salience, before)


def test_a_reader_is_kept_until_the_weights_change():
    model = make_model()
    reader = reader_of(model)
    assert reader_of(model) is reader
    outputs, backprop = model.begin_update(ones())
    backprop(outputs)
    assert reader_of(model) is reader
    before = read(model, ones())[0].salience
    model.finish_update(Adam(0.1))
    assert reader_of(model) is not reader
    assert not np.allclose(read(model, ones())[0].salience, before)


@pytest.mark.parametrize("copied", [Model.copy, copy.deepcopy])
def test_a_copy_has_a_reader_of_its_own(copied):
    model = make_model()
    reader = reader_of(model)
    other = copied(model)
    assert reader_of(other) is not reader
    assert_equal(read(other, ones())[0], read(model, ones())[0])
    for weight in other.shims[0]._model.parameters():
        weight.data += 1
    other.shims[0].changed()
    assert not np.allclose(
        read(other, ones())[0].salience, read(model, ones())[0].salience
    )
    assert reader_of(model) is reader


def test_what_is_kept_isnt_pickled():
    kept = make_model().attrs["reader"]
    assert len(pickle.dumps(kept)) < 1000
