import numpy as np
import pytest
import spacy

from refreader_spacy.lang.en.pronouns import Case, Pronoun
from refreader_spacy.lang.en.words import Gender, Number
from refreader_spacy.reader.mentions import Field, Kind, Voice, describe_mentions
from refreader_spacy.reader.tokens import TextState, token_rows

NLP = spacy.blank("en")


def described(text, head, start):
    rows = token_rows(NLP.make_doc(text), TextState()).rows
    return describe_mentions(rows, np.array([head]), np.array([start]))


@pytest.mark.parametrize(
    ("text", "head", "start", "kind"),
    [
        ("they met Ann Lee", 3, 2, Kind.NAME),
        ("Lee left", 0, 0, Kind.CAPITAL_START),
        ("saw the old man", 3, 1, Kind.DEFINITE),
        ("saw a man", 2, 1, Kind.INDEFINITE),
        ("saw this man", 2, 1, Kind.DEMONSTRATIVE),
        ("saw his mother", 2, 1, Kind.POSSESSIVE),
        ("saw Ann's mother", 3, 1, Kind.POSSESSIVE),
        ("saw two men", 2, 1, Kind.QUANTIFIED),
        ("drink water", 1, 1, Kind.BARE),
        ("saw Ann and Bo", 2, 1, Kind.CONJUNCTION),
        ("saw her", 1, 1, Pronoun.SHE),
        ("saw this", 1, 1, Pronoun.THIS),
    ],
)
def test_kinds(text, head, start, kind):
    assert described(text, head, start).fields[0, Field.KIND] == kind


@pytest.mark.parametrize(
    ("text", "head", "start", "gender"),
    [
        ("saw Mrs. Lee", 2, 1, Gender.FEMININE),
        ("saw John Mary Lee", 3, 1, Gender.MASCULINE),
        ("saw his mother", 2, 1, Gender.FEMININE),
        ("saw the table", 2, 1, Gender.UNKNOWN),
        ("saw John and Bo", 2, 1, Gender.UNKNOWN),
    ],
)
def test_genders(text, head, start, gender):
    assert described(text, head, start).fields[0, Field.GENDER] == gender


def test_a_name_of_one_word_may_be_a_surname_so_its_gender_is_kept_apart():
    for text, head, start, gender, given in (
        ("saw Mary", 1, 1, Gender.UNKNOWN, Gender.FEMININE),
        ("saw John Mary", 2, 1, Gender.MASCULINE, Gender.UNKNOWN),
        ("saw Mum", 1, 1, Gender.FEMININE, Gender.UNKNOWN),
    ):
        fields = described(text, head, start).fields[0]
        assert fields[[Field.GENDER, Field.GIVEN]].tolist() == [gender, given], text


def test_the_case_of_a_pronoun_is_known():
    for word, case in (("him", Case.OBJECT), ("He", Case.SUBJECT), ("Ann", 0)):
        assert described(f"saw {word}", 1, 1).fields[0, Field.CASE] == case


@pytest.mark.parametrize(
    ("text", "head", "start", "number"),
    [
        ("saw the dogs", 2, 1, Number.PLURAL),
        ("saw his dogs", 2, 1, Number.PLURAL),
        ("saw a species", 2, 1, Number.SINGULAR),
        ("saw James", 1, 1, Number.UNKNOWN),
        ("saw Ann and Bo", 2, 1, Number.PLURAL),
        ("saw these sheep", 2, 1, Number.PLURAL),
    ],
)
def test_numbers(text, head, start, number):
    assert described(text, head, start).fields[0, Field.NUMBER] == number


def test_a_string_is_the_same_without_its_determiner():
    text = "The red car stopped . A red car came ; my blue car left"
    rows = token_rows(NLP.make_doc(text), TextState()).rows
    table = describe_mentions(rows, np.array([2, 7, 12]), np.array([0, 5, 10]))
    first, second, third = table.fields[:, Field.STRING]
    assert first == second != third
    assert len({*table.fields[:, Field.STEM]}) == 1


def test_titles_are_no_names():
    mr_brown, mr_white = (
        described(f"saw Mr. {n}", 2, 1).names[0] for n in ("Brown", "White")
    )
    assert not {*mr_brown[mr_brown > 0]} & {*mr_white[mr_white > 0]}
    assert described("saw the Captain", 2, 2).names[0].any()


def test_an_acronym_has_the_initials_that_it_stands_for():
    long = described("the World Trade Organization", 3, 1).fields[0, Field.INITIALS]
    short = described("the WTO", 1, 1).fields[0, Field.LETTERS]
    assert long == short > 0
    assert described("the World", 1, 1).fields[0, Field.INITIALS] == 0


@pytest.mark.parametrize(
    ("text", "head", "voice"),
    [
        ("Then I left", 1, Voice.I),
        ("Then we left", 1, Voice.I),
        ("Then you left", 1, Voice.YOU),
        ("Then she left", 1, Voice.OTHERS),
        ("Then Ann left", 1, Voice.OTHERS),
        ('Ann said: "I left', 4, Voice.I + 1),
        ('Ann said: "she left', 4, Voice.OTHERS + 1),
    ],
)
def test_voices(text, head, voice):
    assert described(text, head, head).fields[0, Field.VOICE] == voice
