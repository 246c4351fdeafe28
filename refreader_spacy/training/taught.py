"""A better reader's opinion as labels: it may look ahead, its pupil never does.

In windows of biographies, names that share a word are one person, and a pronoun means
whom the teacher links it to.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.extensions import read_trace
from refreader_spacy.model.types import Reading
from refreader_spacy.training.gold import UNSURE
from refreader_spacy.training.silver import (
    MAX_TOKENS,
    MIN_TOKENS,
    PRONOUNS,
    Article,
    Gender,
    Place,
    names_in,
    windows_of,
)

FORMS = {form for forms in PRONOUNS.values() for form in forms.values()}
FORMS |= {"himself", "herself"}
KEPT = 0.5  # of the windows, so that there are more articles among them
SURE = 2.0  # times the threshold, and times the second best: what a link must have


@dataclass(frozen=True)
class Window:
    """Sentences of a biography that name several people and have pronouns."""

    words: list[str]
    spaces: list[bool]
    people: list[list[Place]]  # the mentions of each
    pronouns: list[Place]


def windows_with_people(
    nlp: Language, articles: Iterable[Article], given: dict[str, Gender], seed: int
) -> Iterator[Window]:
    """What there is to ask about."""
    rng = random.Random(seed)
    for article in articles:
        for text in windows_of(article, rng):
            doc = nlp.make_doc(text)
            words = [token.text for token in doc]
            if not MIN_TOKENS <= len(doc) <= MAX_TOKENS or rng.random() >= KEPT:
                continue
            people = people_in(words, {*given, *article.names})
            pronouns = [(i, i + 1) for i, w in enumerate(words) if w.lower() in FORMS]
            if len(people) > 1 and pronouns:
                spaces = [bool(token.whitespace_) for token in doc]
                yield Window(words, spaces, people, pronouns)


def people_in(words: list[str], known: set[str]) -> list[list[Place]]:
    """The mentions of each person, in the order of the text.

    A name is a person's if it begins with a first name that is known or shares a word
    with such a name.
    """
    named = {place: set(words[slice(*place)]) for place in names_in(words)}
    personal = {
        word
        for (start, _), parts in named.items()
        if words[start] in known
        for word in parts
    }
    people: list[tuple[list[Place], set[str]]] = []
    for place, parts in named.items():
        if not parts & personal:
            continue
        same = [person for person in people if person[1] & parts]
        people = [person for person in people if person not in same]
        mentions = [mention for person in same for mention in person[0]]
        people.append(([*mentions, place], parts.union(*(p[1] for p in same))))
    return sorted(sorted(mentions) for mentions, _ in people)


def taught(
    nlp: Language, teacher: Language, threshold: float, windows: Iterable[Window]
) -> Iterator[Doc]:
    """Gold Docs: each person with the pronouns that the teacher is sure of.

    teacher (Language): A pipeline whose reader keeps a trace.
    threshold (float): Of that reader.
    """
    asked = (
        (Doc(teacher.vocab, words=window.words, spaces=window.spaces), window)
        for window in windows
    )
    for doc, window in teacher.pipe(asked, as_tuples=True):
        reading = cast(Reading, read_trace(doc))
        yield _gold(nlp, window, reading, SURE * threshold)


def _gold(nlp: Language, window: Window, reading: Reading, sure: float) -> Doc:
    clusters = [list(mentions) for mentions in window.people]
    unsure = []
    for pronoun in window.pronouns:
        links = [_link(reading, pronoun, mentions) for mentions in clusters]
        *_, second, best = sorted(links)
        if best >= sure and best > SURE * second:
            clusters[links.index(best)].append(pronoun)
        else:
            unsure.append(pronoun)
    doc = Doc(nlp.vocab, words=window.words, spaces=window.spaces)
    for number, mentions in enumerate(clusters, start=1):
        spans = [doc[start:end] for start, end in sorted(mentions)]
        doc.spans[f"coref_clusters_{number}"] = spans
    if unsure:
        mentions = [m for cluster in [unsure, *clusters] for m in cluster]
        doc.spans[UNSURE] = [doc[start:end] for start, end in sorted(mentions)]
    return doc


def _link(reading: Reading, pronoun: Place, mentions: Iterable[Place]) -> float:
    """The pronoun's best link to a person, by way of other pronouns too."""
    at, _ = pronoun
    return max(reading.link_probability(at, t) for m in mentions for t in range(*m))
