"""How articles are cut: everything once, in order, and no two articles in a piece."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refreader_spacy.pretraining.blocks import Cutter, passes


def test_streams_take_up_articles_as_they_finish_theirs():
    starts = np.array([0, 5, 6, 8])
    blocks = list(Cutter(n_streams=2, length=3)(starts, np.arange(3)))
    pieces = [
        list(
            zip(
                block.streams.tolist(),
                block.starts.tolist(),
                block.lengths.tolist(),
                block.fresh.tolist(),
                strict=True,
            )
        )
        for block in blocks
    ]
    assert pieces == [
        [(0, 0, 3, True), (1, 5, 1, True)],
        [(0, 3, 2, False), (1, 6, 2, True)],
    ]


def test_packed_tokens_are_those_of_the_pieces():
    (block,) = Cutter(n_streams=2, length=3)(np.array([0, 1, 4]), np.arange(2))
    places, sizes = block.packed()
    assert places.tolist() == [1, 0, 2, 3]
    assert sizes == [2, 1, 1]


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.integers(1, 4),
    st.integers(1, 5),
)
def test_every_token_is_read_once_and_by_the_stream_that_read_the_one_before(
    lengths, n_streams, length
):
    starts = np.cumsum([0, *lengths])
    reader = {}
    last = [None] * n_streams
    for block in Cutter(n_streams, length)(starts, np.arange(len(lengths))):
        assert block.lengths.tolist() == sorted(block.lengths, reverse=True)
        assert block.lengths.max() <= length
        for stream, start, n, fresh in zip(
            block.streams, block.starts, block.lengths, block.fresh, strict=True
        ):
            assert fresh == (start in starts)
            assert fresh or last[stream] == start - 1
            assert not any(start < begin < start + n for begin in starts)
            assert not reader.keys() & set(range(start, start + n))
            reader.update(dict.fromkeys(range(start, start + n), stream))
            last[stream] = start + n - 1
    assert len(reader) == sum(lengths)


def test_each_pass_reads_all_in_another_order():
    order = passes(np.arange(50), n_passes=2, seed=3)
    first, second = order[:50].tolist(), order[50:].tolist()
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert passes(np.arange(50), n_passes=2, seed=3).tolist() == [*first, *second]
    assert passes(np.arange(50), n_passes=1, seed=4).tolist() != first
