"""What stands in place of each anaphor of a Doc."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Literal, NamedTuple

from spacy.tokens import Doc, Span, Token

from refreader_spacy.annotation.anaphors import (
    can_replace_noun,
    follows_same,
    is_expletive,
    is_far_cataphor,
    is_named_next,
    is_object_of_itself,
    is_part_of_several,
    is_set_phrase,
    is_tag_question,
    link_probabilities,
    pronoun_agrees,
)
from refreader_spacy.annotation.entities import Entity, entities
from refreader_spacy.annotation.index import index_of
from refreader_spacy.annotation.mentions import (
    Kind,
    is_alternative,
    is_break,
    is_clitic,
    starts_sentence,
)
from refreader_spacy.annotation.narrator import quoted_tokens
from refreader_spacy.annotation.short_forms import (
    ShortForm,
    is_coordinated,
    short_form,
)
from refreader_spacy.annotation.wording import (
    agreeing_verb,
    in_case,
    is_number,
    is_possessive,
    possessive_ending,
    with_article,
)
from refreader_spacy.corpora.span_groups import SPEAKERS
from refreader_spacy.lang.en.phrases import AUXILIARIES
from refreader_spacy.lang.en.pronouns import (
    CASE_OF,
    DEMONSTRATIVES,
    PRONOUN_OF,
    Case,
    Pronoun,
)
from refreader_spacy.lang.en.words import Number, plain

Anaphors = Literal["pronouns", "all", "first_in_sentence"]

SPOKEN = (Pronoun.I, Pronoun.WE, Pronoun.YOU)
LONGEST_QUOTATION = 200  # tokens
POSSESSOR = re.compile("['’]s? ")  # noqa: RUF001
DEEPEST = 3  # mentions in mentions that are replaced in a replacement


class Replacement(NamedTuple):
    """Characters of the original text, and what stands there instead."""

    start: int
    end: int
    text: str


class Resolver:
    """One walk over a Doc's mentions."""

    def __init__(
        self, doc: Doc, anaphors: Anaphors, threshold: float, protected: Iterable[Span]
    ) -> None:
        self.doc = doc
        self.text: str = doc.text  # made anew on every access
        self.anaphors = anaphors
        self.threshold = threshold
        self.protected = {token.i for span in protected for token in span}
        self.entities = entities(doc)
        self.owners = index_of(doc).of_token
        self.forms = {entity.number: short_form(entity) for entity in self.entities}
        self.pronouns = {
            entity.mentions[i].start: (entity, i)
            for entity in self.entities
            for i, kind in enumerate(entity.kinds)
            if kind == Kind.PRONOUN
        }
        self.speakers = {
            token.i: turn.label_
            for turn in doc.spans.get(SPEAKERS, ())
            for token in turn
        }

    def replacements(self) -> list[Replacement]:
        """All, in text order; of those that overlap, the outermost."""
        by_entity = map(self.of_entity, self.entities)
        found = chain(self.of_lone_speakers(), *by_entity)
        kept: list[Replacement] = []
        for replaced in sorted(found, key=lambda found: (found.start, -found.end)):
            if not kept or replaced.start >= kept[-1].end:
                kept.append(replaced)
        return kept

    def of_entity(self, entity: Entity) -> Iterator[Replacement]:
        """What is to be replaced of an entity's mentions."""
        probabilities = link_probabilities(entity)
        sentence = -1
        for i, mention in enumerate(entity.mentions):
            if self.anaphors == "first_in_sentence":
                previous, sentence = sentence, sentence_start(mention[0])
                if sentence == previous:
                    continue
            if probabilities[i] < self.threshold or any(
                token.i in self.protected for token in mention
            ):
                continue
            replaced = self.replacement(entity, i)
            if replaced is not None and replaced.text != mention.text:
                yield replaced

    def replacement(self, entity: Entity, i: int, depth: int = 0) -> Replacement | None:
        """What stands in place of a mention, unless it stays."""
        mention = entity.mentions[i]
        word = plain(mention.text)
        if PRONOUN_OF.get(word) in (Pronoun.I, Pronoun.YOU):
            return self.of_speaker(entity, mention)
        form = self.forms[entity.number]
        if form is None or not self.can_replace(entity, i, form):
            return None
        if not self.says_the_same(form.words, mention):
            return None
        possessive = is_possessive(mention)
        if possessive is None or (possessive and is_set_phrase(mention)):
            return None
        words = form.possessor if possessive else form.words
        text = self.words_in_place(entity, form.kind, words, mention[0], depth)
        if possessive:
            if POSSESSOR.search(text):  # "Ann's aunt's hat" is no better than "her hat"
                return None
            if is_number(words[-1]):  # nor is "the two's hat" than "their hat"
                return None
            ending = possessive_ending(text, form.number)
            text += ending.upper() if is_shouted(mention) else ending
        if CASE_OF.get(word) in (Case.SUBJECT, Case.EITHER):
            return with_verb(mention, text, form.number)
        return Replacement(mention.start_char, mention.end_char, text)

    def can_replace(self, entity: Entity, i: int, form: ShortForm) -> bool:
        """Is the main mention better than this one, and right in its place?"""
        mention, kind = entity.mentions[i], entity.kinds[i]
        if overlap(mention, entity.main) or overlap(mention, form.words):
            return False
        if follows_same(entity, mention, self.owners):
            return False
        if kind == Kind.PRONOUN:
            word = plain(mention.text)
            if word in DEMONSTRATIVES:
                return self.anaphors == "all" and word != "that"
            return (
                pronoun_agrees(word, entity, form)
                and not is_expletive(mention)
                and not is_tag_question(mention)
                and not is_alternative(mention[0])
                and not (is_part_of_several(mention) and not is_several(form))
                and not is_named_next(entity, i)
                and not is_far_cataphor(entity, mention, form)
                and not is_object_of_itself(entity, mention, self.owners)
            )
        if self.anaphors != "all" or kind == Kind.QUANTIFIED or kind >= form.kind:
            return False
        return can_replace_noun(entity, mention, kind, self.owners)

    def says_the_same(self, words: Span, place: Span) -> bool:
        """Would the same one say these words there? "My dog" is else another's dog."""
        spoken = [t.i for t in words if PRONOUN_OF.get(plain(t.text)) in SPOKEN]
        if not spoken:
            return True
        start, end = words.start, place.start
        if self.speakers.get(start) != self.speakers.get(end):
            return all(i in self.pronouns for i in spoken)
        if not (self.quoted[start] or self.quoted[end]):
            return True
        start, end = min(start, end), max(start, end)
        return end - start < LONGEST_QUOTATION and all(self.quoted[start:end])

    @cached_property
    def quoted(self) -> list[bool]:
        return quoted_tokens(self.doc)

    def of_lone_speakers(self) -> Iterator[Replacement]:
        """Where "I" is in no cluster, since its speaker says it once and nobody "you".

        Not in quotations, where somebody else may speak.
        """
        for turn in self.doc.spans.get(SPEAKERS, ()):
            quoted = False
            for token in turn:
                quoted ^= token.is_quote and not is_clitic(token)
                is_i = PRONOUN_OF.get(plain(token.text)) == Pronoun.I and not quoted
                is_free = token.i not in self.owners and token.i not in self.protected
                if is_i and is_free:
                    mention = self.doc[token.i : token.i + 1]
                    replaced = self.spoken(mention, turn.label_)
                    if replaced is not None:
                        yield replaced

    def of_speaker(self, entity: Entity, mention: Span) -> Replacement | None:
        """What stands for "I" where the speaker is known, and for "you" with a name."""
        speaker = self.speakers.get(mention.start)
        form = self.forms[entity.number]
        if not speaker:
            return None
        if PRONOUN_OF[plain(mention.text)] == Pronoun.I:
            text = speaker
        elif form is not None and form.kind >= Kind.NAME:
            text = self.words_in_place(
                entity, form.kind, form.words, mention[0], DEEPEST
            )
        elif (name := self.name_of_speaker(entity)) not in ("", speaker):
            text = name
        else:
            return None
        return self.spoken(mention, text)

    def name_of_speaker(self, entity: Entity) -> str:
        """Who calls this entity "I", if that is one."""
        names = {
            self.speakers.get(mention.start, "")
            for mention in entity.mentions
            if PRONOUN_OF.get(plain(mention.text)) == Pronoun.I
        }
        return names.pop() if len(names) == 1 else ""

    def spoken(self, mention: Span, text: str) -> Replacement | None:
        """A speaker's name in place of an "I" or a "you"."""
        word = plain(mention.text)
        if not text or CASE_OF[word] == Case.REFLEXIVE:
            return None
        if is_thanked(mention) or is_tag_question(mention):
            return None
        if CASE_OF[word] == Case.POSSESSIVE:
            text += possessive_ending(text, Number.SINGULAR)
        is_subject = CASE_OF[word] == Case.SUBJECT or (
            CASE_OF[word] == Case.EITHER and is_beside_verb(mention)
        )
        if is_subject:
            return with_verb(mention, text, Number.SINGULAR)
        return Replacement(mention.start_char, mention.end_char, text)

    def words_in_place(
        self, entity: Entity, kind: Kind, words: Span, place: Token, depth: int
    ) -> str:
        """The entity's words in another token's place."""
        text = self.resolved_words(entity, words, depth)
        text = with_article(text, words, kind, entity.type)
        return in_case(text, words, place)

    def resolved_words(self, entity: Entity, words: Span, depth: int) -> str:
        """Words of a main mention, with the pronouns in it replaced as well."""
        end = words.start_char
        pieces = []
        for token in words:
            other, i = self.pronouns.get(token.i, (entity, 0))
            if depth < DEEPEST and other is not entity and token.idx >= end:
                replaced = self.replacement(other, i, depth + 1)
                if replaced is not None and replaced.end <= words.end_char:
                    pieces += [self.text[end : replaced.start], replaced.text]
                    end = replaced.end
        text = "".join([*pieces, self.text[end : words.end_char]])
        return " ".join(text.split())


