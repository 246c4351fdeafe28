"""Which mentions the main mention may stand in for: rules of English, one by one."""

from __future__ import annotations

from operator import itemgetter

from spacy.tokens import Span, Token

from refreader_spacy.annotation.entities import Entity
from refreader_spacy.annotation.mentions import (
    Kind,
    is_break,
    is_clitic,
    is_inside_word,
    is_name_word,
    starts_sentence,
    usual_gender,
)
from refreader_spacy.annotation.short_forms import ShortForm
from refreader_spacy.annotation.wording import is_possessive
from refreader_spacy.lang.en.phrases import (
    AFTER_OBJECTS,
    AUXILIARIES,
    BEFORE_NAMES,
    CLAUSE_OPENERS,
    COPULAS,
    DECADES,
    INDEFINITES,
    JUDGEMENTS,
    OWN_PHRASES,
    QUANTIFIERS,
    SEEMING,
    WEATHER,
)
from refreader_spacy.lang.en.pronouns import (
    CASE_OF,
    POSSESSIVES,
    PRONOUN_OF,
    PRONOUNS,
    Case,
    Pronoun,
    pronoun_gender,
)
from refreader_spacy.lang.en.words import (
    DETERMINERS,
    NUMERALS,
    PREPOSITIONS,
    Gender,
    Number,
    given_names,
    is_plural_noun,
    name_gender,
    plain,
    words,
)

CLAUSE = 12  # tokens back to the subject of an object pronoun
COMMON_TYPES = ("substance", "animal", "plant", "abstract", "event", "time", "object")
NEUTER_TYPES = ("place", "organization", "time", "event", "abstract", "substance")
GROUPS = ("", "person", "organization")  # "they" may be said of one
AMID_VERBS = words("'s not n't getting still already always even really")
LEAD_UP = CLAUSE_OPENERS | BEFORE_NAMES
OPENERS = CLAUSE_OPENERS - {"to", "for", "as"}
SAME_SUBJECT = ("and", "or", "but")  # may be before a verb with the subject before
APPOSED = (",", "(", "-", "–", "—", ":")  # noqa: RUF001

Owners = dict[int, list[int]]  # clusters, counted from 0, by the tokens in them


def pronoun_agrees(pronoun: str, entity: Entity, form: ShortForm) -> bool:
    """Can a pronoun mean it, by number, type, title or first name?"""
    if CASE_OF.get(pronoun, Case.REFLEXIVE) == Case.REFLEXIVE:
        return False
    if PRONOUN_OF[pronoun] == Pronoun.THEY:
        if form.kind == Kind.NAME and (
            is_capital_at_start(entity, form) and is_plural_noun(form.words[0].text)
        ):
            return False
        if is_coordination_at_start(form):
            return False
        return form.number == Number.PLURAL or entity.type in GROUPS
    gender = pronoun_gender(PRONOUN_OF[pronoun])
    if gender == Gender.UNKNOWN or form.number == Number.PLURAL:
        return False
    is_human = gender != Gender.NEUTER
    if is_human and entity.type in NEUTER_TYPES:
        return False
    if not is_human:
        if form.kind == Kind.NAME and entity.type in COMMON_TYPES:
            return not is_capital_at_start(entity, form)
        return form.kind < Kind.NAME or entity.type != "person"
    name = [word for token in form.words for word in token.text.split()]
    told = name_gender(name) if form.kind >= Kind.NAME else Gender.UNKNOWN
    return gender == (told or usual_gender(entity.mentions))


def is_capital_at_start(entity: Entity, form: ShortForm) -> bool:
    """Is it a noun like "Water", of which nobody can tell whether it is a name?"""
    first = form.words[0]
    return (
        len(form.words) == 1
        and first.text not in given_names()
        and not first.ent_type
        and all(
            starts_sentence(mention[0])
            for mention in entity.mentions
            if mention.text == first.text
        )
    )


def is_coordination_at_start(form: ShortForm) -> bool:
    """Is it "Cats and dogs", where the capital may be the sentence's?"""
    first = form.words[0]
    return (
        form.words.text[1:].islower()
        and first.text not in given_names()
        and plain(first.text) not in DETERMINERS | POSSESSIVES
        and form.kind >= Kind.NAME
        and starts_sentence(first)
        and len(form.words) > 1
    )


def is_object_of_itself(entity: Entity, mention: Span, owners: Owners) -> bool:
    """Is this pronoun an object, and the same entity the subject of its clause?

    Then it would be a reflexive, or it is a mistake: "Venus was proud of her".
    """
    doc = mention.doc
    if not is_object(mention):
        return False
    for i in range(mention.start - 1, max(mention.start - CLAUSE, 0) - 1, -1):
        token = doc[i]
        if is_break(token) or token.is_space:
            return False
        if plain(token.text) in OPENERS and begins_clause(doc[i + 1], owners):
            return False
        if owners.get(i) and is_subject_place(doc[i], owners):
            of_other = is_clitic(token) or is_clitic(doc[i + 1])
            of_other |= is_possessive(doc[i : i + 1]) is True
            return owners[i] == [entity.number - 1] and not of_other
    return False


def is_subject_place(token: Token, owners: Owners) -> bool:
    """Does the mention that ends with this token begin a clause?

    After a verb or a preposition there is no subject: "add the eggs and beat them".
    """
    if CASE_OF.get(plain(token.text)) in (Case.SUBJECT, Case.EITHER):
        return not is_object(token.doc[token.i : token.i + 1])
    first = token
    while first.i and {*owners.get(first.i - 1, ())} & {*owners[token.i]}:
        first = first.nbor(-1)
    if starts_sentence(first):
        return True
    before = first.nbor(-1)
    word = plain(before.text)
    return (
        is_break(before)
        or before.is_space
        or (word in LEAD_UP and word not in PREPOSITIONS - OPENERS)
        or word.endswith("ly")
    )


