"""What is known of an English word by itself: one row of small integers per word.

The columns are read by the default reader, as inputs and as features of mentions. All
of it is evidence that the reader weighs; nothing here decides anything.
"""

from __future__ import annotations

import re
from enum import IntEnum
from zlib import crc32

from refreader_spacy.lang.en.pronouns import (
    CASE_OF,
    DEMONSTRATIVES,
    POSSESSIVE_DETERMINERS,
    PRONOUN_OF,
    REFLEXIVES,
    Pronoun,
    pronoun_gender,
)
from refreader_spacy.lang.en.words import (
    CLITICS,
    COORDINATORS,
    DATES,
    DETERMINERS,
    FEMININE_TITLES,
    GREETINGS,
    IMPERATIVES,
    IRREGULAR_PLURALS,
    MASCULINE_TITLES,
    NAME_PREFIXES,
    NUMERALS,
    TITLES,
    Gender,
    Number,
    given_names,
    stem_of,
    words,
)


class Determiner(IntEnum):
    """Classes of words that a noun phrase begins with."""

    NONE = 0
    DEFINITE = 1
    INDEFINITE = 2
    DEMONSTRATIVE = 3
    POSSESSIVE = 4
    QUANTIFIER = 5


class Role(IntEnum):
    """Closed classes of words that shape a text or a mention."""

    NONE = 0
    SENTENCE_END = 1
    QUOTE = 2
    OPENING_QUOTE = 3
    CLOSING_QUOTE = 4
    CLITIC = 5
    CONJUNCTION = 6
    PUNCTUATION = 7
    TITLE = 8
    CLOSING = 9
    COLON = 10
    GREETING = 11
    NAME_PREFIX = 12
    IMPERATIVE = 13
    DATE = 14  # a day or a month


class Column(IntEnum):
    """The columns of a word's row."""

    WORD = 0  # a hash of the lower-cased word, never 0
    STEM = 1  # the same without a plural ending
    PREFIX = 2
    SUFFIX = 3
    SHAPE = 4
    CAPITAL = 5  # 0 no, 1 initial, 2 all capitals
    DIGIT = 6
    PRONOUN = 7
    GENDER = 8
    NUMBER = 9
    DETERMINER = 10
    ROLE = 11
    REFLEXIVE = 12
    FUNCTION = 13  # is it a word that says nothing about who or what is meant?
    LINES = 14  # is it white space with a line break?
    SPACE = 15
    LOWERCASE = 16  # does it begin with a lower-case letter?
    INITIAL = 17  # its first character
    LETTERS = 18  # a hash of its letters, if it may be an acronym
    CASE = 19  # a pronoun's Case, or 0
    GIVEN = 20  # is its gender that of a given name?


HASH_BITS = 0x7FFFFFFF

SEVERAL = NUMERALS | words("both many several few hundred thousand million")
_DETERMINERS = {
    Determiner.DEFINITE: words("the"),
    Determiner.INDEFINITE: words("a an another"),
    Determiner.DEMONSTRATIVE: DEMONSTRATIVES | {"such"},
    Determiner.POSSESSIVE: POSSESSIVE_DETERMINERS | {"whose"},
    Determiner.QUANTIFIER: (
        SEVERAL | words("some any each every no all much most more other")
    ),
}
DETERMINER_OF = {
    word: determiner for determiner, group in _DETERMINERS.items() for word in group
}
MASCULINE_NOUNS = MASCULINE_TITLES | words(
    "man men boy boys father fathers son sons brother brothers husband husbands uncle "
    "king kings prince lord gentleman gentlemen dad daddy grandfather nephew guy guys "
    "fellow lad bishop priest monk actor waiter duke baron emperor widower boyfriend "
    "groom hero policeman businessman chairman grandson stepfather"
)
FEMININE_NOUNS = FEMININE_TITLES | words(
    "woman women girl girls mother mothers daughter daughters sister sisters wife "
    "wives aunt queen queens princess lady ladies madam mum mom mama grandmother "
    "niece nun actress waitress duchess empress widow girlfriend bride heroine "
    "businesswoman chairwoman granddaughter stepmother maid"
)
FUNCTION_WORDS = (
    (DETERMINERS - {"another"})
    | POSSESSIVE_DETERMINERS
    | CLITICS
    | MASCULINE_TITLES
    | FEMININE_TITLES
    | words("such whose of ' and or & , - . dr dr.")
)
ACRONYMS = words("US IT WHO")  # not the pronouns that they look like
ONE = words("this that a an each every another one")
MANY = SEVERAL | IRREGULAR_PLURALS | words("these those ones")
ROLE_OF: dict[str, Role] = {
    **dict.fromkeys(IMPERATIVES, Role.IMPERATIVE),
    **dict.fromkeys(DATES, Role.DATE),
    **dict.fromkeys(NAME_PREFIXES, Role.NAME_PREFIX),
    **dict.fromkeys(GREETINGS, Role.GREETING),
    **dict.fromkeys(TITLES, Role.TITLE),
    **dict.fromkeys(
        (".", "!", "?", "…", "...", "?!", "!!", "..", "!?"), Role.SENTENCE_END
    ),
    **dict.fromkeys(('"', "''"), Role.QUOTE),
    **dict.fromkeys(("“", "``", "«", "„"), Role.OPENING_QUOTE),
    **dict.fromkeys(("”", "»"), Role.CLOSING_QUOTE),
    **dict.fromkeys(("'s", "’s", "'", "’"), Role.CLITIC),  # noqa: RUF001
    **dict.fromkeys(COORDINATORS, Role.CONJUNCTION),
    **dict.fromkeys((")", "]", "}"), Role.CLOSING),
    ":": Role.COLON,
}


