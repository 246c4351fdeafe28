"""A better reader's opinion as labels: it may look ahead, its pupil never does.

From biographies come questions like GAP's: a pronoun and two names of its gender near
it. The teacher says which of the two is meant, if any.
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
from refreader_spacy.training.silver import (
    MAX_TOKENS,
    MIN_TOKENS,
    PRONOUNS,
    SENTENCE_END,
    Article,
    Gender,
    Place,
    names_in,
)

GENDER_OF = {form: g for g, forms in PRONOUNS.items() for form in forms.values()}
NEAR_BEFORE, NEAR_AFTER = 32, 20  # tokens between a name and the pronoun
LENGTHS = (49, 56, 60, 64, 68, 73, 79, 86, 97)  # tokens of a window, about GAP's
MOST = 12  # questions from one article
ABOUT_OTHERS = 0.5  # of the questions with the article's person are kept
AROUND = 0.35  # of the questions with the pronoun between the names are kept
YES, NO = 4.0, 0.3  # times the teacher's threshold: from and to here it is sure
NEITHER = 0.12  # of the answers, as in GAP


@dataclass(frozen=True)
class Question:
    """A window of a biography: whom does the pronoun mean?"""

    words: list[str]
    spaces: list[bool]
    pronoun: int
    names: tuple[Place, Place]

    def moved(self, start: int, end: int) -> Question:
        """The same within a part of the words."""
        return Question(
            self.words[start:end],
            self.spaces[start:end],
            self.pronoun - start,
            cast(
                tuple[Place, Place],
                tuple((a - start, b - start) for a, b in self.names),
            ),
        )


@dataclass(frozen=True)
class Person:
    """A name in a paragraph."""

    place: Place
    gender: Gender
    words: frozenset[str]


def questions(
    nlp: Language, articles: Iterable[Article], given: dict[str, Gender], seed: int
) -> Iterator[Question]:
    """What there is to ask about."""
    rng = random.Random(seed)
    for article in articles:
        surnames = _surnames(article, given)
        n_asked = 0
        for paragraph in article.paragraphs:
            asked = list(_asked(nlp, paragraph, article, given, surnames, rng))
            if asked and n_asked < MOST:
                n_asked += 1
                yield rng.choice(asked)


def answered(
    nlp: Language, teacher: Language, threshold: float, asked: Iterable[Question]
) -> Iterator[Doc]:
    """Gold Docs: two names, and the pronoun with the one that the teacher is sure of.

    teacher (Language): A pipeline whose reader keeps a trace.
    threshold (float): Of that reader.
    """
    n_answers = n_neither = 0
    docs = ((Doc(teacher.vocab, words=q.words, spaces=q.spaces), q) for q in asked)
    for read, question in teacher.pipe(docs, as_tuples=True, batch_size=16):
        reading = cast(Reading, read_trace(read))
        links = [
            max(reading.link_probability(question.pronoun, t) for t in range(*name))
            for name in question.names
        ]
        doc = Doc(nlp.vocab, words=question.words, spaces=question.spaces)
        clusters = [[doc[start:end]] for start, end in question.names]
        pronoun = doc[question.pronoun : question.pronoun + 1]
        if max(links) >= max(YES * threshold, 2 * min(links)):
            clusters[links.index(max(links))].append(pronoun)
        elif max(links) <= NO * threshold and n_neither <= NEITHER * n_answers:
            clusters.append([pronoun])
            n_neither += 1
        else:
            continue
        n_answers += 1
        for number, mentions in enumerate(clusters, start=1):
            doc.spans[f"coref_clusters_{number}"] = mentions
        yield doc


def _surnames(article: Article, given: dict[str, Gender]) -> dict[str, Gender]:
    """The genders of people by their last names, as their first names tell."""
    found: dict[str, Gender] = {}
    for paragraph in article.paragraphs:
        words = paragraph.replace(",", " ,").replace("'s", " 's").split()
        for start, end in names_in(words):
            gender = given.get(words[start])
            if gender and end - start > 1:
                found.setdefault(words[end - 1], gender)
    own = article.gender()
    if own:
        found.update(dict.fromkeys(article.names, own))
    return found


def _asked(
    nlp: Language,
    paragraph: str,
    article: Article,
    given: dict[str, Gender],
    surnames: dict[str, Gender],
    rng: random.Random,
) -> Iterator[Question]:
    """All questions of a paragraph, cut to windows of sentences."""
    words: list[str] = []
    spaces: list[bool] = []
    starts = [0]
    for sentence in SENTENCE_END.split(paragraph):
        doc = nlp.make_doc(sentence)
        words += [token.text for token in doc]
        spaces += [bool(token.whitespace_) for token in doc]
        spaces[-1:] = [True] if spaces else []
        starts.append(len(words))
    people = list(_people(words, given, surnames))
    for at, word in enumerate(words):
        gender = GENDER_OF.get(word.lower())
        if gender is None:
            continue
        last = max(i for i, start in enumerate(starts) if start <= at)
        for names in _pairs(people, at, gender, starts[max(0, last - 1)], rng):
            mine = set(article.names) & {
                *words[slice(*names[0])],
                *words[slice(*names[1])],
            }
            if mine and rng.random() >= ABOUT_OTHERS:
                continue
            end = next(s for s in [*starts, len(words)] if s > max(at, names[1][0]))
            wanted = end - rng.choice(LENGTHS)
            start = max(s for s in starts if s <= min(at, names[0][0], max(wanted, 0)))
            if MIN_TOKENS <= end - start <= MAX_TOKENS:
                yield Question(words, spaces, at, names).moved(start, end)


def _people(
    words: list[str], given: dict[str, Gender], surnames: dict[str, Gender]
) -> Iterator[Person]:
    for start, end in names_in(words):
        first, last = words[start], words[end - 1]
        by_first = given.get(first) if end - start > 1 else None
        gender = by_first or surnames.get(last) or given.get(first)
        if gender:
            yield Person((start, end), gender, frozenset(words[start:end]))


def _pairs(
    people: list[Person], at: int, gender: Gender, since: int, rng: random.Random
) -> Iterator[tuple[Place, Place]]:
    """Two names near a pronoun: before it, after it, or one on either side."""
    same = [person for person in people if person.gender == gender]
    before = [
        p
        for p in same[::-1]
        if since <= p.place[0] < at and at - p.place[1] <= NEAR_BEFORE
    ]
    after = [p for p in same if 0 < p.place[0] - at <= NEAR_AFTER]
    around = [*before[:1], *after] if rng.random() < AROUND else []
    for near in (before, after, around):
        if len(near) < 2:
            continue
        other = next((p for p in near if not p.words & near[0].words), None)
        if other:
            first, second = sorted((near[0].place, other.place))
            yield first, second
