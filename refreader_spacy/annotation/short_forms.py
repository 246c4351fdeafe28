"""The part of an entity's main mention that stands for it in other places."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from spacy.tokens import Doc, Span, Token

from refreader_spacy.annotation.entities import Entity
from refreader_spacy.annotation.mentions import (
    GLUED,
    Kind,
    is_alternative,
    is_break,
    is_clitic,
    is_inside_word,
    is_name_word,
    name_words,
    starts_sentence,
)
from refreader_spacy.lang.en.phrases import (
    AUXILIARIES,
    INDEFINITES,
    INVARIANT_VERBS,
    NAME_SUFFIXES,
    PARTICLES,
    QUANTITIES,
)
from refreader_spacy.lang.en.pronouns import (
    DEMONSTRATIVES,
    POSSESSIVE_DETERMINERS,
    POSSESSIVES,
    PRONOUN_OF,
    PRONOUNS,
    Pronoun,
)
from refreader_spacy.lang.en.words import (
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

LONGEST = 8  # tokens of a mention that is repeated as it is
BEGIN_PHRASES = DETERMINERS | POSSESSIVES | PRONOUNS
CLAUSES = AUXILIARIES | {"who", "whom", "whose", "which", "that", "where", "when"}


class ShortForm(NamedTuple):
    """What stands for an entity in places other than its main mention.

    possessor (Span): What can be before "'s": of "the captain of the ship", "the
        captain".
    """

    words: Span
    possessor: Span
    kind: Kind
    number: Number


def short_form(entity: Entity) -> ShortForm | None:
    """What stands for an entity, if its main mention is good enough."""
    kind = max(entity.kinds)
    if kind < Kind.DESCRIPTION:
        return None
    words = repeated_part(entity.main, entity.main_head)
    if words is None or any(GLUED.search(token.text) for token in words):
        return None
    if is_quantity(words) or is_rest_of_name(entity) or is_several_lines(words):
        return None
    if is_alternative(words[0]):
        return None
    number = number_of(words, entity, kind)
    return ShortForm(words, possessor_of(words, kind), kind, number)


def is_quantity(words: Span) -> bool:
    """Is it "a lot of men", or the "those" of "those who came"?"""
    if plain(words[-1].text) in DEMONSTRATIVES:
        return True
    first = first_word(words)
    following = plain(words[1].text) if len(words) > 1 else ""
    if following == "of":  # "some of the men", "three of them"
        return first in INDEFINITES | NUMERALS | {"both"}
    return first in INDEFINITES and following in QUANTITIES


def is_several_lines(words: Span) -> bool:
    """Does it go on in the next point of a list?"""
    return any(
        token.is_space and "\n" in token.text and following.is_punct
        for token, following in pairwise(words)
    )


def is_rest_of_name(entity: Entity) -> bool:
    """Is it a part of somebody's name that was taken for something else: "la Tour"?"""
    start = entity.main.start
    is_rest = start > 0 and entity.main.doc[start - 1].text in PARTICLES
    return is_rest and entity.type != "person"


def possessor_of(words: Span, kind: Kind) -> Span:
    if kind >= Kind.NAME or is_coordinated(words):
        return words
    of = next((token.i for token in words if plain(token.text) == "of"), words.end)
    return words.doc[words.start : max(of, words.start + 1)]


def repeated_part(main: Span, head: int) -> Span | None:
    """The part of a mention that can be repeated, or None.

    A name is said whole, without what was added to it. Of anything else, it is what
    stands up to its head, and "of" with what belongs to it: "the onions" of "the onions
    in a pan".
    """
    doc = main.doc
    end = main.end
    while end > main.start + 1 and (
        doc[end - 1].is_space
        or (is_clitic(doc[end - 1]) and not is_end_of_name(doc[end - 1]))
    ):
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
    if head + 2 >= end or plain(doc[head + 1].text) != "of":
        return head + 1
    if plain(doc[head + 2].text) in POSSESSIVES - POSSESSIVE_DETERMINERS:
        return head + 1  # "a friend of mine"
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
    if is_possessed_name(doc, main, start, end) or is_epithet(doc, main, start):
        start = whole_name(doc, main, start - 2, start - 1).start
    while (longer := longer_name(doc, end)) > end:
        end = longer
    while end > start + 1 and is_clitic(doc[end - 1]):
        end -= 1
    if end < main.end and is_clitic(doc[end]) and is_end_of_name(doc[end]):
        end += 1
    end = end_of_title(doc, main, end)
    if end + 1 == main.end and doc[end].text[0].isdigit():  # "Windows 11"
        end += 1
    if start > main.start and may_belong_to_name(doc[start - 1 : end]):
        start -= 1
    return doc[start:end]


def is_epithet(doc: Doc, main: Span, start: int) -> bool:
    """Is it the "Great" of "Catherine the Great"?"""
    is_after_article = start - 2 >= main.start and doc[start - 1].text == "the"
    return is_after_article and is_name_word(doc[start - 2])


def end_of_title(doc: Doc, main: Span, of: int) -> int:
    """Where "Bank of England" ends, or the same place if no "of" is there."""
    if of + 1 >= main.end or plain(doc[of].text) != "of":
        return of
    end = of + 2 if plain(doc[of + 1].text) == "the" else of + 1
    first = end
    while end < main.end and is_title_word(doc[end]):
        end += 1
    return end if first < end <= main.start + LONGEST else of


def is_title_word(token: Token) -> bool:
    """Is it a name's word, or the "and" of "Department of Health and Welfare"?"""
    if is_name_word(token):
        return True
    following = token.doc[min(token.i + 1, len(token.doc) - 1)]
    is_new = following.text in given_names() or plain(following.text) in TITLES
    return token.text == "and" and is_name_word(following) and not is_new


def may_belong_to_name(words: Span) -> bool:
    """Is it "the Hague", or "my ISP" and "an NGO", which say little without it?"""
    first = plain(words[0].text)
    if first == "the":
        return True
    is_short = len(words) == 2 and words[1].text not in given_names()
    return is_short and first in POSSESSIVE_DETERMINERS | INDEFINITES - {"some"}


def is_possessed_name(doc: Doc, main: Span, start: int, end: int) -> bool:
    """Is it the "Hospital" of "St. Luke's Hospital", which says little alone?"""
    return (
        end - start == 1
        and start - 2 >= main.start
        and doc[start].text not in given_names()
        and is_clitic(doc[start - 1])
        and is_name_word(doc[start - 2])
    )


def is_end_of_name(clitic: Token) -> bool:
    """Has nobody anything here, as in "McDonald's said"? Then it is called so."""
    if clitic.i + 1 == len(clitic.doc):
        return False
    following = clitic.nbor()
    return (
        plain(following.text) in AUXILIARIES | INVARIANT_VERBS
        and not starts_sentence(following)
        and bool(clitic.i)
        and is_name_word(clitic.nbor(-1))
    )


def belongs_before(previous: Token, token: Token) -> bool:
    """Is it a title or a first name that this name goes on from?"""
    if is_inside_word(previous):
        return True
    if is_inside_word(token):
        return is_name_word(previous)
    if previous.text in PARTICLES:
        return bool(previous.whitespace_) and is_name_word(token)
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


def first_word(words: Span) -> str:
    """Of the first token, which may be several words that were merged."""
    return plain(words.text.split()[0])
