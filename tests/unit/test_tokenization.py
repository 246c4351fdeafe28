import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from refreader_spacy.tokenization import LONGEST_RUN, cut_runs, tokenize

nlp = spacy.blank("en")
runs = st.builds(
    lambda s, n: s * n, st.text(min_size=1, max_size=3), st.integers(1, 600)
)


@pytest.mark.parametrize("character", ["$", "(", "'", "👩‍🚀", "\u0301", ":)", "a@"])
def test_long_runs_take_linear_time(character):
    """The tokenizer's is quadratic in the length of a run, so it sees no long one."""
    text = f"Ann {character * (20_000 // len(character))} lost her key."
    seen = []

    def tokenizer(part: str) -> Doc:
        seen.append(part)
        return nlp.tokenizer(part)

    doc = tokenize(tokenizer, text)
    assert "".join(seen) == text
    assert max(len(run) for part in seen for run in part.split()) <= LONGEST_RUN
    assert doc.text == text
    assert [text[t.idx : t.idx + len(t)] for t in doc] == [t.text for t in doc]
    assert doc[-3:].text == "her key."


@given(st.lists(st.text(max_size=20) | runs, max_size=5).map("".join))
def test_parts_are_the_text_and_have_no_long_run(text):
    parts = cut_runs(text)
    assert "".join(parts) == text
    assert all(len(run) <= LONGEST_RUN for part in parts for run in part.split())
    assert tokenize(nlp.tokenizer, text).text == text


@given(st.text(max_size=200))
def test_other_texts_are_tokenized_as_ever(text):
    expected = [(token.text, token.whitespace_) for token in nlp.tokenizer(text)]
    found = tokenize(nlp.tokenizer, text)
    assert [(token.text, token.whitespace_) for token in found] == expected


def test_a_run_of_the_greatest_length_is_whole():
    url = "http://example.com/" + "a" * (LONGEST_RUN - 19)
    assert cut_runs(f"See {url} there") == [f"See {url} there"]
    assert cut_runs(f"See {url}/ there") == [f"See {url}", "/ there"]
