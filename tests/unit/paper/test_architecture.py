import numpy as np
import pytest
import srsly
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from thinc.api import Model, fix_random_seed

from refreader_spacy.paper.architecture import build_refreader_v1, packed_order
from refreader_spacy.protocol import Reading

WIDTH = 3
LENGTHS = st.lists(st.integers(0, 5), min_size=1, max_size=5)
FIELDS = ("update", "overwrite", "salience")


def forward(model, X, is_train):
    return X, lambda dY: dY


def make_model(**sizes) -> Model:
    """A reader over token vectors that come as they are."""
    fix_random_seed(0)
    encoder = Model("encoder", forward, dims={"nO": WIDTH})
    sizes = {"hidden_size": 4, "key_size": 2, "dropout": 0.0, **sizes}
    return build_refreader_v1(encoder, width=WIDTH, **sizes)


MODEL = make_model()


def draw_vectors(data, lengths):
    floats = st.floats(-2, 2, width=32)
    return [
        data.draw(arrays(np.float32, (length, WIDTH), elements=floats))
        for length in lengths
    ]


def assert_equal(found: Reading, wanted: Reading) -> None:
    for field in FIELDS:
        one, other = getattr(found, field), getattr(wanted, field)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@settings(deadline=None)
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


@settings(deadline=None, max_examples=30)
@given(LENGTHS, st.data())
def test_batching_changes_nothing(lengths, data):
    vectors = draw_vectors(data, lengths)
    together = MODEL.predict(vectors)
    assert len(together) == len(vectors)
    for document, reading in zip(vectors, together, strict=True):
        assert_equal(reading, MODEL.predict([document])[0])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 6), st.integers(0, 6), st.data())
def test_later_tokens_never_change_earlier_gates(length, stop, data):
    (document,) = draw_vectors(data, [length])
    whole = MODEL.predict([document])[0]
    start = Reading(*(getattr(whole, field)[:stop] for field in FIELDS))
    assert_equal(MODEL.predict([document[:stop]])[0], start)


@settings(deadline=None, max_examples=15)
@given(LENGTHS, st.data())
def test_gradients_come_back_to_their_own_tokens(lengths, data):
    vectors = draw_vectors(data, lengths)
    chosen = data.draw(st.integers(0, len(lengths) - 1))
    _, backprop = MODEL.begin_update(vectors)
    d_vectors = backprop(
        [
            Reading(*np.full((3, length, 2), n == chosen, dtype=np.float32))
            for n, length in enumerate(lengths)
        ]
    )
    assert [d.shape for d in d_vectors] == [v.shape for v in vectors]
    for n, d_document in enumerate(d_vectors):
        assert d_document.any() == (n == chosen and lengths[n] > 0)


def test_the_temperature_is_passed_on():
    model = make_model()
    vectors = [np.ones((4, WIDTH), dtype=np.float32)]
    for layer in model.walk():
        if "temperature" in layer.attrs:
            layer.attrs["temperature"] = 1e-3
    (cold,), _ = model.begin_update(vectors)
    np.testing.assert_allclose(
        cold.overwrite.max(axis=1), cold.overwrite.sum(axis=1), rtol=1e-5
    )


def test_sizes_come_from_the_config():
    (reading,) = make_model(n_cells=5).predict([np.ones((4, WIDTH), dtype=np.float32)])
    assert reading.update.shape == (4, 5)
    assert reading.update.dtype == np.float32


def test_weights_are_plain_arrays():
    data = srsly.msgpack_loads(make_model().to_bytes())
    (shim,) = [shim for shims in data["shims"] for shim in shims]
    arrays_ = srsly.msgpack_loads(srsly.msgpack_loads(shim)["state"])
    assert all(isinstance(array, np.ndarray) for array in arrays_.values())


def test_weights_survive_the_round_trip():
    model = make_model()
    fix_random_seed(5)
    other = build_refreader_v1(
        Model("encoder", forward, dims={"nO": WIDTH}), WIDTH, hidden_size=4, key_size=2
    )
    vectors = [np.ones((4, WIDTH), dtype=np.float32)]
    other.from_bytes(model.to_bytes())
    for field in FIELDS:
        np.testing.assert_array_equal(
            getattr(other.predict(vectors)[0], field),
            getattr(model.predict(vectors)[0], field),
        )


def test_weights_of_another_size_are_refused():
    data = make_model().to_bytes()
    with pytest.raises(ValueError, match=r"R005.*size mismatch.*config\.cfg"):
        make_model(hidden_size=5).from_bytes(data)


def test_more_cells_than_were_trained_begin_like_those():
    trained = make_model()
    more = make_model(n_cells=5).from_bytes(trained.to_bytes())
    two, five = (m.layers[-1].shims[0]._model.memory for m in (trained, more))
    for name in ("initial_keys", "initial_values"):
        first, *_ = (content := getattr(five, name)).split(2)
        torch.testing.assert_close(first, getattr(two, name))
        torch.testing.assert_close(content, first.repeat(3, 1)[:5])


def test_vectors_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"R001.*width 7.*width 3.*width = 7"):
        make_model().initialize(X=[np.ones((2, 7), dtype=np.float32)])


def test_initializing_draws_fresh_weights():
    vectors = [np.ones((4, WIDTH), dtype=np.float32)]
    model = make_model()
    before = model.predict(vectors)[0].salience
    model.initialize(X=vectors)
    assert not np.allclose(model.predict(vectors)[0].salience, before)
