import pytest

from refreader_spacy.lang.en.words import (
    Gender,
    given_names,
    is_plural_noun,
    name_gender,
)


def test_given_names_and_titles_tell_a_gender():
    names = given_names()
    assert names["Mary"] == names["Mrs."] == Gender.FEMININE
    assert names["John"] == names["Mr."] == Gender.MASCULINE
    assert "Xyz" not in names


@pytest.mark.parametrize(
    ("name", "gender"),
    [
        ("Dr. Mary John", Gender.FEMININE),
        ("Mr. Xyz", Gender.MASCULINE),
        ("Xyz", Gender.UNKNOWN),
        ("", Gender.UNKNOWN),
    ],
)
def test_the_first_word_that_tells_a_gender_counts(name, gender):
    assert name_gender(name.split()) == gender


@pytest.mark.parametrize(
    ("word", "is_plural"),
    [
        ("dogs", True),
        ("Cities", True),
        ("people", True),
        ("dog", False),
        ("class", False),
        ("species", False),
        ("physics", False),
        ("gas", False),
    ],
)
def test_a_nouns_ending_tells_its_number(word, is_plural):
    assert is_plural_noun(word) == is_plural
