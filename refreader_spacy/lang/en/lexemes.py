"""What is known of an English word by itself: one row of small integers per word.

The columns are read by the default reader, as inputs and as features of mentions. All
of it is evidence that the reader weighs; nothing here decides anything.
"""

from __future__ import annotations

import re
from enum import IntEnum
from zlib import crc32

from refreader_spacy.lang.en.words import Gender, given_names, words


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


class Number(IntEnum):
    """What a word says about how many it refers to."""

    UNKNOWN = 0
    SINGULAR = 1
    PLURAL = 2


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


HASH_BITS = 0x7FFFFFFF

_PRONOUNS = {
    Pronoun.HE: "he him his himself",
    Pronoun.SHE: "she her hers herself",
    Pronoun.IT: "it its itself",
    Pronoun.THEY: "they them their theirs themselves themself 'em",
    Pronoun.I: "i me my mine myself",
    Pronoun.WE: "we us our ours ourselves 's",
    Pronoun.YOU: "you your yours yourself yourselves thou thee thy thine ye ya",
    Pronoun.THIS: "this that these those",
    Pronoun.WHO: "who whom whose which",
    Pronoun.ONE: "one ones oneself",
}
PRONOUN_OF = {
    word: pronoun for pronoun, text in _PRONOUNS.items() for word in text.split()
}
del PRONOUN_OF["'s"]
_DETERMINERS = {
    Determiner.DEFINITE: "the",
    Determiner.INDEFINITE: "a an another",
    Determiner.DEMONSTRATIVE: "this that these those such",
    Determiner.POSSESSIVE: "my your his her its our their thy whose",
    Determiner.QUANTIFIER: (
        "some any each every no both all many much several few most more other two "
        "three four five six seven eight nine ten hundred thousand million"
    ),
}
DETERMINER_OF = {
    word: determiner
    for determiner, text in _DETERMINERS.items()
    for word in text.split()
}
MASCULINE_NOUNS = words(
    "man men boy boys father fathers son sons brother brothers husband husbands uncle "
    "king kings prince lord gentleman gentlemen sir mr mr. dad daddy grandfather "
    "nephew guy guys fellow lad bishop priest monk actor waiter duke baron emperor "
    "widower boyfriend groom hero policeman businessman chairman grandson stepfather"
)
FEMININE_NOUNS = words(
    "woman women girl girls mother mothers daughter daughters sister sisters wife "
    "wives aunt queen queens princess lady ladies madam mrs mrs. ms ms. miss mum mom "
    "mama grandmother niece nun actress waitress duchess empress widow girlfriend "
    "bride heroine businesswoman chairwoman granddaughter stepmother maid"
)
TITLES = words(
    "mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor sir lord lady captain "
    "capt. president king queen prince princess judge justice senator sen. rep. gov. "
    "governor general gen. colonel col. major lieutenant lt. sergeant sgt. mayor st. "
    "saint reverend rev. father sister brother uncle aunt madame madam monsieur m. "
    "mme. doctor minister secretary chancellor emperor duke count baron"
)
FUNCTION_WORDS = words(
    "a an the this that these those such some any each every no both all my your his "
    "her its our their thy whose of 's ’s ' and or & , - . mr mr. mrs mrs. ms ms. "  # noqa: RUF001
    "miss dr dr. sir"
)
ACRONYMS = words("US IT WHO")  # not the pronouns that they look like
ONE = words("this that a an each every another one")
MANY = words(
    "these those ones both many several few two three four five six seven eight nine "
    "ten hundred thousand million"
)
IRREGULAR_PLURALS = words("people men women children police feet teeth mice cattle")
NOT_PLURAL = re.compile(r"(ss|us|is|'s)$")
_ROLES: dict[str, Role] = {
    **dict.fromkeys(
        (".", "!", "?", "…", "...", "?!", "!!", "..", "!?"), Role.SENTENCE_END
    ),
    **dict.fromkeys(('"', "''"), Role.QUOTE),
    **dict.fromkeys(("“", "``", "«", "„"), Role.OPENING_QUOTE),
    **dict.fromkeys(("”", "»"), Role.CLOSING_QUOTE),
    **dict.fromkeys(("'s", "’s", "'", "’"), Role.CLITIC),  # noqa: RUF001
    **dict.fromkeys(("and", "or", "&", "nor"), Role.CONJUNCTION),
    **dict.fromkeys((")", "]", "}"), Role.CLOSING),
    ":": Role.COLON,
}


def text_hash(text: str) -> int:
    """A hash of a text that is the same on every machine, from 1 to 2**31 - 1."""
    return crc32(text.encode("utf8", "surrogatepass")) & HASH_BITS or 1


def word_shape(word: str) -> str:
    """Upper, lower, digit and other characters, runs shortened to two."""
    classes = [
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c
        for c in word[:32]
    ]
    return re.sub(r"(.)\1\1+", r"\1\1", "".join(classes))


def stem_of(lower: str) -> str:
    """A lower-cased word without the ending of a regular plural."""
    if len(lower) > 3 and lower.endswith("s") and not NOT_PLURAL.search(lower):
        if lower.endswith("ies") and len(lower) > 4:
            return lower[:-3] + "y"
        return lower[:-1]
    return lower


def word_row(word: str) -> tuple[int, ...]:
    """What is known of a word, as the columns of `Column`."""
    lower = word.lower()
    pronoun = PRONOUN_OF.get(lower, Pronoun.NONE)
    if word in ACRONYMS:
        pronoun = Pronoun.NONE
    alpha = any(c.isalnum() for c in word)
    role = _ROLES.get(lower)
    if role is None:
        role = Role.TITLE if lower in TITLES else Role.NONE
        if not alpha and not word.isspace():
            role = Role.PUNCTUATION
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
        int(lower.endswith(("self", "selves")) and pronoun > 0),
        int(lower in FUNCTION_WORDS or not alpha),
        int(word.isspace() and "\n" in word),
        int(word.isspace()),
        int(word[:1].islower()),
        ord(word[:1] or " "),
        letters_hash([ord(c) for c in word]) if _may_be_acronym(word) else 0,
    )


def letters_hash(letters: list[int]) -> int:
    """A hash of characters, as of an acronym's letters or a name's initials."""
    total = 0
    for letter in letters:
        total = (total * 1000003 + letter) & HASH_BITS
    return total


def _may_be_acronym(word: str) -> bool:
    return 2 <= len(word) <= 6 and word.isupper() and word.isalpha()


def _gender(word: str, lower: str, pronoun: Pronoun) -> Gender:
    if pronoun == Pronoun.HE or lower in MASCULINE_NOUNS:
        return Gender.MASCULINE
    if pronoun == Pronoun.SHE or lower in FEMININE_NOUNS:
        return Gender.FEMININE
    if pronoun == Pronoun.IT:
        return Gender.NEUTER
    return given_names().get(word, Gender.UNKNOWN)


def _number(lower: str, pronoun: Pronoun) -> Number:
    if pronoun in (Pronoun.THEY, Pronoun.WE) or lower in MANY | IRREGULAR_PLURALS:
        return Number.PLURAL
    if pronoun in (Pronoun.HE, Pronoun.SHE, Pronoun.IT, Pronoun.I) or lower in ONE:
        return Number.SINGULAR
    if pronoun or lower in DETERMINER_OF or not lower.isalpha():
        return Number.UNKNOWN
    return Number.PLURAL if stem_of(lower) != lower else Number.SINGULAR
