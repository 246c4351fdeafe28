# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The reader of names, compiled: its recurrent unit, and what tokens decide.

The equations are those of `names/memory.py`, which is the definition; a test
compares them.
"""

from libc.math cimport exp, exp2, log1p, tanhf
from libc.string cimport memcpy, memset


cdef extern from "gru.h" nogil:
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
    USED, LAST, SENTENCE, NAME, COUNT, NAMELESS, FIRST, BORN, NEXT_WORD, GENDER
    MEANT, MEANT_SENTENCE, MEANT_COUNT, MEANT_WORD, N_KNOWN
cdef enum:
    TOKEN, SENTENCES, NAMES, PEOPLE, CURRENT, LATEST, LATEST_MEANT
cdef enum:
    IS_NAME = 1
    IS_PRONOUN = 2
    IS_JOINING = 4
    GENDERS = 8 + 16
    IS_END = 32
cdef enum:
    LATEST_NAME, AFTER_NAME, LATEST_PRONOUN, AFTER_FIRST, N_MARKS
cdef enum:
    ASK_AGE = 0
    N_AGES = 8
    ASK_SENTENCES = 8
    N_SENTENCES = 4
    ASK_NAMES = 12
    N_NAMES = 5
    ASK_COUNT = 17
    ASK_NAMELESS = 18
    ASK_FIRST = 19
    ASK_BORN = 20
    ASK_AGREES = 21
    ASK_DIFFERS = 22
    ASK_MEANT = 23
    ASK_MEANT_AGE = 24
    ASK_MEANT_SENTENCES = 32
    ASK_MEANT_COUNT = 36
    ASK_SAME_WORD = 37
    ASK_LATEST = 38
    ASK_LATEST_MEANT = 39
    N_FACTS = 40
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
    Py_ssize_t n_cells, size
    const float* judge
    float* sum
    float* marks
    double* facts
    float* words
    double* clock


def decide(
    state,
    const float[:, ::1] said,
    const float[:, ::1] judge,
    const float[:, ::1] words,
    const Py_ssize_t[::1] starts,
    float[:, :, ::1] gates,
):
    """Let documents' tokens decide; their state and `gates` are written over."""
    cdef float[:, :, :, ::1] marks = state.marks
    cdef double[:, :, ::1] facts = state.facts
    cdef float[:, :, ::1] cell_words = state.words
    cdef double[:, ::1] clock = state.clock
    cdef Py_ssize_t doc, token
    cdef Cells cells
    cdef double[::1] shares
    cdef float[::1] seen
    if not said.shape[0]:
        return
    memset(&gates[0, 0, 0], 0, gates.nbytes)
    cells.n_cells, cells.size = facts.shape[1], marks.shape[3]
    import numpy

    shares = numpy.empty(cells.n_cells + 1)
    seen = numpy.empty(cells.size, numpy.float32)
    cells.judge, cells.sum = &judge[0, 0], &seen[0]
    with nogil:
        for doc in range(marks.shape[0]):
            cells.marks = &marks[doc, 0, 0, 0]
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
    tick(cells, said)
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


cdef Py_ssize_t power(double tokens) noexcept nogil:
    """How many times two goes into a distance, as it is asked about."""
    cdef Py_ssize_t age = 0
    cdef double next = 2
    while age < N_AGES - 1 and next <= tokens + 1:
        age, next = age + 1, 2 * next
    return age


cdef struct Fact:
    Py_ssize_t which
    double value


cdef Py_ssize_t facts_now(
    Cells cells, Py_ssize_t m, float word, int kind, Fact* found
) noexcept nogil:
    """What there is to ask about a cell.

    RETURNS how many facts there are; all others are zero.
    """
    cdef double* facts = cells.facts + m * N_KNOWN
    cdef double* clock = cells.clock
    cdef int gender = kind & GENDERS
    found[0] = Fact(ASK_AGE + power(clock[TOKEN] - facts[LAST]), 1)
    found[1] = Fact(
        ASK_SENTENCES + least(clock[SENTENCES] - facts[SENTENCE], N_SENTENCES - 1), 1
    )
    found[2] = Fact(ASK_NAMES + least(clock[NAMES] - facts[NAME], N_NAMES - 1), 1)
    found[3] = Fact(ASK_COUNT, log1p(facts[COUNT]))
    found[4] = Fact(ASK_NAMELESS, facts[NAMELESS])
    found[5] = Fact(ASK_FIRST, facts[FIRST])
    found[6] = Fact(ASK_BORN, log1p(clock[TOKEN] - facts[BORN]) / 4)
    found[7] = Fact(
        ASK_AGREES if facts[GENDER] == gender else ASK_DIFFERS,
        1 if gender and facts[GENDER] else 0,
    )
    found[8] = Fact(ASK_LATEST, m == clock[LATEST])
    found[9] = Fact(ASK_LATEST_MEANT, m == clock[LATEST_MEANT])
    if not facts[MEANT]:
        return 10
    found[10] = Fact(ASK_MEANT, 1)
    found[11] = Fact(
        ASK_MEANT_AGE + power(clock[TOKEN] + 1 - facts[MEANT]), 1
    )
    found[12] = Fact(
        ASK_MEANT_SENTENCES
        + least(clock[SENTENCES] - facts[MEANT_SENTENCE], N_SENTENCES - 1),
        1,
    )
    found[13] = Fact(ASK_MEANT_COUNT, log1p(facts[MEANT_COUNT]))
    found[14] = Fact(ASK_SAME_WORD, facts[MEANT_WORD] == word)
    return 15


