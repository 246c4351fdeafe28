"""Texts that are encoded together are read in smaller groups."""

import pytest

from refreader_spacy.reader.entity_reader import runs


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([9], [[9]]),  # longer than allowed, but alone
        ([2, 2, 1, 1, 4, 9, 0], [[2, 2], [1, 1], [4], [9], [0]]),
        ([0, 0, 4, 0], [[0, 0, 4, 0]]),
    ],
)
def test_runs_sum_to_no_more_than_allowed(sizes, expected):
    assert [sizes[some] for some in runs(sizes, 4)] == expected
