"""How an entity is said again in another place: its main mention's words, adapted."""

from __future__ import annotations

from typing import NamedTuple

from spacy.tokens import Doc, Span, Token

from refreader_spacy.annotation.entities import Entity
from refreader_spacy.annotation.mentions import (
    GLUED,
    Kind,
    is_inside_word,
    is_name_word,
    name_words,
    starts_sentence,
)
from refreader_spacy.lang.en.phrases import (
    AFTER_OBJECTS,
    AUXILIARIES,
    DEGREES,
    DITRANSITIVES,
    INDEFINITES,
    INVARIANT_VERBS,
    NAME_SUFFIXES,
    PARTICLES,
    THIRD_PERSON,
    UNCONTRACTED,
    third_person,
)
from refreader_spacy.lang.en.pronouns import (
    CASE_OF,
    POSSESSIVES,
    PRO_FORMS,
    PRONOUN_OF,
    PRONOUNS,
    Case,
    Pronoun,
)
from refreader_spacy.lang.en.words import (
    CLITICS,
    COORDINATORS,
    DETERMINERS,
    NUMERALS,
    PREPOSITIONS,
    TITLES,
    Number,
    given_names,
    is_plural_noun,
    plain,
)

LONGEST = 8  # tokens of a mention that is said again as it is
CAPITAL_ONLY_AT_START = (PRONOUNS | DETERMINERS) - {"i"}
NEVER_POSSESSED = AFTER_OBJECTS | DETERMINERS | PRONOUNS
BEGIN_PHRASES = DETERMINERS | POSSESSIVES | PRONOUNS
CLAUSES = AUXILIARIES | {"who", "whom", "whose", "which", "that", "where", "when"}


class SaidAgain(NamedTuple):
    """What stands for an entity in places other than its main mention.

    possessor (Span): What can be before "'s": of "the captain of the ship", "the
        captain".
    """

    words: Span
    possessor: Span
    kind: Kind
    number: Number


def said_again(entity: Entity) -> SaidAgain | None:
    """What is said in other places, if the main mention is good enough."""
    kind = max(entity.kinds)
    if kind < Kind.DESCRIPTION:
        return None
    words = short_form(entity.main, entity.main_head)
    if words is None or any(GLUED.search(token.text) for token in words):
        return None
    number = number_of(words, entity, kind)
    return SaidAgain(words, possessor_of(words, kind), kind, number)


def possessor_of(words: Span, kind: Kind) -> Span:
    if kind >= Kind.NAME or is_coordinated(words):
        return words
    of = next((token.i for token in words if plain(token.text) == "of"), words.end)
    return words.doc[words.start : max(of, words.start + 1)]


def short_form(main: Span, head: int) -> Span | None:
    """The part of a mention that is said again, or None if it can't be.

    A name is said whole, without what was added to it. Of anything else, it is what
    stands up to its head, and "of" with what belongs to it: "the onions" of "the onions
    in a pan".
    """
    doc = main.doc
    end = main.end
    while end > main.start + 1 and (doc[end - 1].is_space or is_clitic(doc[end - 1])):
        end -= 1
    if is_coordinated(doc[main.start : end]):
        return doc[main.start : end] if end - main.start <= LONGEST else None
    if (name := name_words(main, head)) is not None:
        return whole_name(doc, main, name.start, name.end)
    stop = end_of_core(doc, head, end)
    if stop < end:
        end = end_of_complement(doc, main.start, stop - 1, end)
    return doc[main.start : end] if end - main.start <= LONGEST else None


def end_of_core(doc: Doc, head: int, end: int) -> int:
    """Where a noun phrase ends without what follows its head.

    Other nouns may stay ("city" is the head's beginning in "the city council"), but no
    verb: in "the report criticised the minister", what comes before an article isn't a
    part of the phrase.
    """
    stop = head + 1
    while stop < end and not follows_head(doc[stop]):
        stop += 1
    if stop < end and (
        plain(doc[stop].text) in BEGIN_PHRASES
        or any(may_be_verb(token) for token in doc[head + 1 : stop])
    ):
        return head + 1
    return stop


def follows_head(token: Token) -> bool:
    """Can it only come after the nouns of a phrase?"""
    word = plain(token.text)
    return is_break(token) or word in CLAUSES | PREPOSITIONS | BEGIN_PHRASES


