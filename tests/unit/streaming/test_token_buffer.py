from itertools import pairwise

import spacy
from hypothesis import given
from hypothesis import strategies as st

from refreader_spacy.streaming import token_buffer
from refreader_spacy.streaming.token_buffer import TokenBuffer

TOKENIZER = spacy.blank("en").tokenizer
TEXTS = st.text(st.sampled_from("ab.'-:)( \n\t\u00a0\u2003$5"), max_size=30)


def cut(text, cuts):
    stops = [0, *sorted(c % (len(text) + 1) for c in cuts), len(text)]
    return [text[a:b] for a, b in pairwise(stops)]


def tokens_of(text):
    return [(token.text, token.whitespace_) for token in TOKENIZER(text)]


@given(TEXTS, st.lists(st.integers(0, 40), max_size=6))
def test_any_cutting_gives_the_tokens_of_the_whole(text, cuts):
    held, found = TokenBuffer(), []
    for number, piece in enumerate(cut(text, cuts)):
        ready = held.add(piece, number)
        found += tokens_of("".join(part.text for part in ready))
    found += tokens_of("".join(part.text for part in held.take_all()))
    assert found == tokens_of(text)


def test_a_word_waits_for_its_end_and_no_longer():
    held = TokenBuffer()
    assert held.add("Ann me", 1) == [("Ann ", 1)]
    assert held.add("t ", 2) == [("me", 1), ("t ", 2)]
    assert held.add("Bo\n", 3) == [("Bo", 3)]
    assert held.take_all() == [("\n", 3)]
    assert held.take_all() == []


def test_work_is_linear_where_neither_words_nor_spaces_end(monkeypatch):
    looked_at = []
    safe_length = token_buffer.safe_length

    def counted(text):
        looked_at.append(len(text))
        return safe_length(text)

    monkeypatch.setattr(token_buffer, "safe_length", counted)
    for piece in ("ab", " ", "\n"):
        held = TokenBuffer()
        for _ in range(5000):
            held.add(piece, None)
    assert sum(looked_at) < 3 * 4 * 5000
