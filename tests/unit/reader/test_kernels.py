"""The compiled loops do what their NumPy definitions do."""

import copy
import importlib
import shutil
import subprocess
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refreader_spacy.reader import kernels, memory
from refreader_spacy.reader.cells import N_CELL_FIELDS, Extra, WordSet
from refreader_spacy.reader.features import FEATURES, Feature, MentionSet, Op
from refreader_spacy.reader.memory import MemoryState, MemoryWeights
from refreader_spacy.reader.mentions import (
    LONGEST,
    N_CASES,
    N_FIELDS,
    N_KINDS,
    N_WORDS,
    Field,
    MentionTable,
)
from refreader_spacy.reader.recurrence import recur_reference

entity = pytest.importorskip("refreader_spacy.reader.kernels.entity")

# What fields are at most; all others are hashes, of few words so that they meet
HIGHEST = {
    Field.KIND: N_KINDS - 1,
    Field.GENDER: 3,
    Field.GIVEN: 3,
    Field.CASE: N_CASES - 1,
    Field.NUMBER: 2,
    Field.PLACE: 2,
    Field.LENGTH: LONGEST,
    Field.SURE: 1,
}
N_VALUES = sum(row.size for row in memory.FEATURES)
relaxed = settings(max_examples=80)


@st.composite
def tables(draw, size):
    highest = np.array([HIGHEST.get(field, 4) for field in Field])
    drawn = draw(arrays(np.int32, (size, N_FIELDS), elements=st.integers(0, 10_000)))
    fields = (drawn % (highest + 1)).astype(np.int32)
    steps = draw(st.lists(st.integers(0, 30), min_size=size, max_size=size))
    fields[:, Field.POSITION] = list(accumulate(steps))
    fields[:, Field.SENTENCE] = fields[:, Field.POSITION] // 10
    words = arrays(np.int32, (size, N_WORDS), elements=st.integers(0, 5))
    return MentionTable(fields, draw(words), draw(words))


@st.composite
def feature_tables(draw):
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        op = draw(st.sampled_from(Op))
        field = draw(st.sampled_from([Field.WORD, Field.STEM, Field.POSITION]))
        small = draw(st.sampled_from([Field.KIND, Field.GENDER, Field.PLACE]))
        word_set = draw(st.sampled_from(WordSet))
        bounds = tuple(sorted(draw(st.sets(st.integers(-2, 50), max_size=5))))
        if op in (Op.DISTANCE, Op.BUCKET, Op.RANK):
            row = Feature("", op, len(bounds) + 1, field, field, bounds=bounds)
        elif op == Op.VALUE:
            row = Feature("", op, N_KINDS, cell=small)
        elif op == Op.PAIR:
            row = Feature("", op, 5 * N_KINDS, Field.GENDER, small, N_KINDS)
        elif op == Op.IN:
            row = Feature("", op, 3, field, word_set)
        elif op in (Op.OVERLAP, Op.COVERAGE):
            row = Feature("", op, 5, draw(st.sampled_from(MentionSet)), word_set)
        else:
            row = Feature("", op, 3, field, small)
        rows.append(row)
    return tuple(rows)


class Case:
    """A memory and mentions of all sizes; weights are drawn at random, not shrunk."""

    def __init__(self, n_values, n_cells, sizes, seed):
        self.random = np.random.default_rng(seed)
        V, S, D = self.sizes = sizes
        self.weights = MemoryWeights.__new__(MemoryWeights)
        self.weights.latest = self.normal(S + D, V)
        self.weights.mean = self.normal(S + D, V)
        self.weights.product = self.normal(S, D)
        self.weights.features = self.normal(n_values, S)
        self.weights.kind_features = self.normal(N_KINDS, n_values)
        self.weights.score = self.normal(S)
        self.weights.score_bias = 0.25
        self.state = MemoryState.empty(n_cells, V, S, D)

    def normal(self, *shape):
        return (self.random.normal(size=shape) * 0.5).astype(np.float32)

    def mentions(self, table):
        V, S, D = self.sizes
        k = len(table)
        new = self.normal(k) * 4
        return table, self.normal(k, V), self.normal(k, S), self.normal(k, D), new


@st.composite
def cases(draw, n_values=N_VALUES):
    """A case, a table of mentions that were read before, and one of those to read."""
    sizes = draw(st.tuples(*[st.sampled_from([1, 7, 8, 16, 21])] * 3))
    case = Case(n_values, draw(st.integers(1, 20)), sizes, draw(st.integers(0, 2**32)))
    before = draw(st.integers(0, 12).flatmap(tables))
    after = draw(st.integers(0, 12).flatmap(tables))
    after.fields[:, Field.POSITION] += before.fields[-1:, Field.POSITION].max(initial=0)
    emptied = draw(st.lists(st.integers(0, 19), max_size=3))
    return case, before, after, emptied


def empty_some(state, cells):
    for cell in cells:
        if cell < len(state.entities):
            state.cells.fields[cell] = 0
            state.cells.sets[cell] = 0
            state.entities[cell] = -1


