# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The reader of names, compiled: its recurrent unit, and what tokens decide.

The equations are those of `model/names/memory.py`, which is the definition; a test
compares them.
"""

from libc.math cimport exp, exp2, log1p
from libc.string cimport memcpy, memset

from refreader_spacy.model.names import memory as definition
from refreader_spacy.model.names import says

cdef extern from "kernel.h" nogil:
    ctypedef struct Layer:
        const float* weight
        const float* bias
        float* panels

    ctypedef struct Tokens:
        Py_ssize_t n
        const float* projected
        const Py_ssize_t* which

    int recur_tokens(
        Layer recurrent,
        Py_ssize_t hidden_size,
        float* hidden,
        Py_ssize_t n_docs,
        Tokens tokens,
        const Py_ssize_t* starts,
        float* out,
    )

# What is known of a cell, of a document, and what is asked: see the definition
cdef enum:
    USED, LAST, SENTENCE, NAME, COUNT, IS_PRONOUN, IS_FIRST, BORN, NEXT_WORD, N_KNOWN
cdef enum:
    TOKEN, SENTENCES, NAMES, IN_NAME, PEOPLE
cdef enum:
    N_GATES = 4
    ASK_AGE = 0
    N_AGES = 8
    ASK_SENTENCES = 8
    N_SENTENCES = 4
    ASK_NAMES = 12
    N_NAMES = 5
    ASK_COUNT = 17
    ASK_PRONOUN = 18
    ASK_SAME_WORD = 19
    ASK_FIRST = 20
    ASK_BORN = 21
    N_FACTS = 22
    N_WORDS = 8

cdef double FAINT = definition.FAINT
cdef double HALF_LIFE = definition.HALF_LIFE
cdef float[4] ENDS = definition.ENDS
assert (N_FACTS, N_GATES, N_WORDS) == (says.N_FACTS, says.N_GATES, definition.N_WORDS)


def recur(
    weights,
    float[:, ::1] state,
    const float[:, ::1] projected,
    const Py_ssize_t[::1] which,
    const Py_ssize_t[::1] starts,
    float[:, ::1] hidden,
):
    """The recurrent unit over documents; `state` and `hidden` are written over.

    projected, which: As `Weights.project` gives them, all documents' end to end.
    starts: Where each begins, and where the last one ends (B + 1,).
    """
    cdef const float[:, ::1] weight = weights.recurrent.weight
    cdef const float[::1] bias = weights.recurrent.bias
    cdef Layer recurrent
    cdef Tokens tokens
    cdef int failed
    recurrent.weight, recurrent.bias, recurrent.panels = &weight[0, 0], &bias[0], NULL
    tokens.n = which.shape[0]
    if not tokens.n:
        return
    tokens.projected = &projected[0, 0]
    tokens.which = &which[0]
    with nogil:
        failed = recur_tokens(
            recurrent,
            state.shape[1],
            &state[0, 0],
            state.shape[0],
            tokens,
            &starts[0],
            &hidden[0, 0],
        )
    if failed:
        raise MemoryError()


cdef struct Cells:
    Py_ssize_t n_cells, key_size
    float* keys
    double* facts
    float* words
    double* clock


def decide(
    state,
    const float[:, ::1] said,
    const float[::1] words,
    const Py_ssize_t[::1] starts,
    float[:, :, ::1] gates,
):
    """Let documents' tokens decide; their state and `gates` are written over."""
    cdef float[:, :, ::1] keys = state.keys
    cdef double[:, :, ::1] facts = state.facts
    cdef float[:, :, ::1] cell_words = state.words
    cdef double[:, ::1] clock = state.clock
    cdef Py_ssize_t doc, token
    cdef Cells cells
    cdef double[::1] shares
    if not said.shape[0]:
        return
    memset(&gates[0, 0, 0], 0, gates.nbytes)
    cells.n_cells, cells.key_size = facts.shape[1], keys.shape[2] - 1
    import numpy

    shares = numpy.empty(cells.n_cells + 1)
    with nogil:
        for doc in range(keys.shape[0]):
            cells.keys = &keys[doc, 0, 0]
            cells.facts = &facts[doc, 0, 0]
            cells.words = &cell_words[doc, 0, 0]
            cells.clock = &clock[doc, 0]
            for token in range(starts[doc], starts[doc + 1]):
                read(
                    cells,
                    &said[token, 0],
                    words[token],
                    &gates[0, token, 0],
                    &gates[1, token, 0],
                    &gates[2, token, 0],
                    &shares[0],
                )


cdef inline double sigmoid(double x) noexcept nogil:
    return 1 / (1 + exp(-x))


