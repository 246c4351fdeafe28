"""What a stream reports. Offsets count from the stream's beginning."""

from __future__ import annotations

from typing import Any, NamedTuple


class Mention(NamedTuple):
    """Something that refers to an entity.

    entity (int): Entities are numbered in the order of first mentions, from 0.
    start, end (int): Tokens, the end not included.
    start_char, end_char (int): Characters.
    head (int): The token that it was decided on at.
    label (str): The entity's type, as far as this mention tells.
    meta (Any): Of the piece that the mention began in.
    """

    entity: int
    text: str
    start: int
    end: int
    start_char: int
    end_char: int
    head: int
    label: str
    meta: Any


class MentionStored(NamedTuple):
    """A mention's head was read; its text goes as far as the head."""

    mention: Mention


class MentionClosed(NamedTuple):
    """A mention's right edge is known now."""

    mention: Mention


class LinkMade(NamedTuple):
    """A mention was found to mean what an earlier one meant."""

    antecedent: Mention
    anaphor: Mention
    probability: float


class EntityForgotten(NamedTuple):
    """No later mention can mean this entity: the cells hold something else by now."""

    entity: int


class ClusterFinished(NamedTuple):
    """The mentions of an entity (of very many, the latest) that was forgotten.

    Found again by its name, it has its number again, and what comes then is another
    event.
    """

    entity: int
    mentions: list[Mention]


Event = MentionStored | MentionClosed | LinkMade | EntityForgotten | ClusterFinished
