"""What a mention's words say: its kind, its head, and which one says most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from spacy.tokens import Doc, Span, Token

from refreader_spacy.lang.en.heads import head_index
from refreader_spacy.lang.en.phrases import (
    BEFORE_NAMES,
    NAME_SUFFIXES,
    PARTICLES,
    QUANTIFIERS,
)
from refreader_spacy.lang.en.pronouns import (
    POSSESSIVES,
    PRO_FORMS,
    PRONOUN_OF,
    Pronoun,
    pronoun_gender,
)
from refreader_spacy.lang.en.words import (
    CLITICS,
    DETERMINERS,
    HYPHENS,
    NUMERALS,
    TITLES,
    Gender,
    name_gender,
    plain,
)

NEVER_NAMES = PRO_FORMS | DETERMINERS
# What tokenizers leave in words of old books: "Ahab!--shudder"
GLUED = re.compile(r"[?!;:\"“”]|,?--|—")
PEOPLE = (Gender.MASCULINE, Gender.FEMININE)
THIRD_PERSON = (Pronoun.HE, Pronoun.SHE, Pronoun.IT, Pronoun.THEY)
ALTERNATIVES = ("or", "/")
RARE = 20  # of so many names, one that is said once is an error; first, of twice


class Kind(IntEnum):
    """Kinds of mentions, the more informative the higher."""

    PRONOUN = 0
    QUANTIFIED = 1  # nobody in particular: "every man"; or no noun at all
    DESCRIPTION = 2
    NAME = 3
    TITLED_NAME = 4
    FULL_NAME = 5


class NameWords(NamedTuple):
    """The words around a mention's head that are its name."""

    start: int
    end: int
    words: tuple[str, ...]  # without titles and particles
    titled: bool


def is_pronoun(mention: Span) -> bool:
    return all(plain(core(token.text)) in PRO_FORMS for token in mention)


def core(word: str) -> str:
    """A word without what is glued to it: "Ahab" of "Ahab!--shudder"."""
    if word.isalpha():
        return word
    if word == "I.":  # the end of a sentence that spaCy takes for an abbreviation
        return "I"
    return next((part for part in GLUED.split(word) if part), word)


def head_of(mention: Span) -> int:
    """The token that is the mention's head, by the parse or else by rule."""
    if all(token.dep for token in mention):  # Doc.has_annotation reads all tokens
        return int(mention.root.i)
    words = [token.text for token in mention]
    return mention.start + head_index(words, 0, len(words))


def is_inside_word(token: Token) -> bool:
    """Is it the hyphen of "Moby-Dick"?"""
    return (
        token.text in HYPHENS
        and not token.whitespace_
        and token.i > 0
        and not token.nbor(-1).whitespace_
    )


def mention_kind(mention: Span, head: int) -> Kind:
    """How much a mention says of what it means."""
    first = plain(mention[0].text)
    if is_pronoun(mention):
        return Kind.PRONOUN
    if first in QUANTIFIERS or (first == "one" and len(mention) > 1):
        return Kind.QUANTIFIED
    if is_imperative(mention):
        return Kind.QUANTIFIED
    name = name_words(mention, head)
    if name is None:
        return Kind.DESCRIPTION
    if len(name.words) > 1:
        return Kind.FULL_NAME
    return Kind.TITLED_NAME if name.titled else Kind.NAME


def is_imperative(mention: Span) -> bool:
    """Is it the "Pour" of "Pour the batter", which only looks like a name?"""
    if len(mention) > 1 or mention.end == len(mention.doc):
        return False
    word, following = mention[0], mention.doc[mention.end]
    return (
        plain(following.text) in DETERMINERS | POSSESSIVES
        and bool(word.whitespace_)
        and not word.ent_type
        and has_capital(word.text)
        and starts_sentence(word)
    )


def name_words(mention: Span, head: int) -> NameWords | None:
    """The name in a mention, or None if its head is an ordinary word."""
    doc = mention.doc
    if not is_name_word(doc[head]) or is_capital_by_place(doc[head]):
        return None
    start, end = head, head + 1
    while end < mention.end and is_name_part(doc[end]):
        end += 1
    while end > head + 1 and is_edge(doc[end - 1]):
        end -= 1
    while start > mention.start and is_name_part(doc[start - 1]):
        start -= 1
    while start < head and (
        plain(doc[start].text) in BEFORE_NAMES or is_edge(doc[start])
    ):
        start += 1
    words = [core(word) for token in doc[start:end] for word in token.text.split()]
    names = [word for word in words if plain(word) not in TITLES]
    proper = tuple(
        word for word in names if has_capital(word) and plain(word) not in NAME_SUFFIXES
    )
    if not proper:
        return None
    return NameWords(start, end, proper, titled=len(names) < len(words))


def is_name_word(token: Token) -> bool:
    """Capitals say so, unless the word is known for something else.

    Of words that were merged, the last one tells: "The old man" is no name.
    """
    words = token.text.split()
    word = core(words[-1]) if words else ""
    return has_capital(word) and plain(word) not in NEVER_NAMES


