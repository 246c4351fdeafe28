"""What stands in place of each anaphor of a Doc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, NamedTuple

from spacy.tokens import Doc, Span, Token

from refreader_spacy.annotation.anaphors import (
    can_replace_noun,
    follows_same,
    is_expletive,
    is_far_cataphor,
    is_object_of_itself,
    link_probabilities,
    pronoun_agrees,
)
from refreader_spacy.annotation.entities import Entity, entities
from refreader_spacy.annotation.index import index_of
from refreader_spacy.annotation.mentions import Kind, starts_sentence
from refreader_spacy.annotation.wording import (
    SaidAgain,
    agreeing_verb,
    in_case,
    is_break,
    is_possessive,
    possessive_ending,
    said_again,
    with_article,
)
from refreader_spacy.corpora.span_groups import SPEAKERS
from refreader_spacy.lang.en.pronouns import (
    CASE_OF,
    DEMONSTRATIVES,
    PRONOUN_OF,
    Case,
    Pronoun,
)
from refreader_spacy.lang.en.words import Number, plain

Anaphors = Literal["pronouns", "all", "first_in_sentence"]

DEEPEST = 3  # mentions in mentions that are replaced in what is said again


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
        self.forms = {entity.number: said_again(entity) for entity in self.entities}
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
        found = chain.from_iterable(map(self.of_entity, self.entities))
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
            if replaced is not None:
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
        possessive = is_possessive(mention)
        if possessive is None:
            return None
        words = form.possessor if possessive else form.words
        text = self.said(entity, form.kind, words, mention[0], depth)
        if possessive:
            if "'s " in text:  # "Ann's aunt's hat" is no better than "her hat"
                return None
            text += possessive_ending(text, form.number)
        if CASE_OF.get(word) in (Case.SUBJECT, Case.EITHER):
            return with_verb(mention, text, form.number)
        return Replacement(mention.start_char, mention.end_char, text)

    def can_replace(self, entity: Entity, i: int, form: SaidAgain) -> bool:
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
                and not is_far_cataphor(entity, mention, form)
                and not is_object_of_itself(entity, mention, self.owners)
            )
        if self.anaphors != "all" or kind == Kind.QUANTIFIED or kind >= form.kind:
            return False
        return can_replace_noun(entity, mention, kind, self.owners)

    def of_speaker(self, entity: Entity, mention: Span) -> Replacement | None:
        """What stands for "I" where the speaker is known, and for "you" with a name."""
        speaker = self.speakers.get(mention.start)
        form = self.forms[entity.number]
        word = plain(mention.text)
        if not speaker or CASE_OF[word] == Case.REFLEXIVE:
            return None
        if PRONOUN_OF[word] == Pronoun.I:
            text = speaker
        elif form is not None and form.kind >= Kind.NAME:
            text = self.said(entity, form.kind, form.words, mention[0], DEEPEST)
        else:
            return None
        if CASE_OF[word] == Case.POSSESSIVE:
            text += possessive_ending(text, Number.SINGULAR)
        is_subject = CASE_OF[word] == Case.SUBJECT or (
            CASE_OF[word] == Case.EITHER
            and mention.end < len(self.doc)
            and not is_break(self.doc[mention.end])
        )
        if is_subject:
            return with_verb(mention, text, Number.SINGULAR)
        return Replacement(mention.start_char, mention.end_char, text)

    def said(
        self, entity: Entity, kind: Kind, words: Span, place: Token, depth: int
    ) -> str:
        """The entity's words in another token's place."""
        text = with_article(self.said_inside(entity, words, depth), words, kind)
        return in_case(text, words, place)

    def said_inside(self, entity: Entity, words: Span, depth: int) -> str:
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


def with_verb(mention: Span, text: str, number: Number) -> Replacement | None:
    """In place of a subject, with its verb as it must be; None if that isn't known."""
    verb = agreeing_verb(mention[-1], number)
    if verb is None:
        return None
    words, n_tokens = verb
    last = mention.doc[mention.end - 1 + n_tokens]
    return Replacement(mention.start_char, last.idx + len(last), text + words)


def overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def sentence_start(token: Token) -> int:
    """The first token of the sentence that a token is in."""
    while token.i and not starts_sentence(token):
        token = token.nbor(-1)
    return int(token.i)