cdef double score(
    Cells cells, Py_ssize_t m, const float* said, float word, int kind
) noexcept nogil:
    """How well a cell fits what is asked."""
    cdef Fact found[15]
    cdef Py_ssize_t i, d, D = cells.size
    cdef Py_ssize_t n_found = facts_now(cells, m, word, kind, found)
    cdef const float* query = said + 1 + N_FACTS
    cdef const float* row = cells.marks + m * N_MARKS * D
    cdef const float* product
    cdef float* sum = cells.sum
    cdef float value, judged = 0
    cdef double total = 0
    for d in range(D):
        sum[d] = 0
    for i in range(N_MARKS):
        for d in range(D):
            sum[d] += row[i * D + d]
    for i in range(n_found):
        value = <float>found[i].value
        if value == 0:
            continue
        total += value * said[1 + found[i].which]
        row = cells.judge + found[i].which * D
        for d in range(D):
            sum[d] += value * row[d]
    row = cells.judge + N_FACTS * D
    product = row + D
    for d in range(D):
        if product[d] > 0:
            judged += query[d] * tanhf(sum[d]) * row[d]
        elif query[d] + sum[d] > 0:
            judged += (query[d] + sum[d]) * row[d]
    return total + judged


cdef void share(
    Cells cells, const float* said, float word, int kind, double* shares
) noexcept nogil:
    """How probably each cell is meant, and last, somebody new (M + 1,)."""
    cdef Py_ssize_t m, M = cells.n_cells
    cdef double total = 0, highest = said[0]
    shares[M] = said[0]
    for m in range(M):
        if is_open(cells.facts + m * N_KNOWN, kind):
            shares[m] = score(cells, m, said, word, kind)
            if shares[m] > highest:
                highest = shares[m]
    for m in range(M + 1):
        if m < M and not is_open(cells.facts + m * N_KNOWN, kind):
            shares[m] = 0
        else:
            shares[m] = exp(shares[m] - highest)
        total += shares[m]
    for m in range(M + 1):
        shares[m] /= total
    m = unnamed(cells, kind)
    if m >= 0:
        shares[m] += shares[M]
        shares[M] = 0


cdef Py_ssize_t unnamed(Cells cells, int kind) noexcept nogil:
    """The cell that a pronoun goes to instead of to somebody new, or -1."""
    cdef Py_ssize_t m, found = -1
    cdef double* facts
    if not kind & IS_PRONOUN:
        return -1
    for m in range(cells.n_cells):
        facts = cells.facts + m * N_KNOWN
        if facts[NAMELESS] and facts[GENDER] == kind & GENDERS:
            if found < 0 or facts[MEANT] > cells.facts[found * N_KNOWN + MEANT]:
                found = m
    return found


cdef void remember(
    Cells cells, Py_ssize_t cell, Py_ssize_t mark, const float* said
) noexcept nogil:
    """Keep one of the four things that a token says should be remembered."""
    cdef Py_ssize_t D = cells.size
    memcpy(
        cells.marks + (cell * N_MARKS + mark) * D,
        said + 1 + N_FACTS + (1 + mark) * D,
        D * sizeof(float),
    )


cdef Py_ssize_t write(
    Cells cells, Py_ssize_t cell, const float* said, float word, int kind
) noexcept nogil:
    """Link the token to a cell; the one after the last is for somebody new.

    RETURNS which cell it was.
    """
    cdef Py_ssize_t i, D = cells.size
    cdef double* clock = cells.clock
    cdef double* facts
    cdef bint new = cell == cells.n_cells
    cdef bint named = not kind & IS_PRONOUN
    cdef bint begins = named and clock[CURRENT] < 0
    if begins:
        clock[NAMES] += 1
    if new:
        cell = place(cells)
        facts = cells.facts + cell * N_KNOWN
        for i in range(N_KNOWN):
            facts[i] = 0
        facts[USED], facts[BORN] = 1, clock[TOKEN]
        facts[FIRST] = clock[PEOPLE] == 0
        for i in range(N_WORDS):
            cells.words[cell * N_WORDS + i] = -1
        memset(cells.marks + cell * N_MARKS * D, 0, N_MARKS * D * sizeof(float))
        clock[PEOPLE] += 1
    facts = cells.facts + cell * N_KNOWN
    if named or new:
        facts[LAST], facts[SENTENCE] = clock[TOKEN], clock[SENTENCES]
        facts[NAME] = clock[NAMES]
        if begins:
            facts[COUNT] += 1
        facts[NAMELESS] = not named
        remember(cells, cell, LATEST_NAME, said)
        memset(
            cells.marks + (cell * N_MARKS + AFTER_NAME) * D, 0, D * sizeof(float)
        )
    if not facts[GENDER] and (new or not named):
        facts[GENDER] = kind & GENDERS
    if kind & IS_NAME and not knows(cells, cell, word):
        cells.words[cell * N_WORDS + <Py_ssize_t>facts[NEXT_WORD] % N_WORDS] = word
        facts[NEXT_WORD] += 1
    if not named:
        facts[MEANT], facts[MEANT_SENTENCE] = clock[TOKEN] + 1, clock[SENTENCES]
        facts[MEANT_COUNT] += 1
        facts[MEANT_WORD] = word
        remember(cells, cell, LATEST_PRONOUN, said)
        clock[LATEST_MEANT] = cell
    clock[LATEST] = cell
    return cell


cdef void tick(Cells cells, const float* said) noexcept nogil:
    """The token is over: was it the first one after a name?"""
    cdef Py_ssize_t cell = <Py_ssize_t>cells.clock[CURRENT]
    cdef double* facts = cells.facts + cell * N_KNOWN
    if cell >= 0 and facts[LAST] == cells.clock[TOKEN] - 1:
        remember(cells, cell, AFTER_NAME, said)
        if facts[COUNT] == 1:
            remember(cells, cell, AFTER_FIRST, said)