def has_capital(word: str) -> bool:
    """In any place, as in "iPod"."""
    return word != word.lower()


def is_alternative(token: Token) -> bool:
    """Is it the "he" or the "she" of "he or she", "his/her", where nobody is meant?"""
    if token.i and token.nbor(-1).text in ALTERNATIVES:
        return is_third_person(token) and is_third_person(token.nbor(-2))
    if token.i + 2 < len(token.doc) and token.nbor().text in ALTERNATIVES:
        return is_third_person(token) and is_third_person(token.nbor(2))
    return False


def is_third_person(token: Token) -> bool:
    return PRONOUN_OF.get(plain(token.text)) in THIRD_PERSON


def is_break(token: Token) -> bool:
    return token.is_punct and not is_inside_word(token)


def is_clitic(token: Token) -> bool:
    return plain(token.text) in CLITICS or token.text in ("'", "’")  # noqa: RUF001


def is_name_part(token: Token) -> bool:
    return (
        is_name_word(token)
        or token.text in PARTICLES
        or token.is_space
        or is_inside_word(token)
    )


def is_edge(token: Token) -> bool:
    """Is it a part of names that none begins or ends with?"""
    return token.text in PARTICLES or token.is_punct or token.is_space


def is_capital_by_place(token: Token) -> bool:
    """Is this a common noun, as tagged, or a number that begins a sentence?"""
    is_common = token.pos_ == "NOUN" or plain(token.text) in NUMERALS
    return is_common and starts_sentence(token)


def starts_sentence(token: Token) -> bool:
    """As annotated; else after a full stop, a line break, or a comma before a quote."""
    if token.is_sent_start is not None:
        return bool(token.is_sent_start)
    enders = ".!?…"
    for i in range(token.i - 1, -1, -1):
        previous = token.doc[i]
        if "\n" in previous.text or set(previous.text) <= set(enders):
            return True
        if not (previous.is_quote or previous.is_bracket or previous.is_space):
            return False
        enders += ",:"
    return True


def main_mention(mentions: Sequence[Span], heads: Sequence[int]) -> int:
    """The number of the mention that says most of who or what it is.

    A full name goes before a title and name, a name, a description and a pronoun; of
    names, those that have the word which most of them have, and what is said most
    often, and none of another gender than the pronouns. Of anything else, it is the
    first.
    """
    kinds = [
        mention_kind(mention, head)
        for mention, head in zip(mentions, heads, strict=True)
    ]
    best = max(kinds)
    if best < Kind.NAME:
        return kinds.index(best)
    names = {
        i: name
        for i, kind in enumerate(kinds)
        if kind >= Kind.NAME and (name := name_words(mentions[i], heads[i]))
    }
    counts = Counter(form_of(name) for name in names.values())
    top = shared_word([name.words for name in names.values()])
    first = min(names)
    candidates = [
        i
        for i, name in names.items()
        if top in name.words
        and (counts[form_of(name)] + (i == first)) * RARE >= len(names)
    ] or list(names)
    texts = {i: name_text(mentions[i].doc, names[i]) for i in names}
    n_times = Counter(texts.values())
    usual = usual_gender(mentions)
    wrong = {Gender.MASCULINE, Gender.FEMININE} - {usual} if usual else set()
    agreeing = [i for i in candidates if name_gender(texts[i]) not in wrong]

    def informative(i: int) -> tuple[int, int, bool, bool, int, int]:
        name = names[i]
        whole = len(mentions[i]) == name.end - name.start
        n_forms, is_part = counts[form_of(name)], goes_on(mentions[i])
        return kinds[i], n_forms, not is_part, whole, n_times[texts[i]], -i

    return max(agreeing or candidates, key=informative)


def goes_on(mention: Span) -> bool:
    """Is it the "Sperm Whale" of "Sperm Whale-teeth"?"""
    return mention.end < len(mention.doc) and is_inside_word(mention.doc[mention.end])


def name_text(doc: Doc, name: NameWords) -> tuple[str, ...]:
    """A name with its title, word by word."""
    return tuple(word for t in doc[name.start : name.end] for word in t.text.split())


def usual_gender(mentions: Sequence[Span]) -> Gender:
    """What most of an entity's pronouns tell: where it is "he", "her" is another."""
    told = Counter(
        gender
        for mention in mentions
        if (word := plain(mention.text)) in PRONOUN_OF
        and (gender := pronoun_gender(PRONOUN_OF[word])) in PEOPLE
    )
    return told.most_common(1)[0][0] if told else Gender.UNKNOWN


def form_of(name: NameWords) -> tuple[tuple[str, ...], bool]:
    """A name as it is used: its words, and whether there is a title."""
    return name.words, name.titled


def shared_word(names: Sequence[tuple[str, ...]]) -> str:
    """The word that most names have; of several, a later one, as surnames are."""
    votes = Counter(word for name in names for word in dict.fromkeys(reversed(name)))
    return max(votes, key=lambda word: votes[word])
