"""What a mention is: its head word, where it begins, and what its words say about it.

A mention is known at its head: all of this is read off tokens up to the head. Its right
edge, which is found later, changes nothing here.

Shapes: N tokens, K mentions, W words kept of a mention.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.lang.en.lexemes import HASH_BITS, Column, Determiner, Role
from refreader_spacy.lang.en.pronouns import Case, Pronoun
from refreader_spacy.lang.en.words import Gender, Number
from refreader_spacy.reader.tokens import (
    OFFSET,
    QUOTATION,
    SENTENCE,
    SENTENCE_START,
    SPEAKER,
    Ints,
)

LONGEST = 20  # tokens from a mention's start to its head
N_WORDS = 6  # of a mention that are compared with others: the last ones up to its head


class Kind(IntEnum):
    """Kinds of mentions; the pronouns' classes are the first."""

    OTHER = 0
    NAME = len(Pronoun)
    DEFINITE = len(Pronoun) + 1
    DEMONSTRATIVE = len(Pronoun) + 2
    POSSESSIVE = len(Pronoun) + 3
    INDEFINITE = len(Pronoun) + 4
    QUANTIFIED = len(Pronoun) + 5
    BARE = len(Pronoun) + 6
    CONJUNCTION = len(Pronoun) + 7
    CAPITAL_START = len(Pronoun) + 8  # capitalised, where any word would be


N_KINDS = Kind.CAPITAL_START + 1


class Field(IntEnum):
    """What is known of a mention, as integers."""

    POSITION = 0  # of the head, in the text
    SENTENCE = 1
    KIND = 2
    WORD = 3
    STEM = 4
    STRING = 5  # of the whole mention up to its head, without its determiner
    INITIALS = 6  # of its capitalised words, if it has several
    GENDER = 7
    NUMBER = 8
    REFLEXIVE = 9
    QUOTATION = 10
    SPEAKER = 11
    PLACE = 12  # in the sentence: begins it, near its beginning, later
    LENGTH = 13  # tokens from its start to its head
    PRONOUN = 14  # which pronoun, or 0
    SURE = 15  # is it a name or noun, so that its words say what it is?
    LETTERS = 16  # of a head that may be an acronym
    VOICE = 17
    GIVEN = 18  # the gender that a name of one word tells, which may be a surname
    CASE = 19  # of a pronoun: a Case, or 0


class Voice(IntEnum):
    """Who speaks of whom: outside of quotations, *I* and *she* are not the same.

    One more where somebody is quoted, or is known to speak.
    """

    I = 1  # noqa: E741
    YOU = 3
    OTHERS = 5


N_VOICES = Voice.OTHERS + 2
N_CASES = len(Case) + 1
N_FIELDS = len(Field)


@dataclass(frozen=True)
class MentionTable:
    """Mentions in the order of their heads.

    fields (Ints): What is known of each (K, 21).
    names (Ints): Hashes of capitalised words, 0 where there are fewer (K, W).
    words (Ints): Hashes of all words that say what is meant (K, W).
    """

    fields: Ints
    names: Ints
    words: Ints

    def __len__(self) -> int:
        return len(self.fields)

    def part(self, some: slice) -> MentionTable:
        """Some of the mentions."""
        return MentionTable(self.fields[some], self.names[some], self.words[some])


def describe_mentions(
    rows: Ints,
    heads: NDArray[np.int64],
    starts: NDArray[np.int64],
    first: int | NDArray[np.int64] = 0,
) -> MentionTable:
    """What is known of mentions at their heads.

    rows (Ints): Of tokens (N, C).
    heads, starts (NDArray): Rows of each mention's head and first token (K,).
    first (int | NDArray): The position in the text of the first row (or of each
        mention's text: (K,)).
    """
    if not len(heads):  # as often as not, where a text comes token by token
        words = np.zeros((0, N_WORDS), np.int32)
        return MentionTable(np.zeros((0, N_FIELDS), np.int32), words, words)
    back = np.arange(N_WORDS - 1, -1, -1)  # the head comes last
    spots = heads[:, None] - back  # (K, W)
    inside = spots >= starts[:, None]
    spots = np.maximum(spots, 0)
    span = rows[spots]  # (K, W, C)
    head = rows[heads]  # (K, C)
    start = rows[starts]
    is_name = _name_words(span, inside)
    pronoun = np.where(heads == starts, head[:, Column.PRONOUN], 0)
    clitic = (inside & (span[:, :, Column.ROLE] == Role.CLITIC))[:, :-1].any(axis=1)
    kind = _kinds(head, start, pronoun, clitic)
    plain = inside & (span[:, :, Column.FUNCTION] == 0)
    plain &= span[:, :, Column.PRONOUN] == 0
    sure = (pronoun == 0) & (kind != Kind.CONJUNCTION)
    plain &= sure[:, None]
    words = np.where(plain, span[:, :, Column.WORD], 0)
    named = (
        is_name & (sure & ((kind == Kind.NAME) | (kind == Kind.CAPITAL_START)))[:, None]
    )
    names = np.where(named, span[:, :, Column.WORD], 0)
    fields = np.zeros((len(heads), N_FIELDS), np.int32)
    fields[:, Field.POSITION] = heads + first
    fields[:, Field.SENTENCE] = head[:, SENTENCE]
    fields[:, Field.KIND] = kind
    fields[:, Field.WORD] = head[:, Column.WORD]
    fields[:, Field.STEM] = head[:, Column.STEM]
    fields[:, Field.STRING] = string_hashes(words, sure)
    fields[:, Field.INITIALS] = _initials(named, span)
    fields[:, Field.LETTERS] = np.where(sure, head[:, Column.LETTERS], 0)
    gender = _genders(span, inside, head, kind)
    lone = (heads == starts) & (head[:, Column.GIVEN] > 0) & (gender != Gender.NEUTER)
    fields[:, Field.GENDER] = np.where(lone, 0, gender)
    fields[:, Field.GIVEN] = np.where(lone, gender, 0)
    fields[:, Field.NUMBER] = _numbers(head, start, kind, pronoun)
    fields[:, Field.REFLEXIVE] = head[:, Column.REFLEXIVE]
    fields[:, Field.QUOTATION] = head[:, QUOTATION]
    fields[:, Field.SPEAKER] = head[:, SPEAKER]
    offset = start[:, OFFSET]
    fields[:, Field.PLACE] = np.where(offset == 0, 0, np.where(offset < 4, 1, 2))
    fields[:, Field.LENGTH] = heads - starts
    fields[:, Field.PRONOUN] = np.where(pronoun > 0, head[:, Column.WORD], 0)
    fields[:, Field.SURE] = sure
    fields[:, Field.VOICE] = _voices(head, pronoun)
    fields[:, Field.CASE] = np.where(pronoun > 0, head[:, Column.CASE], 0)
    return MentionTable(fields, names, words)


