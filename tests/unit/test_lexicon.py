import pytest
import spacy

from refreader_spacy.lexicon import token_kinds


@pytest.mark.parametrize(
    ("text", "expected"),  # . ordinary, * alone, x never, he, she, it
    [
        ("Mary gave him her book.", "..hs.x"),
        ("Its owner hid it from us.", "i..i.*x"),
        ("Ahab's hat, Ahab’s!", ".x.x.xx"),  # noqa: RUF001
        ("Jean-Paul left - HE did -", "....xh.x"),
        ("Moby-Dick  sank\n", "...x.x"),
        ("", ""),
    ],
)
def test_tokens_are_of_a_kind(text, expected):
    kinds = token_kinds(spacy.blank("en")(text))
    assert "".join(".*xhsi"[kind] for kind in kinds) == expected
