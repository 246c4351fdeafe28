"""Kinds of English anaphors, by the head word of the mention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum


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


_FORMS = {
    AnaphorKind.HE: "he him his",
    AnaphorKind.SHE: "she her hers",
    AnaphorKind.IT: "it its",
    AnaphorKind.THEY: "they them their theirs 'em",
    AnaphorKind.I: "i me my mine",
    AnaphorKind.WE: "we us our ours",
    AnaphorKind.YOU: "you your yours thou thee thy thine ye",
    AnaphorKind.DEMONSTRATIVE: "this that these those",
    AnaphorKind.REFLEXIVE: (
        "himself herself itself themself themselves myself ourselves yourself "
        "yourselves thyself oneself"
    ),
    AnaphorKind.RELATIVE: "who whom whose which",
}
PRONOUNS = {word: kind for kind, text in _FORMS.items() for word in text.split()}
SENTENCE_ENDS = frozenset((".", "!", "?", ":", "...", '"', "“", "``", "''"))


def anaphor_kinds(words: Sequence[str], heads: Iterable[int]) -> list[AnaphorKind]:
    """The kinds of the mentions with these heads.

    A head with a capital is a name. At the beginning of a sentence it is one only if
    the text never writes the word small.
    """
    small = {word for word in words if word[:1].islower()}

    def kind(head: int) -> AnaphorKind:
        word = words[head]
        if word.lower() in PRONOUNS:
            return PRONOUNS[word.lower()]
        at_start = head == 0 or words[head - 1] in SENTENCE_ENDS
        is_name = word[:1].isupper() and not (at_start and word.lower() in small)
        return AnaphorKind.NAME if is_name else AnaphorKind.NOUN

    return [kind(head) for head in heads]
