"""English pronouns: whom they can mean, and what their forms say."""

from __future__ import annotations

from enum import IntEnum

from refreader_spacy.lang.en.words import Gender, words


class Pronoun(IntEnum):
    """Classes of pronouns; a class is shared by all cases of one person."""

    NONE = 0
    HE = 1
    SHE = 2
    IT = 3
    THEY = 4
    I = 5  # noqa: E741
    WE = 6
    YOU = 7
    THIS = 8
    WHO = 9
    ONE = 10


class Case(IntEnum):
    """What a personal pronoun's form says about its place in the sentence."""

    SUBJECT = 1
    OBJECT = 2
    EITHER = 3  # "it", "you"
    POSSESSIVE = 4  # "his", "hers"
    AMBIGUOUS = 5  # "her"
    REFLEXIVE = 6


_PERSONAL = {
    Pronoun.HE: {
        Case.SUBJECT: "he",
        Case.OBJECT: "him",
        Case.POSSESSIVE: "his",
        Case.REFLEXIVE: "himself",
    },
    Pronoun.SHE: {
        Case.SUBJECT: "she",
        Case.AMBIGUOUS: "her",
        Case.POSSESSIVE: "hers",
        Case.REFLEXIVE: "herself",
    },
    Pronoun.IT: {
        Case.EITHER: "it",
        Case.POSSESSIVE: "its",
        Case.REFLEXIVE: "itself",
    },
    Pronoun.THEY: {
        Case.SUBJECT: "they",
        Case.OBJECT: "them 'em",
        Case.POSSESSIVE: "their theirs",
        Case.REFLEXIVE: "themselves themself",
    },
    Pronoun.I: {
        Case.SUBJECT: "i",
        Case.OBJECT: "me",
        Case.POSSESSIVE: "my mine",
        Case.REFLEXIVE: "myself",
    },
    Pronoun.WE: {
        Case.SUBJECT: "we",
        Case.OBJECT: "us",
        Case.POSSESSIVE: "our ours",
        Case.REFLEXIVE: "ourselves",
    },
    Pronoun.YOU: {
        Case.SUBJECT: "thou",
        Case.OBJECT: "thee",
        Case.EITHER: "you ye ya",
        Case.POSSESSIVE: "your yours thy thine",
        Case.REFLEXIVE: "yourself yourselves thyself",
    },
}
DEMONSTRATIVES = words("this that these those")
CASE_OF = {
    word: case
    for forms in _PERSONAL.values()
    for case, text in forms.items()
    for word in words(text)
}
PRONOUN_OF = {
    **{
        word: pronoun
        for pronoun, forms in _PERSONAL.items()
        for text in forms.values()
        for word in words(text)
    },
    **dict.fromkeys(DEMONSTRATIVES, Pronoun.THIS),
    **dict.fromkeys(words("who whom whose which"), Pronoun.WHO),
    **dict.fromkeys(words("one ones oneself"), Pronoun.ONE),
}
# "her one wish" has the numeral
PRONOUNS = frozenset(word for word, which in PRONOUN_OF.items() if which != Pronoun.ONE)
# Mentions by themselves that say nothing of what they mean
PRO_FORMS = frozenset(PRONOUN_OF) | words("both another other others")
REFLEXIVES = words("oneself") | {
    word for word, case in CASE_OF.items() if case == Case.REFLEXIVE
}
POSSESSIVES = frozenset(
    word for word, case in CASE_OF.items() if case in (Case.POSSESSIVE, Case.AMBIGUOUS)
)
POSSESSIVE_DETERMINERS = POSSESSIVES - words("mine ours yours hers theirs thine")
_GENDERS = {
    Pronoun.HE: Gender.MASCULINE,
    Pronoun.SHE: Gender.FEMININE,
    Pronoun.IT: Gender.NEUTER,
}


def pronoun_gender(pronoun: Pronoun) -> Gender:
    """The gender that a pronoun tells."""
    return _GENDERS.get(pronoun, Gender.UNKNOWN)
