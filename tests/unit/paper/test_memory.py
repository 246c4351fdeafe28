import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from refreader_spacy.paper.memory import Cells, Memory, gru

HIDDEN, KEY, CELLS = 3, 2, 3
NUMBERS = st.floats(-4, 4)


def make_memory():
    torch.manual_seed(0)
    return Memory(
        n_cells=CELLS,
        hidden_size=HIDDEN,
        key_size=KEY,
        entity_half_life=4.0,
        word_half_life=30.0,
    ).double()


N_WEIGHTS = len(parameters_to_vector(make_memory().parameters()))


@st.composite
def memories(draw):
    memory = make_memory()
    weights = draw(arrays(np.float64, N_WEIGHTS, elements=NUMBERS))
    vector_to_parameters(torch.from_numpy(weights), memory.parameters())
    return memory.requires_grad_(False)


@st.composite
def contents(draw):
    """What three documents' cells hold."""
    salience = arrays(np.float64, (3, CELLS), elements=st.floats(0, 1))
    return Cells(
        torch.from_numpy(draw(arrays(np.float64, (3, CELLS, KEY), elements=NUMBERS))),
        torch.from_numpy(
            draw(arrays(np.float64, (3, CELLS, HIDDEN), elements=NUMBERS))
        ),
        torch.from_numpy(draw(salience)),
    )


STATES = arrays(np.float64, (3, HIDDEN), elements=st.floats(-1, 1))
CHOICES = st.none() | arrays(np.float64, (3, CELLS), elements=st.floats(-3, 8))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(scores):
    exponents = np.exp(np.array(scores) - max(scores))
    return exponents / exponents.sum()


def linear(layer, x):
    bias = 0 if layer.bias is None else layer.bias.numpy()
    return layer.weight.numpy() @ x + bias


def gru_by_hand(cell, x, h):
    inputs = cell.weight_ih.numpy() @ x + cell.bias_ih.numpy()
    recurrent = cell.weight_hh.numpy() @ h + cell.bias_hh.numpy()
    x_reset, x_keep, x_new = np.split(inputs, 3)
    h_reset, h_keep, h_new = np.split(recurrent, 3)
    keep = sigmoid(x_keep + h_keep)
    return (1 - keep) * np.tanh(x_new + sigmoid(x_reset + h_reset) * h_new) + keep * h


def step_by_hand(memory, pre, keys, values, salience, choice=None, temperature=1.0):
    """Section 2.2 of the paper, for one document, cell by cell."""
    cells = range(len(salience))
    entity = float(sigmoid(linear(memory.entity, pre))[0])
    reference = float(sigmoid(linear(memory.reference, pre))[0]) * entity
    query = linear(memory.query_out, np.tanh(linear(memory.query_in, pre)))
    inner = np.tanh(linear(memory.key_in, pre))
    key = inner + np.tanh(linear(memory.key_out, inner))
    value = np.tanh(linear(memory.value, pre))

    scores = [keys[i] @ query + float(memory.link_bias) for i in cells]
    match = softmax([*scores, 0.0])  # the last place is for no link at all
    update = [min(reference * match[i], 2 * salience[i]) for i in cells]
    rest = entity - sum(update)
    if choice is None:
        lowest = min(cells, key=lambda i: salience[i])
        place = [float(i == lowest) for i in cells]
    else:
        place = softmax([(choice[i] - salience[i]) / temperature for i in cells])
    overwrite = [rest * place[i] for i in cells]

    decay = entity * 0.5 ** (1 / 4) + (1 - entity) * 0.5 ** (1 / 30)
    new_keys, new_values, new_salience = [], [], []
    for i in cells:
        keep = 1 - update[i] - overwrite[i]
        updated_key = gru_by_hand(memory.key_update, key, keys[i])
        updated_value = gru_by_hand(memory.value_update, value, values[i])
        new_salience.append(decay * keep * salience[i] + update[i] + overwrite[i])
        new_keys.append(update[i] * updated_key + overwrite[i] * key + keep * keys[i])
        new_values.append(
            update[i] * updated_value + overwrite[i] * value + keep * values[i]
        )
    return update, overwrite, new_keys, new_values, new_salience