def same(case, before, after, emptied, **options):
    """Read with both, and compare all that is decided and left behind."""
    memory.read_mentions(case.weights, case.state, *case.mentions(before))
    empty_some(case.state, emptied)
    given = case.mentions(after)
    mine, theirs = copy.deepcopy(case.state), copy.deepcopy(case.state)
    expected = memory.read_mentions(case.weights, theirs, *given, links=True)
    assert expected.links is not None
    new = 1 - expected.links.sum(axis=1, keepdims=True)
    ranked = np.sort(np.concatenate([expected.links, new], axis=1), axis=1)
    assume((ranked[:, -1] - ranked[:, -2] > 1e-4).all())  # else rounding decides
    found = entity.read_mentions(case.weights, mine, *given, links=True, **options)
    for name, value in vars(expected).items():
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-4, err_msg=name)
    for name in ("total", "scored", "compared", "entities"):
        np.testing.assert_allclose(
            getattr(mine, name), getattr(theirs, name), rtol=1e-4, atol=1e-4
        )
    np.testing.assert_array_equal(mine.cells.fields, theirs.cells.fields)
    np.testing.assert_array_equal(mine.cells.sets, theirs.cells.sets)
    assert mine.n_entities == theirs.n_entities
    assert mine.n_mentions == theirs.n_mentions


@relaxed
@given(cases())
def test_memory_is_as_defined(case):
    same(*case)


@relaxed
@given(st.data(), feature_tables())
def test_any_table_of_features_is_read(data, table):
    sizes = [row.size for row in table]
    case = data.draw(cases(sum(sizes)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "FEATURES", table)
        patch.setattr(memory, "OFFSETS", np.cumsum([0, *sizes])[:-1])
        same(*case, columns=entity.Columns(table))


def test_every_operation_is_compiled():
    assert {op.name for op in Op} == entity.OPERATIONS.keys()


@relaxed
@given(cases())
def test_links_are_kept_only_if_asked_for(case):
    case, before, _, _ = case
    given = case.mentions(before)
    state = copy.deepcopy(case.state)
    kept = entity.read_mentions(case.weights, case.state, *given, links=True)
    found = entity.read_mentions(case.weights, state, *given)
    assert found.links is None
    assert found.standing is None
    np.testing.assert_array_equal(found.cell, kept.cell)


@st.composite
def gru_cases(draw):
    lengths = draw(st.lists(st.integers(0, 9) | st.just(70), max_size=9))
    size = draw(st.sampled_from([1, 7, 8, 16, 21]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))

    def normal(*shape):
        return random.normal(size=shape).astype(np.float32)

    # As small as trained weights are: with larger ones, rounding grows token by token
    weight = normal(3 * size, size) * 0.3 / size**0.5
    given = weight, normal(3 * size), normal(len(lengths), size)
    return *given, normal(sum(lengths), 3 * size) * 4, np.array(lengths, np.int64)


@relaxed
@given(gru_cases())
def test_recurrence_is_as_defined(case):
    weight, bias, hidden, projected, lengths = case
    ends = hidden.copy()
    expected = recur_reference(weight, bias, ends, projected, lengths)
    found = entity.recur(weight, bias, hidden, projected, lengths)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(hidden, ends, atol=1e-4)


def test_many_texts_are_read_as_each_alone():
    random = np.random.default_rng(0)
    lengths = random.integers(0, 40, 130)
    weight, bias = random.normal(size=(72, 24)) / 5, random.normal(size=72)
    projected = random.normal(size=(lengths.sum(), 72)).astype(np.float32)
    weight, bias = weight.astype(np.float32), bias.astype(np.float32)
    hidden = np.zeros((130, 24), np.float32)
    found = entity.recur(weight, bias, hidden, projected, lengths)
    first = 0
    for text, length in enumerate(lengths.tolist()):
        alone = np.zeros((1, 24), np.float32)
        part = projected[first : first + length]
        one = entity.recur(weight, bias, alone, part, np.array([length]))
        np.testing.assert_allclose(found[first : first + length], one, atol=1e-5)
        np.testing.assert_allclose(hidden[text], alone[0], atol=1e-5)
        first += length


def one_case(n_mentions=3, n_cells=4):
    case = Case(N_VALUES, n_cells, (4, 5, 6), 0)
    shape = n_mentions, N_WORDS
    fields = np.zeros((n_mentions, N_FIELDS), np.int32)
    fields[:, Field.SURE] = 1
    words = np.arange(3 * N_WORDS).reshape(3, -1)[:n_mentions].astype(np.int32)
    return case, MentionTable(fields, np.zeros(shape, np.int32), words)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (Extra.COUNT, -1),
        (Extra.COUNT, 2**31 - 1),
        (Extra.LATEST, -1),
        (Extra.LATEST, 3),
        (Extra.GROUPS, 8),
        (Field.KIND, N_KINDS),
        (Field.KIND, -1),
        (Field.GENDER, 4),
        (Field.NUMBER, -(2**31)),
        (Field.PLACE, 3),
    ],
)
def test_a_state_out_of_range_is_refused(column, value):
    case, table = one_case()
    given = case.mentions(table)
    entity.read_mentions(case.weights, case.state, *given)
    case.state.cells.fields[0, column] = value
    before = copy.deepcopy(case.state)
    with pytest.raises(ValueError, match=r"R192.*cell 0"):
        entity.read_mentions(case.weights, case.state, *given)
    np.testing.assert_array_equal(before.total, case.state.total)