def may_be_verb(token: Token) -> bool:
    word = plain(token.text)
    return word in INVARIANT_VERBS or (
        token.text.islower() and word.endswith(("ed", "ing", "wn"))
    )


def end_of_complement(doc: Doc, start: int, head: int, end: int) -> int:
    """Where "the captain of the ship" ends, if that is short; else after the head."""
    if head + 1 >= end or plain(doc[head + 1].text) != "of":
        return head + 1
    stop = head + 2
    while stop < end and not (
        is_break(doc[stop]) or plain(doc[stop].text) in CLAUSES | PREPOSITIONS
    ):
        stop += 1
    return stop if head + 2 < stop <= start + LONGEST else head + 1


def whole_name(doc: Doc, main: Span, start: int, end: int) -> Span:
    """A name with all of its words, also those that the mention left out."""
    while start > 0 and doc[start].ent_iob_ == "I":
        start -= 1
    while end < len(doc) and doc[end].ent_iob_ == "I":
        end += 1
    while start > 0 and belongs_before(doc[start - 1], doc[start]):
        start -= 1
    while (longer := longer_name(doc, end)) > end:
        end = longer
    while end > start + 1 and is_clitic(doc[end - 1]):
        end -= 1
    if start > main.start and plain(doc[start - 1].text) == "the":
        start -= 1
    return doc[start:end]


def belongs_before(previous: Token, token: Token) -> bool:
    """Is it a title or a first name that this name goes on from?"""
    if is_inside_word(previous):
        return True
    if is_inside_word(token):
        return is_name_word(previous)
    if not previous.whitespace_ or not previous.text[:1].isupper():
        return False
    return plain(previous.text) in TITLES or (
        previous.text in given_names() and token.text not in given_names()
    )


def longer_name(doc: Doc, end: int) -> int:
    """Where a name ends that goes on: "van Beethoven", "-Dick", ", Jr."."""
    rest = doc[end : end + 4]
    if not len(rest) or end == 0:
        return end
    if is_inside_word(rest[0]):
        return min(end + 2, len(doc))
    if not doc[end - 1].whitespace_:
        if rest[0].text == "," and len(rest) > 1:
            return end + 2 if plain(rest[1].text) in NAME_SUFFIXES else end
        return end
    if is_name_word(rest[0]):
        last = doc[end - 1].text
        goes_on = last in given_names() or plain(last) in TITLES
        goes_on &= rest[0].text not in given_names()
        return end + 1 if goes_on or plain(rest[0].text) in NAME_SUFFIXES else end
    n_particles = 0
    while n_particles < len(rest) and rest[n_particles].text in PARTICLES:
        n_particles += 1
    goes_on = 0 < n_particles < len(rest) and is_name_word(rest[n_particles])
    return end + n_particles + 1 if goes_on else end


def is_break(token: Token) -> bool:
    return token.is_punct and not is_inside_word(token)


def is_clitic(token: Token) -> bool:
    return plain(token.text) in CLITICS or token.text in ("'", "’")  # noqa: RUF001


def is_coordinated(words: Span) -> bool:
    """Is it "Mary and Tom"? But the "and" of "the owner of bars and shops" is not."""
    for token in words[1:]:
        word = plain(token.text)
        if word in COORDINATORS:
            return token.i > words.start and token.i + 1 < words.end
        if word in PREPOSITIONS | CLAUSES:
            return False
    return False


def number_of(words: Span, entity: Entity, kind: Kind) -> Number:
    """How many are meant."""
    first = first_word(words)
    head = words.doc[min(entity.main_head, words.end - 1)]
    if is_coordinated(words):
        return Number.PLURAL
    if kind >= Kind.NAME:
        if first == "the" and is_plural_noun(words[-1].text):
            return Number.PLURAL if entity.type in ("", "person") else Number.UNKNOWN
        return Number.PLURAL if is_team(words, entity, kind) else Number.SINGULAR
    if first in NUMERALS | {"these", "those", "both"} or is_plural_noun(head.text):
        return Number.PLURAL
    return Number.SINGULAR


