"""Reading in NumPy against the torch network: the same weights, the same numbers."""

import numpy as np
import pytest
import spacy
import torch

from refreader_spacy.reader.inference import read_parts, scheme_probabilities
from refreader_spacy.reader.loss import windows_of
from refreader_spacy.reader.mentions import Field, describe_mentions
from refreader_spacy.reader.network import EntityNetwork
from refreader_spacy.reader.tokens import TextState, token_rows
from refreader_spacy.reader.weights import ReaderWeights

NLP = spacy.blank("en")
TEXT = "Ann Lee told Bo's old mother that she liked the red car. It was fast. "


@pytest.fixture
def network():
    torch.manual_seed(1)
    return EntityNetwork(width=6, token_size=12, hidden_size=16, mention_size=8).eval()


def weights_of(network, n_cells=8):
    return ReaderWeights(
        {k: v.numpy() for k, v in network.state_dict().items()}, n_cells
    )


@torch.no_grad()
def test_numpy_reads_as_torch_learns(network):
    rows = token_rows(NLP.make_doc(TEXT * 2), TextState()).rows
    vectors = (
        np.random.default_rng(0).standard_normal((len(rows), 6)).astype(np.float32)
    )
    weights = weights_of(network)
    (part,) = read_parts(
        weights, [weights.start()], [rows], [vectors], links=True, last=True
    )
    assert len(part.head) > 5
    inputs = network.token_inputs(
        torch.from_numpy(vectors), torch.from_numpy(rows).long()
    )
    encoded = network.encode(inputs, *windows_of([len(rows)]))
    both = network.both(encoded)
    schemes, types = network.detect(both)
    head = torch.from_numpy(part.head)
    expected = scheme_probabilities(schemes[head].numpy())
    np.testing.assert_allclose(part.schemes, expected, atol=1e-5)
    assert part.types.tolist() == types[head].argmax(dim=1).tolist()
    left = network.left_edges(both, head, head).argmax(dim=1)
    assert part.start.tolist() == (head - left).tolist()
    table = describe_mentions(rows, part.head, part.start)
    kinds = torch.from_numpy(table.fields[:, Field.KIND]).long()
    vector, remembered = network.mention_vectors(
        encoded,
        head,
        torch.from_numpy(part.start),
        kinds,
        types[head].softmax(dim=1),
        head < len(rows) - 1,
    )
    assert not torch.equal(vector, remembered)
    # The second mention meets one cell: that of the first
    choices = part.choices
    new = network.new_scores(vector)
    from refreader_spacy.reader.cells import Cells
    from refreader_spacy.reader.features import pair_features

    cells = Cells.empty(8)
    cells.write(0, table, 0, 0, True)
    features = torch.from_numpy(pair_features(table, 1, cells, np.array([0]))).long()
    pair = torch.tensor([1]), torch.tensor([0])
    score = network.link_scores(vector, remembered, remembered, kinds, *pair, features)
    expected = torch.stack([score[0], new[1]]).softmax(dim=0)[0]
    np.testing.assert_allclose(choices.links[1, 0], expected, atol=1e-5)
    ends = dict(zip(part.closed.tolist(), part.ends.tolist(), strict=True))
    for number, first in enumerate(part.head.tolist()):
        last = ends[number]
        if last + 1 < len(rows):
            later = torch.arange(first + 1, last + 2)
            logits = network.right_ends(both, torch.full_like(later, first), later)
            assert (logits[:-1] <= 0).all()
            assert logits[-1] > 0 or last - first >= 39


def test_no_tokens_are_no_mentions(network):
    weights = weights_of(network)
    none = np.zeros((0, 6), np.float32)
    rows = token_rows(NLP.make_doc(""), TextState()).rows
    (part,) = read_parts(weights, [weights.start()], [rows], [none], last=True)
    assert len(part.head) == len(part.closed) == 0


@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_is_remembered_of_a_mention_waits_for_the_next_token(network, size):
    weights = weights_of(network)
    rows = token_rows(NLP.make_doc(TEXT * 2), TextState()).rows
    random = np.random.default_rng(0)
    vectors = random.standard_normal((len(rows), 6)).astype(np.float32)
    (whole,) = read_parts(weights, [weights.start()], [rows], [vectors], links=True)
    state, links = weights.start(), []
    n_waiting = 0
    for first in range(0, len(rows), size):
        some = slice(first, first + size)
        (part,) = read_parts(
            weights, [state], [rows[some]], [vectors[some]], links=True
        )
        links.append(part.choices.links)
        n_waiting += len(state.pending_cell)
        none = rows[:0], vectors[:0]
        read_parts(weights, [state], [none[0]], [none[1]])  # nothing has come
    assert n_waiting > 1
    np.testing.assert_allclose(np.concatenate(links), whole.choices.links, atol=1e-5)
