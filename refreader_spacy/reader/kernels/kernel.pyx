# cython: language_level=3, boundscheck=False, wraparound=False
"""The seam between Python and the compiled reader of `kernel.h`."""

cdef extern from "kernel.h" nogil:
    ctypedef struct Layer:
        const float* weight
        const float* bias
        float* panels

    ctypedef struct Reader:
        Py_ssize_t hidden_size, key_size, n_cells
        float entity_decay, word_decay, link_bias, tolerance
        Layer pre, heads, query, key, value, key_ih, key_hh, value_ih, value_hh
        Layer recurrent

    ctypedef struct Tokens:
        Py_ssize_t n
        const float* projected
        const Py_ssize_t* which

    ctypedef struct Memory:
        float* hidden
        float* keys
        float* values
        float* salience

    int read_tokens(
        const Reader* reader,
        Memory memory,
        Py_ssize_t n_docs,
        Tokens tokens,
        const Py_ssize_t* starts,
        float* gates,
    )


cdef Layer layer(pair):
    """A weight and a bias or None, which must be laid out as the loop reads them."""
    weight, bias = pair
    cdef const float[:, ::1] weights = weight
    cdef const float[::1] biases
    cdef Layer made
    made.weight = &weights[0, 0]
    made.bias = NULL
    made.panels = NULL
    if bias is not None:
        biases = bias
        made.bias = &biases[0]
    return made


cdef class Kernel:
    """A reader's weights, which stay where they are; they must not go away."""

    cdef Reader reader
    cdef object weights

    def __init__(self, weights):
        w = self.weights = weights
        self.reader.hidden_size = w.hidden_size
        self.reader.key_size = w.key_size
        self.reader.n_cells = w.n_cells
        self.reader.entity_decay = w.entity_decay
        self.reader.word_decay = w.word_decay
        self.reader.link_bias = w.link_bias
        self.reader.tolerance = w.tolerance
        self.reader.pre = layer((w.pre_hidden, None))
        self.reader.heads = layer(w.heads)
        self.reader.query = layer(w.query)
        self.reader.key = layer(w.key)
        self.reader.value = layer(w.value)
        self.reader.key_ih = layer(w.key_update.inputs)
        self.reader.key_hh = layer(w.key_update.recurrent)
        self.reader.value_ih = layer(w.value_update.inputs)
        self.reader.value_hh = layer(w.value_update.recurrent)
        self.reader.recurrent = layer(w.recurrent)

    def read(
        self,
        float[:, ::1] hidden,
        float[:, :, ::1] keys,
        float[:, :, ::1] values,
        float[:, ::1] salience,
        const float[:, ::1] projected,
        const Py_ssize_t[::1] which,
        const Py_ssize_t[::1] starts,
        float[:, :, ::1] gates,
    ):
        """Read documents, the longest first; their state and `gates` are written over.

        projected, which: As `Weights.project` gives them, all documents' end to end.
        starts: Where each begins, and where the last one ends (B + 1,).
        gates: Updates, overwrites and saliences (3, N, M).
        """
        cdef Memory memory
        cdef Tokens tokens
        cdef int failed
        tokens.n = which.shape[0]
        if not tokens.n:
            return
        memory.hidden = &hidden[0, 0]
        memory.keys = &keys[0, 0, 0]
        memory.values = &values[0, 0, 0]
        memory.salience = &salience[0, 0]
        tokens.projected = &projected[0, 0]
        tokens.which = &which[0]
        with nogil:
            failed = read_tokens(
                &self.reader, memory, hidden.shape[0], tokens, &starts[0], &gates[0, 0, 0]
            )
        if failed:
            raise MemoryError()
