from itertools import pairwise

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from refreader_spacy.decoding.decoder import GENDER, KIND, Gender
from refreader_spacy.lang.en.words import said_of_name, token_kinds


@pytest.mark.parametrize(
    ("text", "expected"),  # . ordinary, * alone, x never
    [
        ("Mary gave him her book.", "..**.x"),
        ("Ahab's hat, Ahab’s!", ".x.x.xx"),  # noqa: RUF001
        ("Jean-Paul left - HE did -", "....x*.x"),
        ("Moby-Dick  sank\n", "...x.x"),
        ("", ""),
    ],
)
def test_tokens_are_of_a_kind(text, expected):
    kinds = token_kinds(spacy.blank("en")(text))
    assert "".join(".*x"[kind & KIND] for kind in kinds) == expected


@pytest.mark.parametrize(
    ("text", "expected"),  # he, she, it
    [
        ("He gave her its book, HIS.", "h.si..h."),
        ("John Smith met Mary Jones", ".h.ss"),
        ("Jennifer Lawrence and George Michael", "ss..h"),
        ("James saw Thomas", "..."),  # may be surnames
        ("Mr. Jones, Mrs. Smith", ".h.ss"),
        ("Mary. Jones", "s.."),
        ("mary jones", ".."),
    ],
)
def test_some_words_tell_a_gender(text, expected):
    kinds = token_kinds(spacy.blank("en")(text))
    letters = {Gender.NONE: ".", Gender.HE: "h", Gender.SHE: "s", Gender.IT: "i"}
    assert "".join(letters[kind & GENDER] for kind in kinds) == expected


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["John", "Mary", "Mr.", "Smith", "saw", "he", ",", "-"])),
    st.sets(st.integers(0, 10)),
)
def test_names_go_on_where_pieces_meet(words, cuts):
    vocab = Vocab()
    whole = token_kinds(Doc(vocab, words=words)).tolist()
    said, parts = Gender.NONE, []
    for start, end in pairwise(
        [0, *sorted(c for c in cuts if c < len(words)), len(words)]
    ):
        doc = Doc(vocab, words=words[start:end])
        parts += token_kinds(doc, said).tolist()
        said = said_of_name(doc, said)
    assert parts == whole
