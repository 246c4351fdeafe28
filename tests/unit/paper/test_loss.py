import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refreader_spacy.paper.gold import GoldLinks
from refreader_spacy.paper.loss import EPS, coreference_loss
from refreader_spacy.protocol import Reading


@st.composite
def documents(draw, lowest=0.0, highest=1.0):
    """A reading of a few tokens, and what its links should have been."""
    n_tokens = draw(st.integers(0, 4))
    floats = st.floats(lowest, highest, width=32)
    gates = draw(arrays(np.float32, (2, n_tokens, 2), elements=floats)) / 4
    shape = (n_tokens, n_tokens)
    target = draw(arrays(np.float32, shape, elements=st.sampled_from([0, 1])))
    weight = draw(arrays(np.float32, shape, elements=st.sampled_from([0, 0.5, 1, 5])))
    reading = Reading(*gates, np.zeros_like(gates[0]))
    return reading, GoldLinks(target=target, weight=weight)


def loss_by_hand(gates, golds):
    """The weighted cross-entropy of the paper's psi, pair by pair."""
    total = torch.zeros(1, dtype=torch.float64)
    for (update, overwrite), gold in zip(gates, golds, strict=True):
        for i in range(len(update)):
            for j in range(i + 1, len(update)):
                kept = (1 - overwrite[i + 1 : j + 1]).prod(dim=0)
                link = ((update[i] + overwrite[i]) * update[j] * kept).sum()
                link = link.clamp(EPS, 1 - EPS)
                right = link if gold.target[i, j] else 1 - link
                total = total - float(gold.weight[i, j]) * right.log()
    return total / len(gates)


def exact(reading):
    return [
        torch.from_numpy(np.float64(gate)).requires_grad_()
        for gate in (reading.update, reading.overwrite)
    ]


@settings(max_examples=60)
@given(st.lists(documents(), min_size=1, max_size=3))
def test_the_loss_is_its_definition(batch):
    readings, golds = zip(*batch, strict=True)
    loss, _ = coreference_loss(readings, golds)
    expected = loss_by_hand([exact(reading) for reading in readings], golds)
    assert loss == pytest.approx(expected.item(), rel=1e-4, abs=1e-4)


@settings(max_examples=30)
@given(st.lists(documents(lowest=0.125, highest=0.875), min_size=1, max_size=3))
def test_the_gradient_is_that_of_the_definition(batch):
    readings, golds = zip(*batch, strict=True)
    _, d_readings = coreference_loss(readings, golds)
    gates = [exact(reading) for reading in readings]
    loss = loss_by_hand(gates, golds)
    if loss.requires_grad:
        loss.backward()
    for d_reading, (update, overwrite) in zip(d_readings, gates, strict=True):
        for found, gate in [
            (d_reading.update, update),
            (d_reading.overwrite, overwrite),
        ]:
            wanted = torch.zeros_like(gate) if gate.grad is None else gate.grad
            np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)
        assert not d_reading.salience.any()


@settings(max_examples=30)
@given(st.lists(documents(), min_size=1, max_size=3))
def test_a_document_teaches_the_same_in_any_batch(batch):
    readings, golds = zip(*batch, strict=True)
    loss, d_readings = coreference_loss(readings, golds)
    alone = [coreference_loss([reading], [gold]) for reading, gold in batch]
    n_docs = len(batch)
    assert loss * n_docs == pytest.approx(sum(part for part, _ in alone), rel=1e-4)
    for d_reading, (_, (d_alone,)) in zip(d_readings, alone, strict=True):
        np.testing.assert_allclose(
            n_docs * d_reading.update, d_alone.update, rtol=1e-3, atol=1e-3
        )


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize(("update", "overwrite"), [(0, 0), (1, 0), (0, 1)])
def test_saturated_gates_are_never_nan(update, overwrite, target):
    shape = (30, 1)
    reading = Reading(
        np.full(shape, update, dtype=np.float32),
        np.full(shape, overwrite, dtype=np.float32),
        np.zeros(shape, dtype=np.float32),
    )
    square = np.ones((30, 30), dtype=np.float32)
    loss, (d_reading,) = coreference_loss(
        [reading], [GoldLinks(target * square, square)]
    )
    assert np.isfinite(loss)
    assert np.isfinite(d_reading.update).all()
    assert np.isfinite(d_reading.overwrite).all()