def is_several(form: ShortForm) -> bool:
    """Can a part be of it: "three of the men", but not "three of Ann and Tom"?"""
    return form.number == Number.PLURAL and not is_coordinated(form.words)


def with_verb(mention: Span, text: str, number: Number) -> Replacement | None:
    """In place of a subject, with its verb as it must be; None if that isn't known."""
    verb = agreeing_verb(mention[-1], number)
    if verb is None:
        return None
    words, n_tokens = verb
    last = mention.doc[mention.end - 1 + n_tokens]
    return Replacement(mention.start_char, last.idx + len(last), text + words)


def is_shouted(mention: Span) -> bool:
    """Is it "HIS"?"""
    return len(mention.text) > 1 and mention.text.isupper()


def is_beside_verb(mention: Span) -> bool:
    """Does more follow than a full stop, or is it "do you?"."""
    doc = mention.doc
    if mention.end < len(doc) and not is_break(doc[mention.end]):
        return True
    return mention.start > 0 and plain(doc[mention.start - 1].text) in AUXILIARIES


def is_thanked(mention: Span) -> bool:
    """Is it the "you" of "thank you", which nobody says otherwise?"""
    return mention.start > 0 and plain(mention.doc[mention.start - 1].text) == "thank"


def overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def sentence_start(token: Token) -> int:
    """The first token of the sentence that a token is in."""
    while token.i and not starts_sentence(token):
        token = token.nbor(-1)
    return int(token.i)
