"""The characters of a text: names, counts, places, and who occurs near whom."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spacy.tokens import Doc

from refreader_spacy.annotation.entities import Entity, entities
from refreader_spacy.annotation.mentions import Kind, name_words
from refreader_spacy.annotation.namesakes import join_namesakes, naming_of
from refreader_spacy.annotation.wording import said_again
from refreader_spacy.lang.en.pronouns import PRONOUN_OF, Pronoun
from refreader_spacy.lang.en.words import name_gender, plain

WINDOW = 50  # tokens between mentions of two characters that occur together
PRONOUNS = {
    Pronoun.HE: "he",
    Pronoun.SHE: "she",
    Pronoun.THEY: "they",
    Pronoun.I: "I",
}


@dataclass(frozen=True)
class Character:
    """A person in a text, or an animal that has a name.

    number (int): Counted from 1, the most mentioned first.
    called (dict[str, int]): All names and descriptions, the most frequent first.
    pronoun (str): The most frequent: "he", "she", "they" or "I"; or empty.
    heads (list[int]): The head token of each mention, in text order.
    first, last (int): Characters of the text where the mentions begin and end.
    """

    number: int
    name: str
    type: str
    called: dict[str, int]
    n_mentions: int
    n_names: int
    pronoun: str
    heads: list[int]
    first: int
    last: int


class Together(NamedTuple):
    """Two characters, by number, and how often they are mentioned near each other."""

    one: int
    other: int
    n_times: int


def characters(doc: Doc, *, minimum: int = 1, join: bool = True) -> list[Character]:
    """The characters of a Doc with their coreference, the most mentioned first.

    minimum (int): Leave out who is mentioned less often.
    join (bool): Clusters of the same name are one character: in a long text, somebody
        may have been forgotten and come back.
    """
    people = [entity for entity in entities(doc) if is_character(entity)]
    if join:
        people = join_namesakes(people)
    found = [entity for entity in people if len(entity) >= minimum]
    found.sort(key=lambda entity: (-len(entity), entity.number))
    return [character(entity, number) for number, entity in enumerate(found, start=1)]


def character(entity: Entity, number: int) -> Character:
    pronouns = pronoun_counts(entity)
    pronoun = max(pronouns, key=lambda word: pronouns[word], default="")
    form = said_again(entity)
    words = entity.main if form is None else form.words
    name = " ".join(words.text.split())
    if pronoun == "I" and naming_of(entity) is None:
        name = "I"  # whom somebody once called by a name
    return Character(
        number=number,
        name=name,
        type=entity.type,
        called=called(entity),
        n_mentions=len(entity),
        n_names=sum(kind >= Kind.NAME for kind in entity.kinds),
        pronoun=pronoun,
        heads=entity.heads,
        first=entity.mentions[0].start_char,
        last=max(mention.end_char for mention in entity.mentions),
    )


def is_character(entity: Entity) -> bool:
    """By its type; where that isn't known, by its pronouns or its name."""
    if entity.type:
        is_named = max(entity.kinds) >= Kind.NAME
        return entity.type == "person" or (entity.type == "animal" and is_named)
    pronouns = pronoun_counts(entity)
    if pronouns["he"] or pronouns["she"] or pronouns["I"]:
        return True
    name = name_words(entity.main, entity.main_head)
    return name is not None and (name.titled or name_gender(name.words) > 0)


def pronoun_counts(entity: Entity) -> Counter[str]:
    found = (PRONOUN_OF.get(plain(mention.text)) for mention in entity.mentions)
    return Counter(PRONOUNS[each] for each in found if each in PRONOUNS)


def called(entity: Entity) -> dict[str, int]:
    """Names and descriptions with their counts, names without what follows them."""
    counts: Counter[str] = Counter()
    for mention, head, kind in zip(
        entity.mentions, entity.heads, entity.kinds, strict=True
    ):
        if kind == Kind.PRONOUN:
            continue
        name = name_words(mention, head)
        words = mention if name is None else mention.doc[name.start : name.end]
        text = " ".join(words.text.split()).removesuffix("'s").removesuffix("’s")  # noqa: RUF001
        counts[text] += 1
    return dict(counts.most_common())


def together(found: Sequence[Character], window: int = WINDOW) -> list[Together]:
    """Who is mentioned near whom, the most frequent pair first.

    Each mention counts once with every other character who was mentioned at most so
    many tokens before.
    """
    mentions = sorted((head, who.number) for who in found for head in who.heads)
    recent: deque[tuple[int, int]] = deque()
    present: Counter[int] = Counter()
    pairs: Counter[tuple[int, int]] = Counter()
    for head, number in mentions:
        while recent and recent[0][0] < head - window:
            _, gone = recent.popleft()
            present[gone] -= 1
            if not present[gone]:
                del present[gone]
        for other in present:
            if other != number:
                pairs[min(number, other), max(number, other)] += 1
        recent.append((head, number))
        present[number] += 1
    return [Together(*pair, count) for pair, count in pairs.most_common()]
