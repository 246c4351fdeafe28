import pytest

from refreader_spacy.lang.en.lexemes import Column, Determiner, Role, word_row
from refreader_spacy.lang.en.pronouns import Pronoun
from refreader_spacy.lang.en.words import Gender, Number

# What weights were trained with: with other values, they would read something else.
ROWS = [
    ("Herself", Column.PRONOUN, Pronoun.SHE),
    ("themself", Column.REFLEXIVE, 1),
    ("ya", Column.PRONOUN, Pronoun.YOU),
    ("ones", Column.PRONOUN, Pronoun.ONE),
    ("thyself", Column.PRONOUN, Pronoun.YOU),
    ("thyself", Column.REFLEXIVE, 1),
    ("'s", Column.PRONOUN, Pronoun.NONE),
    ("US", Column.PRONOUN, Pronoun.NONE),
    ("us", Column.PRONOUN, Pronoun.WE),
    ("mr.", Column.GENDER, Gender.MASCULINE),
    ("Queen", Column.GENDER, Gender.FEMININE),
    ("Mary", Column.GENDER, Gender.FEMININE),
    ("mary", Column.GENDER, Gender.UNKNOWN),
    ("its", Column.GENDER, Gender.NEUTER),
    ("ten", Column.NUMBER, Number.PLURAL),
    ("people", Column.NUMBER, Number.PLURAL),
    ("ours", Column.NUMBER, Number.PLURAL),
    ("another", Column.NUMBER, Number.SINGULAR),
    ("you", Column.NUMBER, Number.UNKNOWN),
    ("such", Column.DETERMINER, Determiner.DEMONSTRATIVE),
    ("thy", Column.DETERMINER, Determiner.POSSESSIVE),
    ("thine", Column.DETERMINER, Determiner.NONE),
    ("million", Column.DETERMINER, Determiner.QUANTIFIER),
    ("eleven", Column.DETERMINER, Determiner.QUANTIFIER),
    ("nor", Column.ROLE, Role.CONJUNCTION),
    ("Dr.", Column.ROLE, Role.TITLE),
    ("Pope", Column.ROLE, Role.TITLE),
    ("’s", Column.ROLE, Role.CLITIC),  # noqa: RUF001
    ("miss", Column.FUNCTION, 1),
    ("another", Column.FUNCTION, 0),
    ("Captain", Column.FUNCTION, 0),
]


@pytest.mark.parametrize(("word", "column", "value"), ROWS)
def test_a_words_row_is_what_weights_were_trained_with(word, column, value):
    assert word_row(word)[column] == value
