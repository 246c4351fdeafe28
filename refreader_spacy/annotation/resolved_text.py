"""The text with anaphors replaced by their antecedents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from spacy.tokens import Doc, Span, Token

from refreader_spacy.lang.en.words import (
    AFTER_OBJECTS,
    CLITICS,
    DETERMINERS,
    PLURAL_POSSESSIVES,
    POSSESSIVES,
    PRONOUNS,
    REFLEXIVES,
    RELATIVES,
)

# "Ahab hurt Ahab" would be two men, and "the man, the man left" isn't English.
IRREPLACEABLE = REFLEXIVES | RELATIVES
CAPITAL_ONLY_AT_START = (PRONOUNS | DETERMINERS) - {"i"}
NEVER_POSSESSED = AFTER_OBJECTS | DETERMINERS | PRONOUNS


def resolved_text(doc: Doc, clusters: Sequence[Sequence[Span]]) -> str:
    """The text with each mention replaced by its cluster's first that is no pronoun.

    Of overlapping mentions the outermost that is replaced counts. Other text stays
    exactly as it is; verbs are not made to agree.
    """
    text = doc.text  # built on every access
    pieces = []
    end = 0
    for mention, main in sorted(replaceable(clusters), key=text_order):
        if mention.start_char >= end:
            pieces += [text[end : mention.start_char], replacement(mention, main)]
            end = mention.end_char
    return "".join([*pieces, text[end:]])


def replaceable(clusters: Sequence[Sequence[Span]]) -> Iterator[tuple[Span, Span]]:
    """Mentions to replace, each with the mention that replaces it."""
    for cluster in clusters:
        for main in islice((span for span in cluster if not is_pronoun(span)), 1):
            for mention in cluster:
                overlaps = mention.start < main.end and main.start < mention.end
                if not overlaps and mention[-1].lower_ not in IRREPLACEABLE:
                    yield mention, main


def text_order(replaced: tuple[Span, Span]) -> tuple[int, int]:
    """By the mention's start, the longer first."""
    mention, _ = replaced
    return mention.start, -mention.end


def replacement(mention: Span, main: Span) -> str:
    """The main mention's words in the case and form that the mention's place needs."""
    words = " ".join(main.text.split())
    first = main[0]
    if needs_capital(mention[0]):
        if first.is_lower:
            words = words[0].upper() + words[1:]
    elif first.lower_ in DETERMINERS | POSSESSIVES and starts_sentence(first):
        words = words[0].lower() + words[1:]  # but it stays in a name: "in The Hague"
    return words + possessive_ending(mention, main) if is_possessive(mention) else words


def needs_capital(token: Token) -> bool:
    """A word that is only capital at a sentence's start shows it; other words don't."""
    if token.lower_ in CAPITAL_ONLY_AT_START:
        return bool(token.is_title)
    return starts_sentence(token)


def starts_sentence(token: Token) -> bool:
    """As annotated; else after a full stop, a line break, or a comma before a quote."""
    if token.is_sent_start is not None:
        return bool(token.is_sent_start)
    enders = ".!?…"
    for previous in reversed(token.doc[: token.i]):
        if "\n" in previous.text or set(previous.text) <= set(enders):
            return True
        if not (previous.is_quote or previous.is_bracket or previous.is_space):
            return False
        enders += ",:"
    return True


def is_pronoun(mention: Span) -> bool:
    return all(token.lower_ in PRONOUNS for token in mention)


def is_possessive(mention: Span) -> bool:
    """Is this "his", an "her" that isn't an object, or "the captain's"?"""
    last = mention[-1]
    if last.lower_ in CLITICS:
        return True
    if len(mention) > 1 or last.lower_ != "her":
        return len(mention) == 1 and last.lower_ in POSSESSIVES
    if last.tag_ or last.morph:
        return last.tag_ == "PRP$" or "Yes" in last.morph.get("Poss", [])
    if last.i + 1 == len(last.doc):
        return False
    following = last.nbor()
    ends = following.is_punct or following.is_space
    return not ends and following.lower_ not in NEVER_POSSESSED


def possessive_ending(mention: Span, main: Span) -> str:
    """What to add: "Ahab's", "James's", but "the sailors'", and nothing twice."""
    if main.text.endswith(tuple(CLITICS)):
        return ""
    is_plural = mention.text.lower() in PLURAL_POSSESSIVES and (
        main[-1].is_lower or main[0].lower_ in DETERMINERS
    )
    return "'" if is_plural and main.text.endswith("s") else "'s"