cdef void read(
    Cells cells,
    const float* said,
    float word,
    float* update,
    float* overwrite,
    float* salience,
    double* shares,
) noexcept nogil:
    cdef double entity = sigmoid(said[0])
    cdef bint in_name = entity >= 0.5 and sigmoid(said[1]) >= 0.5
    cdef Py_ssize_t m, best, M = cells.n_cells
    cdef double* clock = cells.clock
    cdef double age
    if entity >= FAINT:
        share(cells, said, word, shares)
        best = M
        for m in range(M):
            update[m] = <float>(entity * shares[m])
        overwrite[place(cells)] = <float>(entity * shares[M])
        if entity >= 0.5:
            best = 0
            for m in range(1, M + 1):
                if shares[m] > shares[best]:
                    best = m
            write(cells, best, said, word, in_name)
    clock[IN_NAME] = in_name
    clock[TOKEN] += 1
    for m in range(4):
        clock[SENTENCES] += word == ENDS[m]
    for m in range(M):
        if cells.facts[m * N_KNOWN + USED]:
            age = clock[TOKEN] - 1 - cells.facts[m * N_KNOWN + LAST]
            salience[m] = <float>exp2(-age / HALF_LIFE)


cdef Py_ssize_t place(Cells cells) noexcept nogil:
    """The cell for somebody new: a free one, or who wasn't named for longest."""
    cdef Py_ssize_t m, found = 0
    cdef double last, earliest = 0
    for m in range(cells.n_cells):
        last = -1
        if cells.facts[m * N_KNOWN + USED]:
            last = cells.facts[m * N_KNOWN + LAST]
        if m == 0 or last < earliest:
            found, earliest = m, last
    return found


cdef bint knows(Cells cells, Py_ssize_t m, float word) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(N_WORDS):
        if cells.words[m * N_WORDS + i] == word:
            return True
    return False


cdef Py_ssize_t least(double x, Py_ssize_t most) noexcept nogil:
    return <Py_ssize_t>x if x < most else most


cdef void share(
    Cells cells, const float* said, float word, double* shares
) noexcept nogil:
    """How probably each cell is meant, and last, somebody new (M + 1,)."""
    cdef Py_ssize_t m, k, age, K = cells.key_size, M = cells.n_cells
    cdef const float* query = said + N_GATES
    cdef const float* asks = query + K
    cdef const float* key
    cdef double* facts
    cdef double* clock = cells.clock
    cdef double score, power, total, highest = said[2]
    cdef float match
    shares[M] = said[2]
    for m in range(M):
        facts = cells.facts + m * N_KNOWN
        if not facts[USED]:
            continue
        key = cells.keys + m * (K + 1)
        match = 0
        for k in range(K):
            match += query[k] * key[1 + k]
        score = key[0] + match
        age, power = 0, 2
        while age < N_AGES - 1 and power <= clock[TOKEN] - facts[LAST] + 1:
            age, power = age + 1, 2 * power
        score += asks[ASK_AGE + age]
        score += asks[
            ASK_SENTENCES + least(clock[SENTENCES] - facts[SENTENCE], N_SENTENCES - 1)
        ]
        score += asks[ASK_NAMES + least(clock[NAMES] - facts[NAME], N_NAMES - 1)]
        score += asks[ASK_COUNT] * log1p(facts[COUNT])
        score += asks[ASK_PRONOUN] * facts[IS_PRONOUN]
        if knows(cells, m, word):
            score += 2 * asks[ASK_SAME_WORD]
        score += asks[ASK_FIRST] * facts[IS_FIRST]
        score += asks[ASK_BORN] * log1p(clock[TOKEN] - facts[BORN]) / 4
        shares[m] = score
        if score > highest:
            highest = score
    total = 0
    for m in range(M + 1):
        if m < M and not cells.facts[m * N_KNOWN + USED]:
            shares[m] = 0
        else:
            shares[m] = exp(shares[m] - highest)
        total += shares[m]
    for m in range(M + 1):
        shares[m] /= total


cdef void write(
    Cells cells, Py_ssize_t cell, const float* said, float word, bint in_name
) noexcept nogil:
    """Link the token to a cell; the one after the last is for somebody new."""
    cdef Py_ssize_t i, K = cells.key_size
    cdef double* clock = cells.clock
    cdef double* facts
    cdef bint new = cell == cells.n_cells
    cdef bint begins = in_name and not clock[IN_NAME]
    clock[NAMES] += begins
    if not new and not in_name:
        return
    if new:
        cell = place(cells)
        facts = cells.facts + cell * N_KNOWN
        for i in range(N_KNOWN):
            facts[i] = 0
        facts[USED], facts[IS_FIRST] = 1, clock[PEOPLE] == 0
        facts[BORN], facts[IS_PRONOUN] = clock[TOKEN], not in_name
        for i in range(N_WORDS):
            cells.words[cell * N_WORDS + i] = -1
        clock[PEOPLE] += 1
    facts = cells.facts + cell * N_KNOWN
    cells.keys[cell * (K + 1)] = said[3]
    memcpy(cells.keys + cell * (K + 1) + 1, said + N_GATES + K + N_FACTS, K * 4)
    facts[LAST], facts[SENTENCE] = clock[TOKEN], clock[SENTENCES]
    facts[NAME] = clock[NAMES]
    facts[COUNT] += new or begins
    if in_name and not knows(cells, cell, word):
        cells.words[cell * N_WORDS + <Py_ssize_t>facts[NEXT_WORD] % N_WORDS] = word
        facts[NEXT_WORD] += 1