def step(memory, pre, cells, choice=None, temperature=1.0):
    said = memory.signals([head(pre) for head in memory.heads()])
    return memory(said, cells, choice, temperature)


@settings(max_examples=40)
@given(memories(), STATES, contents(), CHOICES, st.floats(0.1, 2))
def test_a_step_is_what_the_paper_says(memory, pre, cells, choice, temperature):
    drawn = None if choice is None else torch.from_numpy(choice)
    gates, after = step(memory, torch.from_numpy(pre), cells, drawn, temperature)
    for doc in range(3):
        expected = step_by_hand(
            memory,
            pre[doc],
            *(field[doc].numpy() for field in cells),
            None if choice is None else choice[doc],
            temperature,
        )
        for found, wanted in zip((*gates, *after), expected, strict=True):
            np.testing.assert_allclose(found[doc], np.array(wanted), atol=1e-9)


@settings(max_examples=40)
@given(memories(), STATES, contents(), CHOICES, st.floats(0.1, 2))
def test_gates_are_shares_of_one_token(memory, pre, cells, choice, temperature):
    drawn = None if choice is None else torch.from_numpy(choice)
    gates, after = step(memory, torch.from_numpy(pre), cells, drawn, temperature)
    assert all((gate >= -1e-12).all() for gate in gates)
    assert ((gates.update + gates.overwrite).sum(dim=-1) <= 1 + 1e-12).all()
    assert (after.salience >= -1e-12).all()
    assert (after.salience <= 1 + 1e-12).all()
    assert (after.salience <= 3 * cells.salience + gates.overwrite + 1e-12).all()


@settings(max_examples=40)
@given(memories(), STATES)
def test_an_empty_memory_can_only_be_overwritten(memory, pre):
    gates, _ = step(memory, torch.from_numpy(pre), memory.empty(3))
    assert (gates.update == 0).all()
    assert (gates.overwrite[:, 0] > 0).all()  # of equals, the first
    assert (gates.overwrite[:, 1:] == 0).all()


def test_a_cold_choice_takes_the_least_salient_cell():
    memory, pre = make_memory(), torch.ones(1, HIDDEN).double()
    salience = torch.tensor([[0.5, 0.2, 0.9]]).double()
    cells = memory.empty(1)._replace(salience=salience)
    still = torch.zeros_like(salience)
    cold, _ = step(memory, pre, cells, still, temperature=1e-3)
    exact, _ = step(memory, pre, cells)
    torch.testing.assert_close(cold.overwrite, exact.overwrite)
    assert exact.overwrite.argmax() == 1


def test_salience_halves_in_its_half_life():
    memory = make_memory()
    assert memory.entity_decay**4 == pytest.approx(0.5)
    assert memory.word_decay**30 == pytest.approx(0.5)


def test_the_recurrent_unit_is_torchs():
    torch.manual_seed(0)
    cell = torch.nn.GRUCell(4, 5)
    x, h = torch.randn(2, 4), torch.randn(2, 5)
    inputs = torch.nn.functional.linear(x, cell.weight_ih, cell.bias_ih)
    recurrent = torch.nn.functional.linear(h, cell.weight_hh, cell.bias_hh)
    torch.testing.assert_close(gru(inputs, recurrent, h), cell(x, h))


@given(memories(), contents(), STATES, CHOICES, st.floats(0.05, 0.5))
def test_a_gate_below_the_tolerance_leaves_key_and_value_alone(
    memory, cells, states, choice, tolerance
):
    said = memory.signals([head(torch.from_numpy(states)) for head in memory.heads()])
    noise = None if choice is None else torch.from_numpy(choice)
    gates, plain = memory(said, cells, noise, 1.0)
    memory.tolerance = tolerance
    same_gates, after = memory(said, cells, noise, 1.0)
    torch.testing.assert_close((*same_gates, after.salience), (*gates, plain.salience))
    closed = (gates.update < tolerance) & (gates.overwrite < tolerance)
    wide = (gates.update >= tolerance) & (gates.overwrite >= tolerance)
    for now, before, exact in zip(after[:2], cells[:2], plain[:2], strict=True):
        torch.testing.assert_close(now[closed], before[closed])
        torch.testing.assert_close(now[wide], exact[wide])
