"""Kinds of English anaphors, by the head word of the mention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from refreader_spacy.lang.en.lexemes import ROLE_OF, Role
from refreader_spacy.lang.en.pronouns import (
    PRONOUN_OF,
    PRONOUNS,
    REFLEXIVES,
    Pronoun,
)


class AnaphorKind(str, Enum):
    """What scores are broken down by."""

    HE = "he"
    SHE = "she"
    IT = "it"
    THEY = "they"
    I = "I"  # noqa: E741
    WE = "we"
    YOU = "you"
    DEMONSTRATIVE = "demonstrative"
    REFLEXIVE = "reflexive"
    RELATIVE = "relative"
    NAME = "name"
    NOUN = "noun"


_KINDS = {
    Pronoun.HE: AnaphorKind.HE,
    Pronoun.SHE: AnaphorKind.SHE,
    Pronoun.IT: AnaphorKind.IT,
    Pronoun.THEY: AnaphorKind.THEY,
    Pronoun.I: AnaphorKind.I,
    Pronoun.WE: AnaphorKind.WE,
    Pronoun.YOU: AnaphorKind.YOU,
    Pronoun.THIS: AnaphorKind.DEMONSTRATIVE,
    Pronoun.WHO: AnaphorKind.RELATIVE,
}
_BEFORE_SENTENCES = (Role.SENTENCE_END, Role.QUOTE, Role.OPENING_QUOTE, Role.COLON)


def anaphor_kinds(words: Sequence[str], heads: Iterable[int]) -> list[AnaphorKind]:
    """The kinds of the mentions with these heads.

    A head with a capital is a name. At the beginning of a sentence it is one only if
    the text never writes the word small.
    """
    small = {word for word in words if word[:1].islower()}

    def kind(head: int) -> AnaphorKind:
        word = words[head]
        if word.lower() in REFLEXIVES:
            return AnaphorKind.REFLEXIVE
        if word.lower() in PRONOUNS:
            return _KINDS[PRONOUN_OF[word.lower()]]
        at_start = head == 0 or ROLE_OF.get(words[head - 1]) in _BEFORE_SENTENCES
        is_name = word[:1].isupper() and not (at_start and word.lower() in small)
        return AnaphorKind.NAME if is_name else AnaphorKind.NOUN

    return [kind(head) for head in heads]
