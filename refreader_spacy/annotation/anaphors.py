"""Which mentions the main mention may stand in for: rules of English, one by one."""

from __future__ import annotations

from spacy.tokens import Span, Token

from refreader_spacy.annotation.entities import Entity
from refreader_spacy.annotation.mentions import Kind, is_inside_word, starts_sentence
from refreader_spacy.annotation.wording import (
    Number,
    SaidAgain,
    is_break,
    is_clitic,
    is_possessive,
)
from refreader_spacy.lang.en.phrases import (
    CASES,
    CLAUSE_OPENERS,
    COPULAS,
    FEMININE,
    INDEFINITES,
    MASCULINE,
    PREPOSITIONS,
    THIRD_PLURAL,
    THIRD_SINGULAR,
    Case,
    name_gender,
    plain,
)
from refreader_spacy.lang.en.words import DETERMINERS, POSSESSIVES, Gender

CLAUSE = 12  # tokens back to the subject of an object pronoun
NEUTER_TYPES = ("place", "organization", "time", "event", "abstract", "substance")
APPOSED = (",", "(", "-", "–", "—", ":")  # noqa: RUF001

Owners = dict[int, list[int]]  # clusters, counted from 0, by the tokens in them


def pronoun_agrees(pronoun: str, entity: Entity, form: SaidAgain) -> bool:
    """Can a pronoun mean it, by number, type, title or first name?"""
    if pronoun in THIRD_PLURAL:
        return form.number == Number.PLURAL or entity.type not in ("place", "time")
    if pronoun not in THIRD_SINGULAR or form.number == Number.PLURAL:
        return False
    is_human = pronoun in MASCULINE | FEMININE
    if is_human and entity.type in NEUTER_TYPES:
        return False
    if form.kind < Kind.NAME:
        return True
    if not is_human:
        return entity.type != "person"
    gender = name_gender([word for token in form.words for word in token.text.split()])
    asked = Gender.MASCULINE if pronoun in MASCULINE else Gender.FEMININE
    return gender is None or gender == asked


def is_object_of_itself(entity: Entity, mention: Span, owners: Owners) -> bool:
    """Is this pronoun an object, and the same entity the subject of its clause?

    Then it would be a reflexive, or it is a mistake: "Venus was proud of her".
    """
    doc = mention.doc
    if not is_object(mention):
        return False
    for i in range(mention.start - 1, max(mention.start - CLAUSE, 0) - 1, -1):
        token = doc[i]
        word = plain(token.text)
        if is_break(token) or token.is_space or word in OPENERS:
            return False
        if owners.get(i):
            is_other = is_clitic(token) or is_clitic(doc[i + 1])
            is_other |= i > 0 and plain(doc[i - 1].text) in PREPOSITIONS
            return owners[i] == [entity.number - 1] and not is_other
    return False


OPENERS = CLAUSE_OPENERS - {"to", "for", "as"}


def is_object(mention: Span) -> bool:
    case = CASES.get(plain(mention.text))
    if case == Case.EITHER:
        after = token_at(mention, mention.end)
        return after is None or is_break(after) or plain(after.text) in PREPOSITIONS
    if case == Case.AMBIGUOUS:
        return not is_possessive(mention)
    return case == Case.OBJECT


def can_replace_noun(entity: Entity, mention: Span, kind: Kind, owners: Owners) -> bool:
    """Not an indefinite, an apposition, a predicate, or a part of a name."""
    before = token_at(mention, mention.start - 1)
    after = token_at(mention, mention.end)
    if plain(mention[0].text) in INDEFINITES:
        return False
    if before is not None:
        word = plain(before.text)
        if word in DETERMINERS | POSSESSIVES | COPULAS or is_inside_word(before):
            return False
        is_name = kind >= Kind.NAME and before.text[:1].isupper()
        if is_name and not (starts_sentence(before) and word in PREPOSITIONS):
            return False
    if after is not None:
        is_next = after.text[:1].isupper() and mention[-1].whitespace_
        if is_next or is_inside_word(after):
            return False
    return not is_apposition(entity, mention, owners)


def is_apposition(entity: Entity, mention: Span, owners: Owners) -> bool:
    """Is there only a comma between this and another mention of the same?"""
    for comma, other in (
        (mention.start - 1, mention.start - 2),
        (mention.end, mention.end + 1),
    ):
        token = token_at(mention, comma)
        is_apposed = token is not None and token.text in APPOSED
        if is_apposed and entity.number - 1 in owners.get(other, ()):
            return True
    return False


def follows_same(entity: Entity, mention: Span, owners: Owners) -> bool:
    """Would it be said twice in a row?"""
    return entity.number - 1 in owners.get(mention.start - 1, ())


def link_probabilities(entity: Entity) -> list[float]:
    """How likely each mention's link is; of the first, that of those linked to it."""
    own: dict[int, float] = {}
    linked: dict[int, float] = {}
    for antecedent, anaphor, probability in entity.links:
        own[anaphor] = max(own.get(anaphor, 0.0), probability)
        linked[antecedent] = max(linked.get(antecedent, 0.0), probability)
    return [own.get(i, linked.get(i, 1.0)) for i in range(len(entity))]


def token_at(mention: Span, i: int) -> Token | None:
    return mention.doc[i] if 0 <= i < len(mention.doc) else None
