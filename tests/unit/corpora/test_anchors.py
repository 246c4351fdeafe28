import pytest
from hypothesis import given
from hypothesis import strategies as st

from refreader_spacy.corpora.anchors import anchors


@pytest.mark.parametrize(
    ("text", "spans", "heads", "expected"),
    [
        ("John Smith left", [(0, 2)], [0], [1]),
        ("the man left", [(0, 2)], [1], [1]),
        ("President of France", [(0, 3)], [0], [0]),
        ("isles Of Thule", [(0, 3)], [0], [0]),  # a title's "Of" is no name
        ("John and Mary", [(0, 3), (0, 1), (2, 3)], [0, 0, 2], [1, 0, 2]),
        ("men , women or dogs", [(0, 5), (0, 1)], [0, 0], [1, 0]),
        # No coordinator: the next free token, first to the right, then to the left
        ("DAZ ( deleted )", [(0, 4), (0, 1)], [0, 0], [1, 0]),
        ("his old dog", [(0, 3), (0, 1), (2, 3)], [2, 0, 2], [1, 0, 2]),
        # Whoever wants a token for itself has it before those that look for one
        ("dog , cat", [(0, 3), (0, 1), (0, 2), (1, 2)], [0, 0, 0, 1], [2, 0, None, 1]),
        ("he", [(0, 1), (0, 1)], [0, 0], [0, None]),
        ("", [], [], []),
    ],
)
def test_no_two_mentions_share_an_anchor(text, spans, heads, expected):
    found = anchors(text.split(), spans, heads)
    assert found.tokens == expected
    assert found.n_dropped == expected.count(None)


def test_those_that_had_to_move_are_counted():
    spans, heads = [(0, 3), (0, 1), (2, 3), (2, 3)], [0, 0, 2, 2]
    found = anchors(["John", "and", "Mary"], spans, heads)
    assert found.tokens == [1, 0, 2, None]
    assert (found.n_moved, found.n_dropped) == (1, 1)


@st.composite
def mentions(draw):
    words = draw(st.lists(st.sampled_from(["Ann", "dog", "and", ","]), min_size=1))
    spans, heads = [], []
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, len(words) - 1))
        end = draw(st.integers(start + 1, len(words)))
        spans.append((start, end))
        heads.append(draw(st.integers(start, end - 1)))
    return words, spans, heads


@given(mentions())
def test_anchors_are_inside_and_unique(given):
    words, spans, heads = given
    tokens = anchors(words, spans, heads).tokens
    found = [token for token in tokens if token is not None]
    assert len(set(found)) == len(found)
    for (start, end), token in zip(spans, tokens, strict=True):
        inside = set(range(start, end))
        assert token in inside if token is not None else inside <= set(found)
