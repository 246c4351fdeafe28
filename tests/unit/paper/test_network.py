"""The reader against the paper's section 2, and its gradient against autograd."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from refreader_spacy.paper.network import NetworkState, PaperNetwork

WIDTH, HIDDEN, KEY, CELLS = 2, 3, 2, 2
SIZES = [3, 3, 2, 1]  # documents of 4, 3 and 2 tokens, packed
DOCS = [[0, 3, 6, 8], [1, 4, 7], [2, 5]]  # the same, as places in the pack


def make_reader(memory_bias=-1.0, dropout=0.3):
    torch.manual_seed(0)
    return PaperNetwork(
        width=WIDTH,
        hidden_size=HIDDEN,
        key_size=KEY,
        n_cells=CELLS,
        entity_half_life=4.0,
        word_half_life=30.0,
        memory_bias=memory_bias,
        dropout=dropout,
    ).double()


N_WEIGHTS = len(parameters_to_vector(make_reader().parameters()))


def numbers(*shape, limit=2):
    return arrays(np.float64, shape, elements=st.floats(-limit, limit))


@st.composite
def readers(draw):
    """Readers whose weights are drawn, around random ones that no gate ties at."""
    reader = make_reader()
    weights = parameters_to_vector(reader.parameters())
    change = torch.from_numpy(draw(numbers(N_WEIGHTS)))
    vector_to_parameters((weights + change).detach(), reader.parameters())
    return reader


TOKENS = numbers(sum(SIZES), WIDTH).map(torch.from_numpy)


def start_of(reader):
    """A state in mid-text, so that its gradient has somewhere to go."""
    torch.manual_seed(1)
    return NetworkState(
        torch.randn(3, HIDDEN).double(),
        torch.randn(3, CELLS, KEY).double(),
        torch.randn(3, CELLS, HIDDEN).double(),
        torch.rand(3, CELLS).double(),
    )


def some(state, documents):
    return NetworkState(*(field[documents] for field in state))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def gru_by_hand(cell, x, h):
    inputs = (cell.weight_ih @ x + cell.bias_ih).chunk(3)
    recurrent = (cell.weight_hh @ h + cell.bias_hh).chunk(3)
    reset = torch.sigmoid(inputs[0] + recurrent[0])
    keep = torch.sigmoid(inputs[1] + recurrent[1])
    return (1 - keep) * torch.tanh(inputs[2] + reset * recurrent[2]) + keep * h


def read_by_hand(reader, tokens, noise=None, temperature=1.0):
    """One document, token by token; the memory has a test of its own."""
    hidden, cells = reader.initial_hidden, reader.memory.empty(1)
    steps = []
    for t, x in enumerate(tokens):
        recalled = hidden if noise is None else hidden * noise.drop_hidden[t]
        pre = torch.tanh(reader.pre_hidden.weight @ recalled + reader.pre_input(x))
        pre = pre if noise is None else pre * noise.drop_pre[t]
        said = reader.memory.signals(
            [head(pre[None]) for head in reader.memory.heads()]
        )
        choice = None if noise is None else noise.choice[t][None]
        gates, cells = reader.memory(said, cells, choice, temperature)
        salience = cells.salience[0]
        summary = sum(salience[i] * cells.values[0, i] for i in range(CELLS))
        amount = min(sigmoid(reader.importance(pre)), float(salience.sum()))
        mixed = (1 - amount) * hidden + amount * summary
        hidden = gru_by_hand(reader.recurrence, x, mixed)
        steps.append((gates.update[0], gates.overwrite[0], salience, hidden))
    return [torch.stack(column) for column in zip(*steps, strict=True)], cells


@settings(max_examples=25)
@given(readers(), TOKENS, st.booleans())
@torch.no_grad()
def test_reading_is_what_the_paper_says_for_each_document(reader, tokens, train):
    noise = reader.noise(tokens) if train else None
    packed = reader.read(tokens, SIZES, reader.start(3), noise, 0.7)
    for number, places in enumerate(DOCS):
        drawn = noise and type(noise)(*(field[places] for field in noise))
        columns, cells = read_by_hand(reader, tokens[places], drawn, 0.7)
        for found, wanted in zip(packed[:4], columns, strict=True):
            torch.testing.assert_close(found[places], wanted)
        last = NetworkState(columns[-1][-1:], *cells)
        torch.testing.assert_close(some(packed.state, slice(number, number + 1)), last)


def gradients_of(read, reader, tokens, start, noise, temperature, wanted):
    """Values, and the gradients of tokens, weights and the state at the start."""
    tokens = tokens.clone().requires_grad_()
    begin = [field.clone().requires_grad_() for field in start]
    packed = read(tokens, SIZES, NetworkState(*begin), noise, temperature)
    outputs = [*packed[:4], *packed.state]
    loss = sum((x * w).sum() for x, w in zip(outputs, wanted, strict=True))
    names, weights = zip(*reader.named_parameters(), strict=True)
    elsewhere = {"initial_hidden", "memory.initial_keys", "memory.initial_values"}
    found = torch.autograd.grad(loss, [tokens, *begin, *weights], allow_unused=True)
    labels = ["tokens", "hidden", "keys", "values", "salience", *names]
    return outputs, {
        label: gradient
        for label, gradient in zip(labels, found, strict=True)
        if label not in elsewhere
    }


@pytest.mark.parametrize("tolerance", [0.0, 0.2])
@settings(max_examples=20)
@given(readers(), TOKENS, st.data(), st.floats(0.2, 2))
def test_the_written_gradient_is_autograds(
    tolerance, reader, tokens, data, temperature
):
    reader.memory.tolerance = tolerance
    noise, start = reader.noise(tokens), start_of(reader)
    n = len(tokens)
    shapes = [(n, CELLS)] * 3 + [(n, HIDDEN)] + [field.shape for field in start]
    wanted = [torch.from_numpy(data.draw(numbers(*shape))) for shape in shapes]
    case = (reader, tokens, start, noise, temperature, wanted)
    values, gradients = gradients_of(reader.read, *case)
    learned_values, learned = gradients_of(reader.read_to_learn, *case)
    torch.testing.assert_close(learned_values, values)
    torch.testing.assert_close(learned, gradients, atol=1e-8, rtol=1e-6)


def test_what_is_learned_at_the_start_gets_a_gradient():
    reader, tokens = make_reader(), torch.randn(sum(SIZES), WIDTH).double()
    packed = reader(tokens, batch_sizes=SIZES)
    sum(field.square().sum() for field in (*packed[:4], *packed.state)).backward()
    for name, weight in reader.named_parameters():
        assert weight.grad.abs().sum() > 0, name


@settings(max_examples=25)
@given(readers(), TOKENS)
@torch.no_grad()
def test_two_halves_read_like_the_whole(reader, tokens):
    reader.eval()
    whole = reader(tokens, batch_sizes=SIZES)
    first = reader(tokens[:6], batch_sizes=SIZES[:2])
    rest = reader(
        tokens[6:], batch_sizes=SIZES[2:], state=some(first.state, slice(0, 2))
    )
    for field, halves in zip(whole[:4], zip(first, rest, strict=True), strict=False):
        torch.testing.assert_close(torch.cat(halves), field)
    torch.testing.assert_close(some(whole.state, slice(0, 2)), rest.state)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_saturated_gates_are_never_nan(train, scale):
    """Gates that are exactly 0 and 1, in single precision, forward and back."""
    torch.manual_seed(0)
    reader = make_reader(dropout=0.0).float().train(train)
    with torch.no_grad():
        for weight in reader.parameters():
            weight.mul_(scale)
        reader.memory.entity.weight.abs_()
    tokens = (scale * torch.randn(60, WIDTH)).requires_grad_()
    packed = reader(tokens, batch_sizes=[2] * 30, temperature=1e-3)
    assert (packed.overwrite == 1).any()
    assert (packed.overwrite == 0).any()
    outputs = (*packed[:4], *packed.state)
    sum(field.sum() for field in outputs).backward()
    weights = (weight.grad for weight in reader.parameters())
    for tensor in (*outputs, tokens.grad, *weights):
        assert tensor.isfinite().all()


def test_nothing_to_read_gives_nothing():
    packed = make_reader()(torch.zeros(0, WIDTH).double(), batch_sizes=[])
    assert [len(field) for field in packed[:4]] == [0, 0, 0, 0]


def test_the_memory_bias_is_where_its_gate_starts():
    assert make_reader(memory_bias=-2.0).importance.bias.item() == -2