def is_team(words: Span, entity: Entity, kind: Kind) -> bool:
    """Is it "Rovers", which others call "they" and nobody "he" or "it"?"""
    pronouns = {PRONOUN_OF.get(plain(mention.text)) for mention in entity.mentions}
    return (
        kind == Kind.NAME
        and entity.type != "person"
        and is_plural_noun(words[-1].text)
        and words[-1].text not in given_names()
        and Pronoun.THEY in pronouns
        and pronouns.isdisjoint({Pronoun.HE, Pronoun.SHE, Pronoun.IT})
    )


def with_article(text: str, words: Span, kind: Kind) -> str:
    """The same as something known: "a man" is now "the man"."""
    first = first_word(words)
    if kind >= Kind.NAME:
        return text
    if first in INDEFINITES and " " in text:
        return "the " + text.split(" ", 1)[1]
    if first in NUMERALS:
        return "the " + text[0].lower() + text[1:]
    is_bare = words.text[:1].islower() and not (
        first in DETERMINERS | POSSESSIVES or any(map(is_clitic, words))
    )
    return "the " + text if is_bare and not is_coordinated(words) else text


def first_word(words: Span) -> str:
    """Of the first token, which may be several words that were merged."""
    return plain(words.text.split()[0])


def in_case(text: str, words: Span, place: Token) -> str:
    """Text that was said in these words, as it is written in a token's place."""
    if needs_capital(place):
        return text[0].upper() + text[1:] if text.split()[0].islower() else text
    small = DETERMINERS | POSSESSIVES
    if first_word(words) in small and starts_sentence(words[0]):
        if plain(text.split()[0]) not in small:  # "Her sister" is "Ann's sister" by now
            return text
        return text[0].lower() + text[1:]  # but it stays in a name: "in The Hague"
    return text


def needs_capital(token: Token) -> bool:
    """A word that is only capital at a sentence's start shows it; other words don't."""
    if plain(token.text) in CAPITAL_ONLY_AT_START:
        return bool(token.text[:1].isupper())
    return starts_sentence(token)


def is_possessive(mention: Span) -> bool | None:
    """Is it "his", an "her" that isn't an object, or "the captain's"? None: unsure."""
    last = mention[-1]
    if is_clitic(last):
        return True
    if len(mention) > 1:
        return False
    case = CASE_OF.get(plain(last.text))
    if case != Case.AMBIGUOUS:
        return case == Case.POSSESSIVE
    if last.tag_ or last.morph:
        return last.tag_ == "PRP$" or "Yes" in last.morph.get("Poss", [])
    if last.i + 1 == len(last.doc):
        return False
    following = last.nbor()
    if following.is_punct and following.text not in ('"', "“", "'", "‘"):  # noqa: RUF001
        return False
    if following.is_space or plain(following.text) in NEVER_POSSESSED:
        return False
    before = plain(last.nbor(-1).text) if last.i else ""
    unsure = (
        following.is_punct
        or before in DITRANSITIVES
        or plain(following.text) in PRO_FORMS | DEGREES
        or following.text.endswith("ly")
    )
    return None if unsure else True


def possessive_ending(words: str, number: Number) -> str:
    """What to add: "Ahab's", "James's", but "the sailors'", and nothing twice."""
    if words.endswith(tuple(CLITICS)):
        return ""
    return "'" if number != Number.SINGULAR and words.endswith("s") else "'s"


def agreeing_verb(pronoun: Token, number: Number) -> tuple[str, int] | None:
    """What a verb becomes after a noun, and how many tokens that takes; None: unknown.

    After "they" with a plural noun, and after "he", "she" and "it", it stays.
    """
    word = plain(pronoun.text)
    if pronoun.i + 1 == len(pronoun.doc):
        return "", 0
    verb = pronoun.nbor()
    found = plain(verb.text)
    if word in ("he", "she", "it") or number == Number.PLURAL:
        return (UNCONTRACTED[found], 1) if found in UNCONTRACTED else ("", 0)
    if found in THIRD_PERSON:
        return THIRD_PERSON[found], 1
    if found in INVARIANT_VERBS or found.endswith("ed") or verb.tag_ in ("VBD", "MD"):
        return "", 0
    if verb.tag_ == "VBP":
        return " " + third_person(verb.text), 1
    return None
