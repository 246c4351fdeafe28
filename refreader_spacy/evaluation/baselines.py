"""Rules of the GAP paper (Webster et al., 2018), on the parses of a spaCy pipeline.

They choose one of the two names of a row, never both and never none. Each rule falls
back on the next:

1. Parallelism+URL: the closest name that shares a word with the title of the page.
2. Parallelism: if the pronoun is a subject or a direct object, the closest name that
   is one too.
3. The closest name, by the steps between it and the pronoun in the parse, then by the
   tokens between them.

This is how we read the paper, which leaves open what is a step from one sentence to
another (here, each sentence's root is a step away from the next one's), and which used
a parser that is not public. A name inside "A and B" or in an apposition has the role of
the whole.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Literal, NamedTuple

from spacy.tokens import Doc, Token

from refreader_spacy.corpora.gap import Answer, GapRow, Mention
from refreader_spacy.errors import Errors

Role = Literal["subject", "object"]

ROLES: dict[str, Role] = {
    **dict.fromkeys(("nsubj", "nsubjpass", "csubj", "csubjpass"), "subject"),
    "dobj": "object",
}
PARTS = ("conj", "appos")


class Rule(Enum):
    """What a baseline goes by."""

    EVERYTHING_TRUE = "everything-true"
    PARALLELISM = "parallelism"
    PARALLELISM_URL = "parallelism-url"


class Candidate(NamedTuple):
    """A name that the pronoun may mean, and the token that governs it."""

    mention: Mention
    head: Token


def rule_answer(rule: Rule, row: GapRow, doc: Doc) -> Answer:
    """What a rule says about a row.

    doc (Doc): The row's text, parsed, unless everything is true anyway.
    """
    if rule is Rule.EVERYTHING_TRUE:
        return Answer(a=True, b=True)
    if not doc.has_annotation("DEP"):
        raise ValueError(Errors.R351.format(text=doc.text[:40]))
    pronoun = _head(doc, row.pronoun)
    names = [Candidate(mention, _head(doc, mention)) for mention in (row.a, row.b)]
    preferences = [
        [name for name in names if _role(name.head) == _role(pronoun) is not None],
        names,
    ]
    if rule is Rule.PARALLELISM_URL:
        title = _words(re.sub(r"\(.*?\)", "", row.title))  # without "(singer)"
        on_page = [name for name in names if _words(name.mention.text) & title]
        preferences.insert(0, on_page)
    preferred = next(group for group in preferences if group)
    closest = min(preferred, key=lambda name: _distance(pronoun, name.head))
    return Answer(*(name is closest for name in names))


def _head(doc: Doc, mention: Mention) -> Token:
    end = mention.offset + len(mention.text)
    span = doc.char_span(mention.offset, end, alignment_mode="expand")
    if not span:
        raise ValueError(Errors.R111.format(found=doc.text, **mention._asdict()))
    return span.root


def _role(token: Token) -> Role | None:
    while token.dep_ in PARTS:
        token = token.head
    return ROLES.get(token.dep_)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _distance(one: Token, other: Token) -> tuple[int, int]:
    """Steps in the parse, from root to root if need be, and tokens."""
    up_one, up_other = [one, *one.ancestors], [other, *other.ancestors]
    first, last = sorted((one.i, other.i))
    common = len({token.i for token in up_one} & {token.i for token in up_other})
    sentences = sum(
        bool(token.is_sent_start) for token in one.doc[first + 1 : last + 1]
    )
    steps = len(up_one) + len(up_other) - 2 * common
    return (steps if common else steps - 2 + sentences), last - first
