import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refreader_spacy.reader.loss import (
    BURN_IN,
    WINDOW,
    link_loss,
    running_means,
    windows_of,
)

floats = st.floats(-5, 5, width=32)


@given(st.data(), st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_a_links_loss_is_the_cross_entropy_of_one_choice(data, n_cells):
    n_pairs = sum(n_cells)
    scores = data.draw(arrays(np.float32, n_pairs, elements=floats))
    new = data.draw(arrays(np.float32, len(n_cells), elements=floats))
    mention = np.repeat(np.arange(len(n_cells)), n_cells)
    target = np.zeros(n_pairs, np.float32)
    expected = []
    first = 0
    for i, n in enumerate(n_cells):
        choices = torch.tensor([*scores[first : first + n], new[i]])
        right = data.draw(st.integers(0, n))
        if right < n:
            target[first + right] = 1
        expected.append(-choices.log_softmax(dim=0)[right].item())
        first += n
    found = link_loss(*map(torch.from_numpy, (scores, new, mention, target)))
    np.testing.assert_allclose(found.item(), np.mean(expected), rtol=1e-4, atol=1e-5)


def test_a_doubtful_target_divides_the_loss():
    scores, new = torch.tensor([1.0]), torch.tensor([0.0])
    mention = torch.tensor([0])
    losses = [
        link_loss(scores, new, mention, torch.tensor([t])).item()
        for t in (0.0, 0.5, 1.0)
    ]
    np.testing.assert_allclose(losses[1], (losses[0] + losses[2]) / 2, rtol=1e-6)


@given(st.lists(st.integers(0, 3), max_size=12))
def test_running_means_are_of_one_cell_up_to_each_mention(instance):
    vectors = torch.arange(len(instance) * 2, dtype=torch.float32).reshape(-1, 2)
    means = running_means(vectors, torch.tensor(instance, dtype=torch.long))
    for i, mine in enumerate(instance):
        same = [j for j in range(i + 1) if instance[j] == mine]
        np.testing.assert_allclose(means[i], vectors[same].mean(dim=0), rtol=1e-5)


@given(st.lists(st.integers(0, 3 * WINDOW), max_size=4))
def test_windows_read_every_token_once_after_some_that_came_before(lengths):
    windows, valid = windows_of(lengths)
    assert windows[valid].tolist() == list(range(sum(lengths)))
    starts = {0, *np.cumsum(lengths).tolist()}
    for window, counts in zip(windows.tolist(), valid.tolist(), strict=True):
        first = counts.index(True)
        assert first == (0 if window[first] in starts and first == 0 else BURN_IN)