@pytest.mark.parametrize(
    ("name", "value"), [("n_entities", 0), ("n_mentions", 2**31 - 2), ("n_mentions", 0)]
)
def test_numbers_out_of_range_are_refused(name, value):
    case, table = one_case()
    given = case.mentions(table)
    entity.read_mentions(case.weights, case.state, *given)
    setattr(case.state, name, value)
    with pytest.raises(ValueError, match="R192"):
        entity.read_mentions(case.weights, case.state, *given)


@pytest.mark.parametrize(
    ("column", "value"),
    [(Field.KIND, N_KINDS), (Field.KIND, -1), (Field.GENDER, 4), (Field.PLACE, -1)],
)
def test_a_mention_out_of_range_is_refused(column, value):
    case, table = one_case()
    table.fields[1, column] = value
    with pytest.raises(ValueError, match=r"R194.*mention 1"):
        entity.read_mentions(case.weights, case.state, *case.mentions(table))
    assert case.state.n_mentions == 0


@pytest.mark.parametrize("name", ["total", "scored", "compared", "entities"])
def test_a_state_of_another_shape_is_refused(name):
    case, table = one_case()
    setattr(case.state, name, getattr(case.state, name)[:-1])
    with pytest.raises(ValueError, match="R190"):
        entity.read_mentions(case.weights, case.state, *case.mentions(table))


def test_cells_of_another_shape_are_refused():
    case, table = one_case()
    case.state.cells.fields = np.zeros((4, N_CELL_FIELDS + 1), np.int32)
    with pytest.raises(ValueError, match="R190"):
        entity.read_mentions(case.weights, case.state, *case.mentions(table))


@pytest.mark.parametrize("module", [memory, entity], ids=["NumPy", "compiled"])
@pytest.mark.parametrize("n_mentions", [0, 3])
def test_a_memory_without_cells_is_refused(module, n_mentions):
    case, table = one_case(n_mentions, n_cells=0)
    with pytest.raises(ValueError, match="R193"):
        module.read_mentions(case.weights, case.state, *case.mentions(table))


@pytest.mark.parametrize("lengths", [[2, 2], [-1, 4], [3]])
def test_lengths_that_do_not_fit_are_refused(lengths):
    zeros = np.zeros((24, 8), np.float32), np.zeros(24, np.float32)
    hidden, projected = np.zeros((2, 8), np.float32), np.zeros((3, 24), np.float32)
    with pytest.raises(ValueError, match=r"R19[01]"):
        entity.recur(*zeros, hidden, projected, np.array(lengths))


@pytest.mark.parametrize(
    "row",
    [
        Feature("", Op.VALUE, 3, cell=N_CELL_FIELDS),
        Feature("", Op.IN, 3, Field.WORD, len(WordSet)),
        Feature("", Op.SAME, 3, N_FIELDS, Field.WORD),
        Feature("", Op.PAIR, 9, Field.PLACE, Field.PLACE),
        Feature("", Op.SAME, 0),
    ],
)
def test_a_feature_of_what_is_not_there_is_refused(row):
    with pytest.raises(ValueError, match="R195"):
        entity.Columns((*FEATURES, row))


@pytest.mark.parametrize(
    ("setting", "module"), [("1", "memory"), ("", "kernels.entity")]
)
def test_the_environment_can_ask_for_numpy(monkeypatch, setting, module):
    monkeypatch.setenv("REFREADER_NO_COMPILED", setting)
    try:
        found = importlib.reload(kernels).read_mentions.__module__
    finally:
        monkeypatch.undo()
        importlib.reload(kernels)
    assert found == f"refreader_spacy.reader.{module}"


@pytest.mark.parametrize(
    "flags",
    [
        ["-DREFREADER_PLAIN"],
        ["-DREFREADER_PLAIN", "-D_MSC_VER=1940", "-D__forceinline=inline"],
    ],
    ids=["plain C", "as MSVC"],
)
def test_the_kernel_needs_no_extension_of_c(flags, tmp_path):
    """Microsoft's compiler has neither GCC's nor arrays of variable length."""
    compiler = shutil.which("cc")
    source = Path(__file__).parents[3] / "refreader_spacy" / "reader" / "kernels"
    if compiler is None or not (source / "entity.h").exists():
        pytest.skip("needs a C compiler and the kernel's source")
    (tmp_path / "kernel.c").write_text('#include "entity.h"\nint used;\n')
    strict = ["-std=c99", "-pedantic-errors", "-Werror=vla", "-fsyntax-only"]
    subprocess.run(
        [compiler, *strict, *flags, "-I", source, tmp_path / "kernel.c"], check=True
    )
