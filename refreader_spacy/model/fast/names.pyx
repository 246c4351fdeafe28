# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The reader of names, compiled: its recurrent unit, and what tokens decide.

The equations are those of `names/memory.py`, which is the definition; a test
compares them.
"""

from libc.math cimport exp, exp2, log1p
from libc.string cimport memcpy, memset


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
    USED, LAST, SENTENCE, NAME, COUNT, NAMELESS, FIRST, BORN, NEXT_WORD, GENDER, N_KNOWN
cdef enum:
    TOKEN, SENTENCES, NAMES, CURRENT, PEOPLE
cdef enum:
    IS_NAME = 1
    IS_PRONOUN = 2
    IS_JOINING = 4
    GENDERS = 8 + 16
    IS_END = 32
cdef enum:
    N_SCORES = 2
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
    ASK_AGREES = 22
    ASK_DIFFERS = 23
    N_FACTS = 24
    N_WORDS = 8

cdef double HALF_LIFE = 30.0  # of salience, in tokens


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
    const float[:, ::1] words,
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
                    words[token, 0],
                    <int>words[token, 1],
                    &gates[0, token, 0],
                    &gates[1, token, 0],
                    &gates[2, token, 0],
                    &shares[0],
                )


cdef void read(
    Cells cells,
    const float* said,
    float word,
    int kind,
    float* update,
    float* overwrite,
    float* salience,
    double* shares,
) noexcept nogil:
    cdef Py_ssize_t m, cell = -1, M = cells.n_cells
    cdef double* clock = cells.clock
    cdef double age
    cdef bint named = kind & IS_NAME or (kind & IS_JOINING and clock[CURRENT] >= 0)
    if named or kind & IS_PRONOUN:
        if named:
            cell = known(cells, word)
        if cell >= 0:
            update[cell] = 1
        else:
            share(cells, said, word, kind, shares)
            for m in range(M):
                update[m] = <float>shares[m]
            overwrite[place(cells)] = <float>shares[M]
            cell = 0
            for m in range(1, M + 1):
                if shares[m] > shares[cell]:
                    cell = m
        cell = write(cells, cell, said, word, kind)
    clock[CURRENT] = cell if named else -1
    clock[TOKEN] += 1
    if kind & IS_END:
        clock[SENTENCES] += 1
    for m in range(M):
        if cells.facts[m * N_KNOWN + USED]:
            age = clock[TOKEN] - 1 - cells.facts[m * N_KNOWN + LAST]
            salience[m] = <float>exp2(-age / HALF_LIFE)


cdef Py_ssize_t known(Cells cells, float word) noexcept nogil:
    """The cell that a word of a name certainly goes to, or -1."""
    cdef Py_ssize_t m, found = -1
    cdef double* facts
    if cells.clock[CURRENT] >= 0:
        return <Py_ssize_t>cells.clock[CURRENT]
    for m in range(cells.n_cells):
        facts = cells.facts + m * N_KNOWN
        if facts[USED] and knows(cells, m, word):
            if found < 0 or facts[LAST] > cells.facts[found * N_KNOWN + LAST]:
                found = m
    return found


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


cdef bint is_open(const double* facts, int kind) noexcept nogil:
    """Is a cell asked? Pronouns ask all, names those without one."""
    return facts[USED] and (kind & IS_PRONOUN or facts[NAMELESS])


cdef void share(
    Cells cells, const float* said, float word, int kind, double* shares
) noexcept nogil:
    """How probably each cell is meant, and last, somebody new (M + 1,)."""
    cdef Py_ssize_t m, k, age, K = cells.key_size, M = cells.n_cells
    cdef const float* query = said + N_SCORES
    cdef const float* asks = query + K
    cdef const float* key
    cdef double* facts
    cdef double* clock = cells.clock
    cdef double score, power, total, highest = said[0]
    cdef float match
    shares[M] = said[0]
    for m in range(M):
        facts = cells.facts + m * N_KNOWN
        if not is_open(facts, kind):
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
        score += asks[ASK_PRONOUN] * facts[NAMELESS]
        if knows(cells, m, word):
            score += 2 * asks[ASK_SAME_WORD]
        score += asks[ASK_FIRST] * facts[FIRST]
        score += asks[ASK_BORN] * log1p(clock[TOKEN] - facts[BORN]) / 4
        if kind & GENDERS and facts[GENDER]:
            score += asks[
                ASK_AGREES if facts[GENDER] == (kind & GENDERS) else ASK_DIFFERS
            ]
        shares[m] = score
        if score > highest:
            highest = score
    total = 0
    for m in range(M + 1):
        if m < M and not is_open(cells.facts + m * N_KNOWN, kind):
            shares[m] = 0
        else:
            shares[m] = exp(shares[m] - highest)
        total += shares[m]
    for m in range(M + 1):
        shares[m] /= total


cdef Py_ssize_t write(
    Cells cells, Py_ssize_t cell, const float* said, float word, int kind
) noexcept nogil:
    """Link the token to a cell; the one after the last is for somebody new.

    RETURNS which cell it was.
    """
    cdef Py_ssize_t i, K = cells.key_size
    cdef double* clock = cells.clock
    cdef double* facts
    cdef bint new = cell == cells.n_cells
    cdef bint named = not kind & IS_PRONOUN
    cdef bint begins = named and clock[CURRENT] < 0
    if begins:
        clock[NAMES] += 1
    if not new and not named:
        if not cells.facts[cell * N_KNOWN + GENDER]:
            cells.facts[cell * N_KNOWN + GENDER] = kind & GENDERS
        return cell
    if new:
        cell = place(cells)
        facts = cells.facts + cell * N_KNOWN
        for i in range(N_KNOWN):
            facts[i] = 0
        facts[USED], facts[BORN] = 1, clock[TOKEN]
        facts[FIRST] = clock[PEOPLE] == 0
        for i in range(N_WORDS):
            cells.words[cell * N_WORDS + i] = -1
        clock[PEOPLE] += 1
    facts = cells.facts + cell * N_KNOWN
    cells.keys[cell * (K + 1)] = said[1]
    memcpy(cells.keys + cell * (K + 1) + 1, said + N_SCORES + K + N_FACTS, K * 4)
    facts[LAST], facts[SENTENCE] = clock[TOKEN], clock[SENTENCES]
    facts[NAME] = clock[NAMES]
    if new or begins:
        facts[COUNT] += 1
    facts[NAMELESS] = not named
    if not facts[GENDER]:
        facts[GENDER] = kind & GENDERS
    if kind & IS_NAME and not knows(cells, cell, word):
        cells.words[cell * N_WORDS + <Py_ssize_t>facts[NEXT_WORD] % N_WORDS] = word
        facts[NEXT_WORD] += 1
    return cell
