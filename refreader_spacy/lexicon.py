"""English words that decide what can be a mention and how it is replaced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files

import numpy as np
from spacy.lexeme import Lexeme
from spacy.tokens import Doc

from refreader_spacy.decode import KIND, Gender, Kinds, TokenKind


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSSESSIVES = words(
    "my mine our ours your yours his her hers its their theirs thy thine"
)
PLURAL_POSSESSIVES = words("our ours your yours their theirs")
REFLEXIVES = words(
    "myself ourselves yourself yourselves himself herself itself themself themselves "
    "oneself thyself"
)
RELATIVES = words("who whom whose")  # "that" and "which" are more often something else
PRONOUNS = POSSESSIVES | REFLEXIVES | RELATIVES
PRONOUNS |= words("i me we us you he him she her it they them 'em thou thee ye")
GENDERS = {
    **dict.fromkeys(words("he him his himself"), Gender.HE),
    **dict.fromkeys(words("she her hers herself"), Gender.SHE),
    **dict.fromkeys(words("it its itself"), Gender.IT),
}
TITLES = {
    **dict.fromkeys(words("Mr. Mr Sir"), Gender.HE),
    **dict.fromkeys(words("Mrs. Mrs Ms. Ms Miss"), Gender.SHE),
}

DETERMINERS = words(
    "a an the this that these those some any each every no both all another"
)
# What follows "her" where it is an object: "saw her again", "told her that ..."
AFTER_OBJECTS = words(
    "to in on at for with without from by about as of off out up over into onto "
    "through against around before after until since during and or but nor so if when "
    "while because though although than that which who whom how why what where whether "
    "not is was were are be will would had has have can could should may might must "
    "did does again too there here then now once alone away today yesterday tomorrow"
)
CLITICS = frozenset({"'s", "’s"})  # noqa: RUF001
HYPHENS = frozenset({"-", "‐", "‑"})  # noqa: RUF001


def token_kinds(doc: Doc, before: int = Gender.NONE) -> Kinds:
    """Each token's TokenKind, and its Gender if it has one (T,).

    A hyphen inside a word is as ordinary as its neighbours: "Jean-Paul" is one name.

    before (int): What was said of a name that the Doc may go on with.
    """
    orths, spaces = doc.to_array(["ORTH", "SPACY"]).T
    words, word_of_token = np.unique(orths, return_inverse=True)
    lexemes = [doc.vocab[word] for word in words]
    kinds = np.array([word_kind(lexeme) for lexeme in lexemes], dtype=np.uint8)
    hyphens = np.array([lexeme.text in HYPHENS for lexeme in lexemes], dtype=bool)
    kinds, hyphens = kinds[word_of_token], hyphens[word_of_token]
    inside = np.zeros(len(doc), dtype=bool)
    inside[1:-1] = (spaces[:-2] == 0) & (spaces[1:-1] == 0)
    kinds[hyphens & inside] = TokenKind.ORDINARY
    capitals = np.array([is_capital(lexeme) for lexeme in lexemes], dtype=bool)
    capitals = capitals[word_of_token] & ((kinds & KIND) == TokenKind.ORDINARY)
    for i, gender, _ in _names(doc, np.flatnonzero(capitals).tolist(), before):
        kinds[i] |= gender
    return kinds


def said_of_name(doc: Doc, before: int = Gender.NONE) -> int:
    """What was said of the name that the Doc ends with, for the next to go on with."""
    start = len(doc)
    while start and is_name(doc.vocab[doc[start - 1].orth]):
        start -= 1
    for _, _, said in _names(doc, range(start, len(doc)), 0 if start else before):
        before = said
    return before if start < len(doc) or not len(doc) else Gender.NONE


def _names(
    doc: Doc, capitals: Iterable[int], before: int
) -> Iterator[tuple[int, int, int]]:
    """Of each capitalised word: its number, its gender, and that of what may follow.

    "John Smith" and "Mr. Jones" are of a gender from their second word on, as "John" by
    itself may be a surname; women's names hardly ever are.
    """
    said, last = before, -1
    for i in capitals:
        if i != last + 1:
            said = Gender.NONE
        last = i
        own = given_names().get(doc[i].text, Gender.NONE)
        alone = own if own == Gender.SHE else Gender.NONE
        yield i, said or alone, said or own
        said = said or own


def is_capital(word: Lexeme) -> bool:
    return word.text[:1].isupper()


def is_name(word: Lexeme) -> bool:
    """Can it be a part of a name?"""
    return is_capital(word) and word_kind(word) == TokenKind.ORDINARY


def word_kind(word: Lexeme) -> int:
    """What a word may be to a mention, wherever it stands."""
    lower = word.lower_
    if word.is_punct or word.is_space or lower in CLITICS:
        return TokenKind.NEVER
    if lower in PRONOUNS:
        return TokenKind.ALONE + GENDERS.get(lower, Gender.NONE)
    return TokenKind.ORDINARY


@lru_cache
def given_names() -> dict[str, Gender]:
    """First names whose bearers in the biographies are all but always of one gender.

    Without those that are places as well; and titles.
    """
    text = (files("refreader_spacy") / "given_names.json").read_text("utf8")
    listed = {
        name: Gender[gender.upper()]
        for gender, names in json.loads(text).items()
        for name in names.split()
    }
    return listed | TITLES
