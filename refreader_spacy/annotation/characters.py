"""The characters of a text: names, counts, places, and who occurs near whom."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spacy.tokens import Doc, Span

from refreader_spacy.annotation.entities import Entity, entities
from refreader_spacy.annotation.mentions import Kind, core, name_words
from refreader_spacy.annotation.namesakes import SHARE, join_namesakes, naming_of
from refreader_spacy.annotation.narrator import (
    NARRATOR,
    is_quoted,
    join_narrator,
    quoted_tokens,
    says_i,
)
from refreader_spacy.annotation.short_forms import repeated_part, short_form
from refreader_spacy.lang.en.phrases import AUXILIARIES, CLAUSE_OPENERS, INDEFINITES
from refreader_spacy.lang.en.pronouns import PRONOUN_OF, Pronoun
from refreader_spacy.lang.en.words import (
    DETERMINERS,
    PREPOSITIONS,
    name_gender,
    plain,
    words,
)

WINDOW = 50  # tokens between mentions of two characters that occur together
ADDRESSES = words(
    "sir madam ma'am mum man men boy boys lad lads lass one there here gentlemen "
    "ladies dear darling brother sister friend friends fellow fellows sonny my old "
    "young poor little good ye o oh shipmates mate child children yer ye're"
)
FUNCTION_WORDS = PREPOSITIONS | CLAUSE_OPENERS | AUXILIARIES | DETERMINERS
AFTER_NAMES = ',;:!?)]-–—"”'  # noqa: RUF001
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
    name (str): The fullest name, or a description.
    type (str): Of the entity, such as "person"; empty where it isn't known.
    called (dict[str, int]): All names and descriptions, the most frequent first.
    n_mentions (int): How often they are mentioned, by pronouns too.
    n_names (int): How often by a name.
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

    Those that are never called anything are left out, but for who tells the story.

    minimum (int): Leave out who is mentioned less often.
    join (bool): Clusters of the same name are one character, and so are all of who
        tells the story: in a long text, somebody may be forgotten and come back.
    """
    people = [entity for entity in entities(doc) if is_character(entity)]
    quoted = quoted_tokens(doc)
    if join:
        people = join_narrator(join_namesakes(people), quoted)
    found = [
        (entity, name)
        for entity in sorted(people, key=lambda entity: (-len(entity), entity.number))
        if len(entity) >= minimum and (name := display_name(entity, quoted))
    ]
    return [
        character(entity, name, number)
        for number, (entity, name) in enumerate(found, start=1)
    ]


def character(entity: Entity, name: str, number: int) -> Character:
    pronouns = pronoun_counts(entity)
    return Character(
        number=number,
        name=name,
        type=entity.type,
        called=called(entity),
        n_mentions=len(entity),
        n_names=sum(kind >= Kind.NAME for kind in entity.kinds),
        pronoun=max(pronouns, key=lambda word: pronouns[word], default=""),
        heads=entity.heads,
        first=entity.mentions[0].start_char,
        last=max(mention.end_char for mention in entity.mentions),
    )


def display_name(entity: Entity, quoted: Sequence[bool]) -> str:
    """The most informative name, or else the most frequent description.

    Who is all but always a pronoun has none, unless it is the narrator.
    """
    if says_i(entity) and not is_quoted(entity, quoted):
        return NARRATOR
    if naming_of(entity) is None:
        found = called(entity).items()
        described = ((name, n) for name, n in found if not is_address(name))
        name, count = next(described, ("", 0))
        return name if count * SHARE >= len(entity) else ""
    form = short_form(entity)
    words = entity.main if form is None else form.words
    if len(words) > 1 and plain(words[0].text) in INDEFINITES:  # "a Lakeman"
        words = words[1:]
    return clean(words)


def is_address(name: str) -> bool:
    """Is it what anybody may be called to their face: "sir", "my dear boy"?"""
    return {plain(word) for word in name.split()} <= ADDRESSES


def clean(words: Span) -> str:
    """Words on one line, without what is glued to them or follows as a possessive."""
    text = " ".join(core(word) for word in words.text.split())
    without_stop = text.rstrip(".")
    if without_stop.endswith(tuple(AFTER_NAMES)):  # but "Jr." keeps its own
        text = without_stop.rstrip(AFTER_NAMES)
    return text.removesuffix("'s").removesuffix("’s")  # noqa: RUF001


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
    """Names and descriptions with their counts, without what follows them.

    What differs only in its capitals is one, in the form that comes most often.
    """
    forms: dict[str, Counter[str]] = {}
    for mention, head, kind in zip(
        entity.mentions, entity.heads, entity.kinds, strict=True
    ):
        if kind == Kind.PRONOUN:
            continue
        name = name_words(mention, head)
        if name is None:
            words = repeated_part(mention, head) or mention.doc[head : head + 1]
        else:
            words = mention.doc[name.start : name.end]
        text = clean(words)
        if not text or plain(text) in FUNCTION_WORDS:  # nothing, or "for" by mistake
            continue
        forms.setdefault(text.lower(), Counter())[text] += 1
    counts = Counter(
        {form.most_common(1)[0][0]: form.total() for form in forms.values()}
    )
    return dict(counts.most_common())


def together(characters: Sequence[Character], window: int = WINDOW) -> list[Together]:
    """Who is mentioned near whom, the most frequent pair first.

    Each mention counts once with every other character who was mentioned at most so
    many tokens before.
    """
    mentions = sorted((head, who.number) for who in characters for head in who.heads)
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
