"""Entities that come back under the same name after a long time, joined."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from refreader_spacy.annotation.entities import Entity
from refreader_spacy.annotation.mentions import Kind, name_words, shared_word
from refreader_spacy.lang.en.pronouns import PRONOUN_OF, Pronoun
from refreader_spacy.lang.en.words import Gender, plain

SHARE = 20  # of so many mentions, one by name tells what the entity is called
SURE = 2  # a full name or a gender counts from so many mentions


@dataclass(frozen=True)
class Naming:
    """What an entity is called.

    word (str): The name's word that most of its names have.
    full (frozenset[tuple[str, ...]]): Its full names.
    gender (Gender): As its pronouns tell.
    """

    word: str
    full: frozenset[tuple[str, ...]]
    gender: Gender

    def can_be(self, other: Naming) -> bool:
        """Is there nothing against both being one?"""
        if self.gender and other.gender and self.gender != other.gender:
            return False
        return not (self.full and other.full) or bool(self.full & other.full)


def join_namesakes(entities: Sequence[Entity]) -> list[Entity]:
    """Join entities with the same name, unless full names or genders differ.

    The largest come first: a bare surname goes to who is mentioned most.
    """
    groups: dict[str, list[tuple[list[Entity], list[Naming]]]] = defaultdict(list)
    joined: list[list[Entity]] = []
    for entity in sorted(entities, key=lambda entity: (-len(entity), entity.number)):
        naming = naming_of(entity)
        if naming is None:
            joined.append([entity])
            continue
        for members, namings in groups[naming.word]:
            if all(naming.can_be(other) for other in namings):
                members.append(entity)
                namings.append(naming)
                break
        else:
            members = [entity]
            joined.append(members)
            groups[naming.word].append((members, [naming]))
    return [one_of(members) for members in joined]


def naming_of(entity: Entity) -> Naming | None:
    """What an entity is called, if it is by name and often enough."""
    names = [
        name.words
        for mention, head, kind in zip(
            entity.mentions, entity.heads, entity.kinds, strict=True
        )
        if kind >= Kind.NAME and (name := name_words(mention, head)) is not None
    ]
    if len(names) * SHARE < len(entity) or not names:
        return None
    top = shared_word(names)
    full = {
        name
        for name, count in Counter(names).items()
        if len(name) > 1 and top in name and count >= SURE
    }
    return Naming(top, frozenset(full), gender_of(entity))


def gender_of(entity: Entity) -> Gender:
    """What most of an entity's pronouns tell, if they are enough."""
    pronouns = [PRONOUN_OF.get(plain(mention.text)) for mention in entity.mentions]
    more_he = pronouns.count(Pronoun.HE) - pronouns.count(Pronoun.SHE)
    if abs(more_he) < SURE:
        return Gender.UNKNOWN
    return Gender.MASCULINE if more_he > 0 else Gender.FEMININE


def one_of(members: Sequence[Entity]) -> Entity:
    """One entity with the mentions of all, without links."""
    if len(members) == 1:
        return members[0]
    mentions = sorted(
        (
            (mention, head)
            for entity in members
            for mention, head in zip(entity.mentions, entity.heads, strict=True)
        ),
        key=lambda pair: (pair[0].start, pair[0].end),
    )
    return Entity(
        number=min(entity.number for entity in members),
        mentions=[mention for mention, _ in mentions],
        heads=[head for _, head in mentions],
        links=[],
        type=members[0].type,
        kb_id=members[0].kb_id,
    )
