import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refreader_spacy.paper.links import link_probabilities
from refreader_spacy.protocol import Reading

# Overwrites (T, M), and the part of the rest that updates, 0 and 1 included.
SHAPES = st.tuples(st.just(2), st.integers(0, 6), st.integers(1, 3))
SHARES = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)
GATES = SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=SHARES))


def gates_of(drawn):
    overwrite, share = torch.from_numpy(drawn)
    return share * (1 - overwrite), overwrite


def links_by_hand(update, overwrite):
    """Section 2.3 of the paper, pair by pair."""
    n_tokens, n_cells = update.shape
    links = torch.zeros(n_tokens, n_tokens, dtype=update.dtype)
    for i in range(n_tokens):
        for j in range(i + 1, n_tokens):
            for m in range(n_cells):
                retention = 1.0
                for t in range(i + 1, j + 1):
                    retention *= 1 - overwrite[t, m]
                stored = update[i, m] + overwrite[i, m]
                links[i, j] += stored * update[j, m] * retention
    return links


@settings(max_examples=60)
@given(GATES)
def test_links_match_their_definition(drawn):
    update, overwrite = gates_of(drawn)
    links = link_probabilities(update[None], overwrite[None])[0]
    # An overwrite of exactly 1 is taken as a hair less.
    torch.testing.assert_close(
        links, links_by_hand(update, overwrite), atol=1e-5, rtol=0
    )


@settings(max_examples=60)
@given(GATES)
def test_one_pair_of_a_reading_matches_the_definition(drawn):
    update, overwrite = gates_of(drawn)
    links = links_by_hand(update, overwrite).numpy()
    reading = Reading(*(np.float32(gate) for gate in (update, overwrite, update)))
    for i in range(len(reading)):
        assert reading.link_probability(i, i) == 0
        for j in range(i + 1, len(reading)):
            found = reading.link_probability(i, j)
            assert found == pytest.approx(links[i, j], abs=1e-5)
            assert reading.link_probability(j, i) == found


@settings(max_examples=10)
@given(arrays(np.float64, (2, 4, 2), elements=st.floats(0.05, 0.95)))
def test_the_gradient_is_that_of_small_differences(drawn):
    update, overwrite = (gate.requires_grad_() for gate in torch.from_numpy(drawn) / 2)
    assert torch.autograd.gradcheck(link_probabilities, (update[None], overwrite[None]))


@settings(max_examples=30)
@given(st.integers(1, 4), st.data())
def test_a_document_links_alike_in_any_batch(n_tokens, data):
    shape = (2, 2, n_tokens, 2)
    drawn = data.draw(arrays(np.float64, shape, elements=st.floats(0, 0.5)))
    update, overwrite = torch.from_numpy(drawn)
    padding = (0, 0, 0, 3)  # three tokens whose gates are shut
    together = link_probabilities(
        torch.nn.functional.pad(update, padding),
        torch.nn.functional.pad(overwrite, padding),
    )
    for doc in range(2):
        alone = link_probabilities(update[doc][None], overwrite[doc][None])[0]
        torch.testing.assert_close(together[doc, :n_tokens, :n_tokens], alone)
    assert (together[:, n_tokens:] == 0).all()
    assert (together[:, :, n_tokens:] == 0).all()


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_long_texts_are_never_nan(value):
    """The exponents of four hundred shut cells are far outside a float's range."""
    update = torch.full((1, 400, 2), (1 - value) / 2).requires_grad_()
    overwrite = torch.full((1, 400, 2), value).requires_grad_()
    links = link_probabilities(update, overwrite)
    links.sum().backward()
    assert ((links >= 0) & (links <= 1)).all()
    assert update.grad.isfinite().all()
    assert overwrite.grad.isfinite().all()
