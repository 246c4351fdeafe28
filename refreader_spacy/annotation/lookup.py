"""The cluster that a span is about, also where its extent isn't quite a mention's."""

from __future__ import annotations

from spacy.tokens import Span, Token

from refreader_spacy.annotation.index import IndexedCluster, IndexedMention, index_of
from refreader_spacy.annotation.mentions import head_of
from refreader_spacy.lang.en.phrases import NAME_SUFFIXES
from refreader_spacy.lang.en.pronouns import POSSESSIVES, PRO_FORMS
from refreader_spacy.lang.en.words import CLITICS, DETERMINERS, TITLES, plain

SMALL_WORDS = TITLES | CLITICS | DETERMINERS | POSSESSIVES
SUFFIXES = NAME_SUFFIXES | {","}
MODIFIERS = ("ADJ", "NOUN", "PROPN", "NUM", "DET", "PART")


def cluster_of(span: Span) -> IndexedCluster | None:
    """The cluster with this span, or with one of the same head that differs little."""
    if not len(span):
        return None
    index = index_of(span.doc)
    exact = index.of_mention.get((span.start, span.end))
    if exact is not None:
        return index.clusters[exact]
    head = head_of(without_suffix(span))
    near = [
        (abs(mention.start - span.start) + abs(mention.end - span.end), number)
        for number in index.of_token.get(head, ())
        for mention in index.clusters[number].mentions
        if mention.start <= head < mention.end and differs_little(mention, span, head)
    ]
    return index.clusters[min(near)[1]] if near else None


def without_suffix(span: Span) -> Span:
    """A name without the "Inc." or ", Jr." after it, which is never its head."""
    end = span.end
    while end > span.start and plain(span.doc[end - 1].text) in SUFFIXES:
        end -= 1
    return span.doc[span.start : end] if end > span.start else span


def differs_little(mention: IndexedMention, span: Span, head: int) -> bool:
    """Does one only have a few small words more, and have both the same head?

    Of a name nobody can tell which word that is; there the words must be very small.
    """
    doc = span.doc
    its_head = head_of(mention.span(doc)) if mention.head < 0 else mention.head
    if plain(doc[its_head].text) in PRO_FORMS:  # "her last week" isn't she
        return False
    edges = sorted((mention.start, span.start, mention.end, span.end))
    more = [*doc[edges[0] : edges[1]], *doc[edges[2] : edges[3]]]
    return all(map(is_small, more)) and (
        its_head == head
        or (span.start <= its_head < span.end and all(map(is_no_name, more)))
    )


def is_no_name(token: Token) -> bool:
    return bool(token.is_punct) or plain(token.text) in SMALL_WORDS


def is_small(token: Token) -> bool:
    """Can it be added to a name or left out?"""
    return (
        token.is_punct
        or token.text[:1].isupper()
        or token.pos_ in MODIFIERS
        or plain(token.text) in SMALL_WORDS
    )
