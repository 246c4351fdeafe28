"""What a stream reports. Offsets count from the stream's beginning."""

from __future__ import annotations

from typing import Any, NamedTuple


class Mention(NamedTuple):
    """Something that refers to an entity."""

    entity: int  # numbered in the order of first mentions, from 0
    text: str
    start: int  # tokens
    end: int
    start_char: int
    end_char: int
    meta: Any  # of the piece that the mention began in


class MentionStored(NamedTuple):
    """A mention has ended and is in the memory."""

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
    """The mentions of an entity (of very many, the latest), which nothing will join."""

    entity: int
    mentions: list[Mention]


Event = MentionStored | LinkMade | EntityForgotten | ClusterFinished
