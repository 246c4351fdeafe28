# cython: language_level=3, boundscheck=False, wraparound=False
"""The seam between Python and the compiled loops of `entity.h`.

Shapes as there.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

from refreader_spacy.errors import Errors
from refreader_spacy.reader import cells, features, mentions
from refreader_spacy.reader.memory import Choices

cdef extern from "entity.h" nogil:
    enum:
        MOST_FEATURES
        OP_DISTANCE, OP_BUCKET, OP_RANK, OP_VALUE, OP_PAIR, OP_SAME, OP_IN, OP_OVERLAP
        OP_COVERAGE, OP_COVERS

    ctypedef struct Recurrence:
        Py_ssize_t size
        const float* weight
        const float* bias
        const float* projected
        float* history

    ctypedef struct Feature:
        int32_t op, size, mention, cell, inner, offset, n_bounds
        const int32_t* bounds

    ctypedef struct Layout:
        Py_ssize_t n_fields, n_cell_fields, n_words, n_set_words, n_features, n_values
        Py_ssize_t n_kept, n_name_kinds
        int32_t n_kinds
        int32_t position, kind, stem, string, pronoun, sure, length
        int32_t count, latest, groups
        int32_t name_group, noun_group, pronoun_group
        int32_t heads, strings, pronouns, names, words, latest_names, latest_words
        int32_t mention_names
        int32_t bonus, most_bonuses
        const int32_t* set_starts
        const int32_t* kept
        const int32_t* name_kinds
        const Feature* features

    ctypedef struct Weights:
        Py_ssize_t mention_size, score_size, product_size
        const float* latest
        const float* mean
        const float* product
        const float* features
        const float* kind_features
        const float* score
        float score_bias

    ctypedef struct Memory:
        Py_ssize_t n_cells
        int32_t* fields
        int32_t* sets
        float* total
        float* scored
        float* compared
        int64_t* entities
        int64_t n_entities, n_mentions

    ctypedef struct Mentions:
        Py_ssize_t n
        const int32_t* fields
        const int32_t* names
        const int32_t* words
        const float* vectors
        const float* queries
        const float* products
        const float* new_scores

    ctypedef struct Decisions:
        int32_t* cell
        uint8_t* is_new
        int64_t* entity
        int64_t* antecedent
        float* probability
        float* links
        int64_t* standing

    int recur_all(
        Recurrence unit,
        Py_ssize_t n_texts,
        Py_ssize_t n_tokens,
        float* hidden,
        const Py_ssize_t* texts,
        Py_ssize_t* tokens,
        const Py_ssize_t* lengths,
    )
    int read_all(
        const Layout* layout,
        const Weights* weights,
        Memory* memory,
        const Mentions* mentions,
        const Decisions* out,
    )
    Py_ssize_t wrong_cell(const Layout* layout, const Memory* memory)
    Py_ssize_t wrong_mention(const Layout* layout, const Mentions* mentions)


MOST_MENTIONS = 2**31 - 1  # that a cell's fields can number
OPERATIONS = {
    "DISTANCE": OP_DISTANCE,
    "BUCKET": OP_BUCKET,
    "RANK": OP_RANK,
    "VALUE": OP_VALUE,
    "PAIR": OP_PAIR,
    "SAME": OP_SAME,
    "IN": OP_IN,
    "OVERLAP": OP_OVERLAP,
    "COVERAGE": OP_COVERAGE,
    "COVERS": OP_COVERS,
}


cdef class Columns:
    """What the columns of mentions and cells mean, and which features there are."""

    cdef Layout layout
    cdef Feature rows[MOST_FEATURES]
    cdef int32_t[::1] bounds, set_starts, kept, name_kinds

    def __init__(self, table):
        """table (Sequence[features.Feature]): Their order is that of the weights."""
        cdef Layout* to = &self.layout
        cdef Py_ssize_t f, first = 0, offset = 0
        F, E, S, G = mentions.Field, cells.Extra, cells.WordSet, cells.Group
        if len(table) > MOST_FEATURES:
            raise ValueError(Errors.R196.format(found=len(table), most=MOST_FEATURES))
        self.set_starts = np.array(cells.SET_STARTS, np.int32)
        self.kept = np.array(cells.KEPT, np.int32)
        self.name_kinds = np.array(cells.NAME_KINDS, np.int32)
        self.bounds = np.array([*(b for row in table for b in row.bounds), 0], np.int32)
        for f, row in enumerate(table):
            self.check(row)
            self.rows[f] = Feature(
                OPERATIONS[row.op.name], row.size, row.mention, row.cell, row.inner,
                offset, len(row.bounds), &self.bounds[first],
            )
            first += len(row.bounds)
            offset += row.size
        to.n_features, to.n_values, to.features = len(table), offset, self.rows
        to.n_fields, to.n_cell_fields = mentions.N_FIELDS, cells.N_CELL_FIELDS
        to.n_words, to.n_set_words = mentions.N_WORDS, cells.N_SET_WORDS
        to.n_kept, to.kept = self.kept.shape[0], &self.kept[0]
        to.n_name_kinds, to.name_kinds = self.name_kinds.shape[0], &self.name_kinds[0]
        to.n_kinds, to.set_starts = mentions.N_KINDS, &self.set_starts[0]
        to.position, to.length, to.kind, to.sure = F.POSITION, F.LENGTH, F.KIND, F.SURE
        to.stem, to.string, to.pronoun = F.STEM, F.STRING, F.PRONOUN
        to.count, to.latest, to.groups = E.COUNT, E.LATEST, E.GROUPS
        to.name_group, to.noun_group, to.pronoun_group = G.NAME, G.NOUN, G.PRONOUN
        to.heads, to.strings, to.pronouns = S.HEADS, S.STRINGS, S.PRONOUNS
        to.names, to.latest_names = S.NAMES, S.LATEST_NAMES
        to.words, to.latest_words = S.WORDS, S.LATEST_WORDS
        to.mention_names = features.MentionSet.NAMES
        to.bonus, to.most_bonuses = cells.BONUS, cells.MOST_BONUSES

    def check(self, row):
        """Everything that is an index must be one."""
        in_sets = row.op.name in ("IN", "OVERLAP", "COVERAGE")
        n_cell = len(cells.WordSet) if in_sets else cells.N_CELL_FIELDS
        if not (
            row.op.name in OPERATIONS
            and row.size > 0
            and 0 <= row.mention < mentions.N_FIELDS
            and 0 <= row.cell < n_cell
            and (row.op.name != "PAIR" or row.inner > 0)
        ):
            raise ValueError(Errors.R195.format(feature=row))


COLUMNS = Columns(features.FEATURES)


def recur(
    const float[:, ::1] weight,
    const float[::1] bias,
    float[:, ::1] hidden,
    const float[:, ::1] projected,
    lengths,
):
    """Hidden states after each token of texts that follow one another (N, H).

    See `recurrence.recur_reference`; texts are read side by side.
    """
    lengths = np.asarray(lengths, np.intp)
    cdef Py_ssize_t n_texts = hidden.shape[0], size = hidden.shape[1]
    cdef Py_ssize_t n_tokens = projected.shape[0]
    cdef float[:, ::1] history = np.empty((n_tokens, size), np.float32)
    cdef Py_ssize_t[::1] texts = np.argsort(-lengths, kind="stable")
    cdef Py_ssize_t[::1] counts = lengths[np.asarray(texts)]
    cdef Py_ssize_t[::1] firsts = (np.cumsum(lengths) - lengths)[np.asarray(texts)]
    cdef Recurrence unit
    cdef int failed
    expect("lengths", lengths.shape, (n_texts,))
    expect("weight", (weight.shape[0], weight.shape[1]), (3 * size, size))
    expect("bias", (bias.shape[0],), (3 * size,))
    expect("projected", (projected.shape[1],), (3 * size,))
    if n_texts and lengths.min() < 0 or lengths.sum() != n_tokens:
        raise ValueError(Errors.R191.format(found=lengths.tolist(), expected=n_tokens))
    if n_tokens and size:
        unit.size = size
        unit.weight = &weight[0, 0]
        unit.bias = &bias[0]
        unit.projected = &projected[0, 0]
        unit.history = &history[0, 0]
        with nogil:
            failed = recur_all(
                unit, n_texts, n_tokens, &hidden[0, 0], &texts[0], &firsts[0], &counts[0]
            )
        if failed:
            raise MemoryError()
    return np.asarray(history)


def expect(name, found, expected):
    """An array must have this shape."""
    if tuple(found) != expected:
        raise ValueError(Errors.R190.format(name=name, found=found, expected=expected))


cdef const float* floats(name, const float[:, ::1] array, n, size) except NULL:
    """Where numbers begin, of which there must be so many."""
    expect(name, (array.shape[0], array.shape[1]), (n, size))
    return &array[0, 0]


cdef const int32_t* ints(name, const int32_t[:, ::1] array, n, size) except NULL:
    expect(name, (array.shape[0], array.shape[1]), (n, size))
    return &array[0, 0]


cdef Weights memory_weights(weights, const Layout* layout) except *:
    cdef Weights to
    S, D = weights.product.shape
    V = weights.mean.shape[1]
    if not S or not D or not V:
        raise ValueError(Errors.R190.format(name="product", found=(S, D, V), expected="> 0"))
    to.score_size, to.product_size, to.mention_size = S, D, V
    to.latest = floats("latest", weights.latest, S + D, V)
    to.mean = floats("mean", weights.mean, S + D, V)
    to.product = floats("product", weights.product, S, D)
    to.features = floats("features", weights.features, layout.n_values, S)
    to.kind_features = floats(
        "kind_features", weights.kind_features, layout.n_kinds, layout.n_values
    )
    to.score = floats("score", weights.score[None], 1, S)
    to.score_bias = weights.score_bias
    return to


cdef Memory memory(state, const Layout* layout, const Weights* sizes) except *:
    """Where a state is, which will be written over."""
    cdef Memory to
    cdef int32_t[:, ::1] fields = state.cells.fields, sets = state.cells.sets
    cdef float[:, ::1] total = state.total, scored = state.scored
    cdef float[:, ::1] compared = state.compared
    cdef int64_t[::1] entities = state.entities
    cdef Py_ssize_t wrong
    M = to.n_cells = entities.shape[0]
    expect("fields", state.cells.fields.shape, (M, layout.n_cell_fields))
    expect("sets", state.cells.sets.shape, (M, layout.n_set_words))
    expect("total", state.total.shape, (M, sizes.mention_size))
    expect("scored", state.scored.shape, (M, sizes.score_size))
    expect("compared", state.compared.shape, (M, sizes.product_size))
    to.fields, to.sets = &fields[0, 0], &sets[0, 0]
    to.total, to.scored, to.compared = &total[0, 0], &scored[0, 0], &compared[0, 0]
    to.entities = &entities[0]
    to.n_entities, to.n_mentions = state.n_entities, state.n_mentions
    wrong = wrong_cell(layout, &to)
    if wrong >= 0:
        raise ValueError(Errors.R192.format(problem=f"what cell {wrong} holds"))
    return to


def read_mentions(
    weights,
    state,
    table,
    vectors,
    queries,
    products,
    const float[::1] new,
    *,
    links=False,
    Columns columns=COLUMNS,
):
    """Decide for each mention which cell it updates, or overwrites as something new.

    See `memory.read_mentions`.
    """
    cdef const Layout* layout = &columns.layout
    cdef Py_ssize_t K = len(table), M = len(state.entities), wrong
    cdef Weights sizes
    cdef Memory to
    cdef Mentions given
    cdef Decisions out
    cdef int failed
    if not M:
        raise ValueError(Errors.R193)
    chosen = Choices(
        np.empty(K, np.int32),
        np.empty(K, bool),
        np.empty(K, np.int64),
        np.empty(K, np.int64),
        np.empty(K, np.float32),
        np.zeros((K, M), np.float32) if links else None,
        np.empty((K, M), np.int64) if links else None,
    )
    if not K:
        return chosen
    cdef int32_t[::1] cell = chosen.cell
    cdef uint8_t[::1] is_new = chosen.is_new.view(np.uint8)
    cdef int64_t[::1] entity = chosen.entity, antecedent = chosen.antecedent
    cdef float[::1] probability = chosen.probability
    cdef float[:, ::1] all_links
    cdef int64_t[:, ::1] all_standing
    out.cell, out.is_new, out.entity = &cell[0], &is_new[0], &entity[0]
    out.antecedent, out.probability = &antecedent[0], &probability[0]
    out.links, out.standing = NULL, NULL
    if links:
        all_links, all_standing = chosen.links, chosen.standing
        out.links, out.standing = &all_links[0, 0], &all_standing[0, 0]
    sizes = memory_weights(weights, layout)
    to = memory(state, layout, &sizes)
    expect("new", (new.shape[0],), (K,))
    given.n = K
    given.fields = ints("fields", table.fields, K, layout.n_fields)
    given.names = ints("names", table.names, K, layout.n_words)
    given.words = ints("words", table.words, K, layout.n_words)
    given.vectors = floats("vectors", vectors, K, sizes.mention_size)
    given.queries = floats("queries", queries, K, sizes.score_size)
    given.products = floats("products", products, K, sizes.product_size)
    given.new_scores = &new[0]
    wrong = wrong_mention(layout, &given)
    if wrong >= 0:
        raise ValueError(Errors.R194.format(mention=wrong))
    if not 0 <= to.n_mentions <= MOST_MENTIONS - K:
        raise ValueError(Errors.R192.format(problem=f"{to.n_mentions} mentions"))
    with nogil:
        failed = read_all(layout, &sizes, &to, &given, &out)
    if failed:
        raise MemoryError()
    state.n_entities, state.n_mentions = to.n_entities, to.n_mentions
    return chosen
