"""Reading in NumPy: the torch reader is the oracle."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refreader_spacy.paper.links import link_probabilities
from refreader_spacy.paper.network import PaperNetwork
from refreader_spacy.paper.numpy_reader import read_tokens
from refreader_spacy.paper.paper_reader import read_side_by_side
from refreader_spacy.paper.weights import FAINT, NumpyWeights, distinct_rows

WIDTH, HIDDEN = 5, 6
NUMBERS = st.floats(-3, 3, width=32)
GATES = ("update", "overwrite", "salience")


def make_reader(tolerance=0.0, scale=1.0):
    torch.manual_seed(0)
    reader = PaperNetwork(
        width=WIDTH,
        hidden_size=HIDDEN,
        key_size=4,
        n_cells=3,
        entity_half_life=4,
        word_half_life=30,
        memory_bias=0,
        dropout=0.5,
        tolerance=tolerance,
    ).eval()
    for weight in reader.parameters():
        weight.data *= scale
    return reader


def weights_of(reader, tolerance=None):
    return NumpyWeights(
        {name: weight.numpy() for name, weight in reader.state_dict().items()},
        entity_decay=reader.memory.entity_decay,
        word_decay=reader.memory.word_decay,
        tolerance=reader.memory.tolerance if tolerance is None else tolerance,
    )


@torch.no_grad()
def read_by_torch(reader, vectors):
    packed = reader(torch.from_numpy(vectors), batch_sizes=[1] * len(vectors))
    return [getattr(packed, gate).numpy() for gate in GATES]


def read(weights, vectors):
    return read_tokens(weights, weights.start(), vectors)


def gates_of(reading):
    return [getattr(reading, gate) for gate in GATES]


@st.composite
def texts(draw, at_most=20):
    n_docs = draw(st.integers(1, at_most))
    lengths = [draw(st.integers(0, 8)) for _ in range(n_docs)]
    return [draw(arrays(np.float32, (n, WIDTH), elements=NUMBERS)) for n in lengths]


ANY_TEXTS = settings(max_examples=50)
# No tolerance that a gate can hit exactly, as 0.5 = sigmoid(0): rounding would decide
READERS = st.sampled_from(
    [make_reader(t, s) for t in (0.0, 0.1, 0.4) for s in (1.0, 3.0)]
)


@ANY_TEXTS
@given(READERS, texts())
def test_documents_read_as_in_torch(reader, docs):
    weights = weights_of(reader)
    for vectors in docs:
        if len(vectors):
            expected = read_by_torch(reader, vectors)
            found = gates_of(read(weights, vectors))
            np.testing.assert_allclose(found, expected, atol=1e-4)


@ANY_TEXTS
@given(READERS, texts())
def test_documents_side_by_side_read_as_each_alone(reader, docs):
    """Their gates, and what is known after the last token."""
    weights = weights_of(reader)
    alone = [weights.start() for _ in docs]
    together = [weights.start() for _ in docs]
    found = read_side_by_side(reader, together, docs)
    for i, vectors in enumerate(docs):
        expected = read_tokens(weights, alone[i], vectors)
        np.testing.assert_allclose(gates_of(found[i]), gates_of(expected), atol=1e-4)
        for field, wanted in zip(together[i], alone[i], strict=True):
            np.testing.assert_allclose(field, wanted, atol=1e-4)


@ANY_TEXTS
@given(READERS, texts(at_most=1), st.data())
def test_reading_goes_on_where_it_stopped(reader, docs, data):
    (vectors,) = docs
    cut = data.draw(st.integers(0, len(vectors)))
    weights = weights_of(reader)
    state = weights.start()
    parts = [read_tokens(weights, state, v) for v in (vectors[:cut], vectors[cut:])]
    found = [np.concatenate(g) for g in zip(*map(gates_of, parts), strict=True)]
    whole = gates_of(read(weights, vectors))
    np.testing.assert_allclose(found, whole, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_skipping_faint_gates_changes_no_link_by_more_than_1e_4(seed):
    """Weights with which many tokens write and many hardly do."""
    reader = make_reader()
    vectors = np.random.default_rng(seed).normal(size=(80, WIDTH)).astype(np.float32)
    reader.memory.entity.weight.data *= 200
    found = read(weights_of(reader), vectors)
    expected = read_by_torch(reader, vectors)
    written = (found.update + found.overwrite).sum(axis=1)
    assert (written < FAINT).any()
    assert (written > 0.1).any()
    psi = [
        link_probabilities(torch.tensor(u)[None], torch.tensor(o)[None])
        for u, o in (gates_of(found)[:2], expected[:2])
    ]
    torch.testing.assert_close(*psi, atol=1e-4, rtol=0)


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_saturated_gates_are_never_nan(scale):
    reader = make_reader(scale=scale)
    vectors = np.random.default_rng(0).normal(size=(20, WIDTH)).astype(np.float32)
    assert np.isfinite(gates_of(read(weights_of(reader), vectors))).all()


@given(arrays(np.float32, (6, 3), elements=st.sampled_from([0, 1, -1, 2.5])))
def test_a_row_that_comes_again_is_found_again(vectors):
    first, which = distinct_rows(vectors)
    np.testing.assert_array_equal(vectors[first[which]], vectors)
    assert len(first) == len(np.unique(vectors, axis=0))


def test_projecting_numbers_warns_of_nothing():
    """OpenBLAS 0.3.31 warned of invalid values here, and gave the right ones."""
    vectors = np.full((4, WIDTH), 1.538313, np.float32)
    projected, which = weights_of(make_reader()).project(vectors)
    assert np.isfinite(projected).all()
    assert which.tolist() == [0, 0, 0, 0]
