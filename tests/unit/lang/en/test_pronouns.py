import pytest

from refreader_spacy.lang.en.pronouns import (
    CASE_OF,
    POSSESSIVE_DETERMINERS,
    POSSESSIVES,
    PRO_FORMS,
    PRONOUN_OF,
    PRONOUNS,
    REFLEXIVES,
    Case,
    Pronoun,
    pronoun_gender,
)
from refreader_spacy.lang.en.words import Gender


@pytest.mark.parametrize(
    ("word", "pronoun", "case", "gender"),
    [
        ("him", Pronoun.HE, Case.OBJECT, Gender.MASCULINE),
        ("her", Pronoun.SHE, Case.AMBIGUOUS, Gender.FEMININE),
        ("itself", Pronoun.IT, Case.REFLEXIVE, Gender.NEUTER),
        ("theirs", Pronoun.THEY, Case.POSSESSIVE, Gender.UNKNOWN),
        ("thyself", Pronoun.YOU, Case.REFLEXIVE, Gender.UNKNOWN),
        ("which", Pronoun.WHO, None, Gender.UNKNOWN),
        ("those", Pronoun.THIS, None, Gender.UNKNOWN),
    ],
)
def test_a_form_tells_class_case_and_gender(word, pronoun, case, gender):
    assert PRONOUN_OF[word] == pronoun
    assert CASE_OF.get(word) == case
    assert pronoun_gender(pronoun) == gender


def test_classes_of_forms_agree():
    assert POSSESSIVE_DETERMINERS < POSSESSIVES < PRONOUNS < PRO_FORMS
    assert {"his", "its", "thy"} < POSSESSIVE_DETERMINERS
    assert "hers" not in POSSESSIVE_DETERMINERS
    assert not POSSESSIVES & REFLEXIVES
    assert "one" not in PRONOUNS
    assert "one" in PRO_FORMS
