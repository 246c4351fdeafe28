import pytest

from refreader_spacy.lang.en.spacing import guessed_spaces


@pytest.mark.parametrize(
    "text",
    [
        "",
        "He left.",
        "No, she said; not (yet).",
        "“Yes,” she said.",
        '"Yes," she said, "I do."',
        "I can't; it's John's, don't you see?",
        "Home--or not--at last...",
        "‘Well,’ he said.",  # noqa: RUF001
    ],
)
def test_text_is_put_together_as_it_is_written(nlp, text):
    words = [token.text for token in nlp.make_doc(text)]
    spaces = guessed_spaces(words)
    joined = "".join(w + " " * s for w, s in zip(words, spaces, strict=True))
    assert joined.rstrip() == text