def begins_clause(token: Token, owners: Owners) -> bool:
    """Does a clause begin here that has a subject of its own?

    After "and made her ..." and "after giving her ..." it has the subject before.
    """
    if token.text.endswith("ing"):
        return False
    return plain(token.nbor(-1).text) not in SAME_SUBJECT or (
        token.i in owners
        or token.text[:1].isupper()
        or plain(token.text) in DETERMINERS | POSSESSIVES | PRONOUNS
    )


def is_expletive(mention: Span) -> bool:
    """Does "it" mean nothing, or what only follows?

    "It was dark", "is it still dark", "it is clear that", "it was Ann", "it is my hat".
    """
    if plain(mention.text) != "it":
        return False
    tokens = mention.doc[mention.end : mention.end + 5]
    after = [plain(token.text) for token in tokens]
    before = plain(token_text(mention, mention.start - 1))
    verbs = AUXILIARIES | SEEMING | WEATHER | {"'s"}
    if before not in AUXILIARIES and after[:1] and after[0] not in verbs:
        return False
    amid = [word in AUXILIARIES | AMID_VERBS for word in [*after, ""]].index(False)
    after = after[amid:]
    if after[:1] and after[0] in SEEMING and {*after[1:3]} & {"that", "as", "like"}:
        return True
    return bool(after) and (
        after[0] in WEATHER | PRONOUNS
        or is_name_word(tokens[amid])
        or (after[0] in JUDGEMENTS and {*after[1:2]} & {"that", "to", "for"} != set())
    )


def is_set_phrase(mention: Span) -> bool:
    """Is it the "his" of "in his thirties" or "on his own", where no name can be?"""
    after = [plain(t.text) for t in mention.doc[mention.end : mention.end + 2]]
    if not after or len(mention) > 1:
        return False
    ends = not after[1:] or not after[1][0].isalnum() or after[1] in AFTER_OBJECTS
    if after[0] in OWN_PHRASES:
        return ends or after[0] == "way"
    return after[0] in DECADES


def is_part_of_several(mention: Span) -> bool:
    """Is it the "them" of "three of them", which is never one thing?"""
    before = plain(token_text(mention, mention.start - 2))
    return (
        PRONOUN_OF.get(plain(mention.text)) == Pronoun.THEY
        and plain(token_text(mention, mention.start - 1)) == "of"
        and (
            before in QUANTIFIERS | NUMERALS | {"both", "one", "some"}
            or before[:1].isdigit()
        )
    )


def is_tag_question(mention: Span) -> bool:
    """Is it the "he" of "he is late, isn't he?", which nobody says otherwise?"""
    doc, end = mention.doc, mention.end
    if end == len(doc) or doc[end].text != "?":
        return False
    return plain(token_text(mention, mention.start - 1)) in AUXILIARIES | {"n't", "not"}


def is_named_next(entity: Entity, i: int) -> bool:
    """Is it the "he" of "he, the captain, left"?"""
    mention = entity.mentions[i]
    after = token_at(mention, mention.end)
    return (
        after is not None
        and after.text in APPOSED
        and i + 1 < len(entity)
        and entity.mentions[i + 1].start == mention.end + 1
        and entity.kinds[i + 1] > Kind.QUANTIFIED
    )


def is_far_cataphor(entity: Entity, mention: Span, form: ShortForm) -> bool:
    """Does it come before its name, and not in a clause that leads up to it?

    "When she woke, Mary sang" is fine; "she saw Mary" and what follows are two people.
    """
    doc = mention.doc
    named = min(
        (
            other.start
            for other, kind in zip(entity.mentions, entity.kinds, strict=True)
            if kind == form.kind
        ),
        default=form.words.start,
    )
    if named < mention.start:
        return False
    between = doc[mention.end : min(named, mention.end + 2 * CLAUSE)]
    return len(between) == 2 * CLAUSE or not (
        any(token.text == "," for token in between)
        and not any(starts_sentence(token) for token in between)
    )


def is_object(mention: Span) -> bool:
    case = CASE_OF.get(plain(mention.text))
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
    return not is_apposition(entity, mention, owners) and not is_afterthought(mention)


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


def is_afterthought(mention: Span) -> bool:
    """Is it "born in Bonn, the only son of a cook."?"""
    before = token_at(mention, mention.start - 1)
    after = token_at(mention, mention.end)
    return (
        before is not None
        and before.text in APPOSED
        and (after is None or is_break(after))
    )


def follows_same(entity: Entity, mention: Span, owners: Owners) -> bool:
    """Would it be said twice in a row?"""
    return entity.number - 1 in owners.get(mention.start - 1, ())


def link_probabilities(entity: Entity) -> list[float]:
    """The weakest link from each mention back to one that isn't a pronoun.

    A mention without an antecedent has the best of the links to it.
    """
    weakest: dict[int, float] = {}
    linked: dict[int, float] = {}
    for antecedent, anaphor, probability in sorted(entity.links, key=itemgetter(1)):
        linked[antecedent] = max(linked.get(antecedent, 0.0), probability)
        if entity.kinds[antecedent] == Kind.PRONOUN:
            probability = min(probability, weakest.get(antecedent, 1.0))
        weakest[anaphor] = max(weakest.get(anaphor, 0.0), probability)
    return [weakest.get(i, linked.get(i, 1.0)) for i in range(len(entity))]


def token_text(mention: Span, i: int) -> str:
    token = token_at(mention, i)
    return "" if token is None else token.text


def token_at(mention: Span, i: int) -> Token | None:
    return mention.doc[i] if 0 <= i < len(mention.doc) else None