def text_hash(text: str) -> int:
    """A hash of a text that is the same on every machine, from 1 to 2**31 - 1."""
    return crc32(text.encode("utf8", "surrogatepass")) & HASH_BITS or 1


def name_hash(name: str) -> int:
    """Of a name as a mention of the same words has it, without regard to capitals."""
    return sequence_hash([text_hash(word) for word in name.lower().split()]) or 1


def word_shape(word: str) -> str:
    """Upper, lower, digit and other characters, runs shortened to two."""
    classes = [
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c
        for c in word[:32]
    ]
    return re.sub(r"(.)\1\1+", r"\1\1", "".join(classes))


def word_row(word: str) -> tuple[int, ...]:
    """What is known of a word, as the columns of `Column`."""
    lower = word.lower()
    pronoun = PRONOUN_OF.get(lower, Pronoun.NONE)
    if word in ACRONYMS:
        pronoun = Pronoun.NONE
    alpha = any(c.isalnum() for c in word)
    role = ROLE_OF.get(lower)
    if role is None:
        is_mark = not alpha and not word.isspace()
        role = Role.PUNCTUATION if is_mark else Role.NONE
    capital = 0
    if word[:1].isupper():
        capital = 2 if len(word) > 1 and word.isupper() else 1
    if lower == "i":
        capital = 0
    return (
        text_hash(lower),
        text_hash(stem_of(lower)),
        text_hash("<" + lower[:3]),
        text_hash(lower[-3:] + ">"),
        text_hash(word_shape(word)),
        capital,
        int(any(c.isdigit() for c in word)),
        pronoun,
        _gender(word, lower, pronoun),
        _number(lower, pronoun),
        DETERMINER_OF.get(lower, Determiner.NONE),
        role,
        int(lower in REFLEXIVES and pronoun > 0),
        int(lower in FUNCTION_WORDS or not alpha),
        int(word.isspace() and "\n" in word),
        int(word.isspace()),
        int(word[:1].islower()),
        ord(word[:1] or " "),
        sequence_hash([ord(c) for c in word]) if _may_be_acronym(word) else 0,
        CASE_OF.get(lower, 0) if pronoun else 0,
        int(word in given_names() and not _noun_gender(lower)),
    )


def sequence_hash(numbers: list[int]) -> int:
    """A hash of an acronym's letters, a name's initials, or a name's words."""
    total = 0
    for number in numbers:
        total = (total * 1000003 + number) & HASH_BITS
    return total


def _may_be_acronym(word: str) -> bool:
    return 2 <= len(word) <= 6 and word.isupper() and word.isalpha()


def _gender(word: str, lower: str, pronoun: Pronoun) -> Gender:
    told = _noun_gender(lower) or pronoun_gender(pronoun)
    return told or given_names().get(word, Gender.UNKNOWN)


def _noun_gender(lower: str) -> Gender:
    if lower in MASCULINE_NOUNS:
        return Gender.MASCULINE
    return Gender.FEMININE if lower in FEMININE_NOUNS else Gender.UNKNOWN


def _number(lower: str, pronoun: Pronoun) -> Number:
    if pronoun in (Pronoun.THEY, Pronoun.WE) or lower in MANY:
        return Number.PLURAL
    if pronoun in (Pronoun.HE, Pronoun.SHE, Pronoun.IT, Pronoun.I) or lower in ONE:
        return Number.SINGULAR
    if pronoun or lower in DETERMINER_OF or not lower.isalpha():
        return Number.UNKNOWN
    return Number.PLURAL if stem_of(lower) != lower else Number.SINGULAR
