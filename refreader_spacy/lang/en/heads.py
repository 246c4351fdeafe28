"""The head word of an English noun phrase, without a parse."""

from __future__ import annotations

from collections.abc import Sequence

from refreader_spacy.lang.en.pronouns import DEMONSTRATIVES, POSSESSIVE_DETERMINERS
from refreader_spacy.lang.en.words import ARTICLES, COORDINATORS, PREPOSITIONS, words

CLAUSES = words(
    "that which who whom whose where when why wherein whereby while because if "
    "although though whether i you he she we they themselves himself herself itself "
    "not is are was were has have had can could will would may might must"
)
BREAKS = frozenset((",", ";", ":", "(", "[", "{", "--", "–", "—"))  # noqa: RUF001
AFTER_HEADS = PREPOSITIONS | CLAUSES | COORDINATORS
# Determiners that never stand for a noun
NEVER_HEADS = ARTICLES | POSSESSIVE_DETERMINERS | words("no every")
OBJECTS = NEVER_HEADS | DEMONSTRATIVES | words("him them it me us")
POSTMODIFIED = words(
    "something anything nothing everything someone anyone everyone somebody anybody "
    "everybody nobody anywhere somewhere"
)

ADJECTIVES = words(
    "bad best better big black blue bright cold cool dark dear deep dry early fair "
    "fine first free fresh full good great green grey happy hard heavy high hot human "
    "large last late left little long low lower male many mean naked new next old one "
    "other own past poor present pretty pure quiet rare raw red rich right round "
    "second short silent slow small soft strange strong sweet tall thick thin third "
    "tiny two upper vast warm weak wet white whole wide wild wise young"
)
SUFFIXES = (
    *("able", "al", "ed", "ful", "ible", "ic", "ical", "ing"),
    *("ish", "ive", "less", "like", "ory", "ous", "some", "est"),
)


def head_index(tokens: Sequence[str], start: int, end: int) -> int:
    """The token before the first thing that can only follow a head.

    That is a preposition, the beginning of a clause, a comma or a bracket, or a
    participle with a complement ("cells taken from ...", "the man wearing a ..."). A
    possessive ending or a quotation mark is never the head.
    """
    if tokens[start].lower() in POSTMODIFIED:
        return start
    stop = next((i for i in range(start + 1, end) if _follows(tokens, i, end)), end)
    head = next((i for i in range(stop - 1, start, -1) if _can_head(tokens[i])), start)
    while head > start and _is_numbered(tokens[head - 1], tokens[head]):
        head -= 1
    return head


def _follows(tokens: Sequence[str], i: int, end: int) -> bool:
    """Does token i come after the core of the noun phrase?"""
    word, before = tokens[i].lower(), tokens[i - 1].lower()
    if word in COORDINATORS or word == ",":
        return _can_head(before) and not _adjectival(before)
    if word in BREAKS:
        return _can_head(before)
    if word in PREPOSITIONS or word in CLAUSES:
        # "the over 200 people", "her like": something must be there to be the head
        return _can_head(before) and before not in NEVER_HEADS
    if i + 1 == end or before in NEVER_HEADS or not tokens[i].islower():
        return False
    after = tokens[i + 1].lower()
    if word.endswith("ing"):
        return after in OBJECTS
    return word.endswith(("ed", "wn", "en")) and after in PREPOSITIONS - {"of"}


def _is_numbered(word: str, number: str) -> bool:
    """Such as "Figure 1" or "January 2019"."""
    return word[:1].isupper() and number[:1].isdigit()


def _can_head(word: str) -> bool:
    return word[:1].isalnum()


def _adjectival(word: str) -> bool:
    """Is it more likely to stand before a noun than to be one?"""
    return word in NEVER_HEADS or word in ADJECTIVES or word.endswith(SUFFIXES)
