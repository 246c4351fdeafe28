"""English words that decide what can be a mention and how it is replaced."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files

import numpy as np
from spacy.lang.lex_attrs import is_punct
from spacy.tokens import Doc

from refreader_spacy.decoding.decoder import NAME, Gender, Kinds, TokenKind


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
INSIDE = np.uint8(TokenKind.ORDINARY + NAME)  # what a hyphen inside a word is
HYPHENS = frozenset({"-", "‐", "‑"})  # noqa: RUF001
# Of words, beside the bits of a token's kind: a hyphen, a given name or title
HYPHEN, GIVEN_HE, GIVEN_SHE = np.uint8(32), np.uint8(64), np.uint8(128)
GIVEN = GIVEN_HE | GIVEN_SHE
OF_TOKENS = np.uint8(31)
N_KNOWN = 2**17  # words whose kinds are kept

_known: dict[int, int] = {}  # by spaCy's number of the word, which is its hash


def token_kinds(doc: Doc, before: int = Gender.NONE) -> Kinds:
    """Each token's TokenKind, and what else is known of it (T,).

    Capitalised words may be parts of a name, unless they are known for something else.
    A hyphen inside a word may be one too: "Jean-Paul" is one name. "John Smith" and
    "Mr. Jones" are of a gender from their second word on, as "John" by itself may be a
    surname; women's names hardly ever are.

    before (int): What was said of a name that the Doc may go on with.
    """
    kinds, spaces = _word_kinds(doc)
    given = np.flatnonzero(kinds & GIVEN).tolist()
    hyphens = np.flatnonzero(kinds & HYPHEN)
    if given or before:
        _spread(kinds, given, before)
    kinds &= OF_TOKENS
    inside = hyphens[(hyphens > 0) & (hyphens < len(doc) - 1)]
    inside = inside[(spaces[inside - 1] == 0) & (spaces[inside] == 0)]
    kinds[inside] = INSIDE
    return kinds


def said_of_name(doc: Doc, before: int = Gender.NONE) -> int:
    """What was said of the name that the Doc ends with, for the next to go on with."""
    kinds, _ = _word_kinds(doc)
    start = len(kinds)
    while start and kinds[start - 1] & NAME:
        start -= 1
    if start:
        before = Gender.NONE
    given = kinds[start:][(kinds[start:] & GIVEN) > 0]
    return before or (_gender(int(given[0])) if len(given) else Gender.NONE)


def _word_kinds(doc: Doc) -> tuple[Kinds, Kinds]:
    """What is known of each word, wherever it stands, and the spaces behind them."""
    orths, spaces = doc.to_array(["ORTH", "SPACY"]).T
    numbers = orths.tolist()
    try:
        found = [_known[number] for number in numbers]
    except KeyError:
        strings = doc.vocab.strings
        kinds = {number: word_kind(strings[number]) for number in {*numbers}}
        if len(_known) > N_KNOWN:
            _known.clear()
        _known.update(kinds)
        found = [kinds[number] for number in numbers]
    return np.array(found, dtype=np.uint8), spaces


def _spread(kinds: Kinds, given: list[int], before: int) -> None:
    """Give the words of a name the gender of the first that has one, in place."""
    done = -1
    names = ((kinds & NAME) > 0).tolist()
    starts = [(i, _gender(int(kinds[i]))) for i in given]
    if before:
        starts.insert(0, (-1, before))
    for i, gender in starts:
        if i < done:
            continue
        if i >= 0 and gender == Gender.SHE:
            kinds[i] |= gender
        done = i + 1
        while done < len(names) and names[done]:
            kinds[done] |= gender
            done += 1


def _gender(kind: int) -> int:
    return Gender.SHE if kind & GIVEN_SHE else Gender.HE


def word_kind(word: str) -> int:
    """What a word may be to a mention, and bits for what else is known of it."""
    lower = word.lower()
    if is_punct(word) or word.isspace() or lower in CLITICS:
        return int(TokenKind.NEVER + (HYPHEN if word in HYPHENS else 0))
    if lower in PRONOUNS:
        return int(TokenKind.ALONE + GENDERS.get(lower, Gender.NONE))
    # "The" or "When" are capitalised too at the beginning of a sentence
    if not word[:1].isupper() or lower in stop_words():
        return int(TokenKind.ORDINARY)
    return int(NAME | given_names().get(word, np.uint8(0)))


@lru_cache
def stop_words() -> set[str]:
    """Not imported before they are needed: spaCy's English would come before the pipe,
    and then not know of it."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return STOP_WORDS


@lru_cache
def given_names() -> dict[str, np.uint8]:
    """First names whose bearers in the biographies are all but always of one gender.

    Without those that are places as well; and titles.
    """
    text = (files("refreader_spacy.lang.en") / "given_names.json").read_text("utf8")
    listed = {k: frozenset(v.split()) for k, v in json.loads(text).items()}
    return {
        **dict.fromkeys(listed["he"] | words("Mr. Mr Sir"), GIVEN_HE),
        **dict.fromkeys(listed["she"] | words("Mrs. Mrs Ms. Ms Miss"), GIVEN_SHE),
    }