def _name_words(span: Ints, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    capital = span[:, :, Column.CAPITAL] > 0
    title = span[:, :, Column.ROLE] == Role.TITLE
    lonely = inside.sum(axis=1, keepdims=True) == 1  # "Captain" by itself is a name
    out: NDArray[np.bool_] = inside & capital & (~title | lonely)
    out &= span[:, :, Column.FUNCTION] == 0
    return out


def _kinds(head: Ints, start: Ints, pronoun: Ints, clitic: NDArray[np.bool_]) -> Ints:
    determiner = start[:, Column.DETERMINER]
    capital = head[:, Column.CAPITAL] > 0
    at_start = (head[:, SENTENCE_START] > 0) & (head[:, Column.CAPITAL] < 2)
    kind = np.full(len(head), Kind.BARE, np.int32)
    kind[head[:, Column.ROLE] == Role.PUNCTUATION] = Kind.OTHER
    kind[clitic] = Kind.POSSESSIVE
    for value, name in (
        (Determiner.DEFINITE, Kind.DEFINITE),
        (Determiner.INDEFINITE, Kind.INDEFINITE),
        (Determiner.DEMONSTRATIVE, Kind.DEMONSTRATIVE),
        (Determiner.POSSESSIVE, Kind.POSSESSIVE),
        (Determiner.QUANTIFIER, Kind.QUANTIFIED),
    ):
        kind[(determiner == value) & ~clitic] = name
    kind[capital] = Kind.NAME
    kind[capital & at_start] = Kind.CAPITAL_START
    kind[head[:, Column.ROLE] == Role.CONJUNCTION] = Kind.CONJUNCTION
    is_pronoun = pronoun > 0
    kind[is_pronoun] = pronoun[is_pronoun]
    return kind


def _genders(span: Ints, inside: NDArray[np.bool_], head: Ints, kind: Ints) -> Ints:
    """A name's first word that tells one, else the head's."""
    gender: Ints = head[:, Column.GENDER].copy()
    named = (kind == Kind.NAME) | (kind == Kind.CAPITAL_START)
    told = np.where(inside, span[:, :, Column.GENDER], 0)  # (K, W)
    first = told[np.arange(len(told)), (told > 0).argmax(axis=1)]
    gender[named] = first[named]
    gender[kind == Kind.CONJUNCTION] = Gender.UNKNOWN
    return gender


def _voices(head: Ints, pronoun: Ints) -> Ints:
    voice = np.full(len(head), Voice.OTHERS, np.int32)
    voice[(pronoun == Pronoun.I) | (pronoun == Pronoun.WE)] = Voice.I
    voice[pronoun == Pronoun.YOU] = Voice.YOU
    out: Ints = voice + ((head[:, QUOTATION] > 0) | (head[:, SPEAKER] != 0))
    return out


def _numbers(head: Ints, start: Ints, kind: Ints, pronoun: Ints) -> Ints:
    number: Ints = head[:, Column.NUMBER].copy()
    # "a species" is one, whatever its ending says; "his dogs" are not one as he is
    tells = (pronoun == 0) & (start[:, Column.DETERMINER] > 0)
    tells &= start[:, Column.DETERMINER] != Determiner.POSSESSIVE
    tells &= start[:, Column.NUMBER] > 0
    number[tells] = start[tells, Column.NUMBER]
    number[(kind == Kind.NAME) | (kind == Kind.CAPITAL_START)] = Number.UNKNOWN
    number[kind == Kind.CONJUNCTION] = Number.PLURAL
    return number


def string_hashes(words: Ints, sure: NDArray[np.bool_]) -> Ints:
    """A hash of all words of each mention; 0 for one that isn't sure (K,)."""
    total = np.zeros(len(words), np.int64)
    for column in words.T:
        total = np.where(column > 0, (total * 1000003 + column) & HASH_BITS, total)
    return np.where(sure, total, 0).astype(np.int32)


def _initials(named: NDArray[np.bool_], span: Ints) -> Ints:
    """A hash of capitalised words' initials; of what is one word, nothing."""
    total = np.zeros(len(span), np.int64)
    for is_name, column in zip(named.T, span[:, :, Column.INITIAL].T, strict=True):
        total = np.where(is_name, (total * 1000003 + column) & HASH_BITS, total)
    return np.where(named.sum(axis=1) > 1, total, 0).astype(np.int32)
