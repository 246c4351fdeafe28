"""Who tells the story: "I" outside of quotations, all through a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from spacy.tokens import Doc

from refreader_spacy.annotation.entities import Entity
from refreader_spacy.annotation.mentions import core
from refreader_spacy.annotation.namesakes import naming_of, one_of
from refreader_spacy.lang.en.pronouns import PRONOUN_OF, Pronoun
from refreader_spacy.lang.en.words import plain

NARRATOR = "I"
QUOTES = re.compile('["“”]')
SINGLE = ("'", "‘", "’")  # noqa: RUF001


def join_narrator(entities: Sequence[Entity], quoted: Sequence[bool]) -> list[Entity]:
    """Join whoever says "I" outside of quotations and has no name.

    quoted (Sequence[bool]): Which of the text's tokens are in quotations.
    """
    telling = [
        entity
        for entity in entities
        if says_i(entity) and not is_quoted(entity, quoted)
    ]
    if len(telling) < 2:
        return list(entities)
    numbers = {entity.number for entity in telling}
    others = [entity for entity in entities if entity.number not in numbers]
    return [*others, one_of(telling)]


def says_i(entity: Entity) -> bool:
    """Is it mostly "I", and hardly ever a name?"""
    words = [plain(core(mention.text)) for mention in entity.mentions]
    pronouns = Counter(map(PRONOUN_OF.get, words))
    n_times = pronouns.pop(Pronoun.I, 0)
    pronouns.pop(None, None)
    most = max(pronouns.values(), default=0)
    return n_times > 0 and n_times >= most and naming_of(entity) is None


def is_quoted(entity: Entity, quoted: Sequence[bool]) -> bool:
    """Are most of its mentions in quotations?"""
    return 2 * sum(quoted[head] for head in entity.heads) > len(entity)


def quoted_tokens(doc: Doc) -> list[bool]:
    """Which tokens are in a quotation; an empty line ends one, as nothing else may.

    Marks are double, or single where the text has more of those.
    """
    turns = single_marks(doc)
    if sum(turns.values()) < sum(len(QUOTES.findall(token.text)) for token in doc) / 2:
        turns = {}
    inside = False
    found = []
    for token in doc:
        if token.is_space and token.text.count("\n") > 1:
            inside = False
        if turns:
            inside = turns.get(token.i, inside)
        else:
            for mark in QUOTES.findall(token.text):
                inside = not inside if mark == '"' else mark == "“"
        found.append(inside)
    return found


def single_marks(doc: Doc) -> dict[int, bool]:
    """Single quotation marks by token, and whether a quotation begins there.

    It ends after another mark, so that apostrophes are none.
    """
    found: dict[int, bool] = {}
    for token in doc:
        if token.text not in SINGLE:
            continue
        before = doc[token.i - 1] if token.i else None
        if not token.whitespace_ and (
            before is None or before.is_space or before.whitespace_
        ):
            found[token.i] = True
        elif before is not None and before.is_punct and not before.whitespace_:
            found[token.i] = False
    return found
