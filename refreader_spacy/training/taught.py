"""A better reader's opinion as labels: it may look ahead, its pupil never does.

From biographies come windows like GAP's: a pronoun and two names of its gender near it.
The teacher, a reader of names itself, says of each pronoun there how probably it means
whom, and its pupil learns to say the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.annotation.extensions import read_trace
from refreader_spacy.corpora.biographies import (
    MAX_TOKENS,
    MIN_TOKENS,
    SENTENCE_END,
    Article,
    Gender,
    Place,
    names_in,
)
from refreader_spacy.protocol import Reading
from refreader_spacy.training.shares import GENDER_OF, write_shares

NEAR_BEFORE, NEAR_AFTER = 32, 20  # tokens between a name and the pronoun
LENGTHS = (49, 56, 60, 64, 68, 73, 79, 86, 97)  # tokens of a window, about GAP's
MOST = 12  # questions from one article
ABOUT_OTHERS = 0.5  # of the questions with the article's person are kept
AROUND = 0.35  # of the questions with the pronoun between the names are kept


@dataclass(frozen=True)
class Person:
    """A name in a paragraph."""

    place: Place
    gender: Gender
    words: frozenset[str]


def windows(
    nlp: Language, articles: Iterable[Article], given: dict[str, Gender], seed: int
) -> Iterator[Doc]:
    """What there is to ask about: at most one window of a paragraph."""
    rng = random.Random(seed)
    for article in articles:
        surnames = _surnames(article, given)
        n_asked = 0
        for paragraph in article.paragraphs:
            found = list(_windows(nlp, paragraph, article, given, surnames, rng))
            if found and n_asked < MOST:
                n_asked += 1
                # As anybody would cut the text into words who hasn't seen the rest
                yield nlp.make_doc(rng.choice(found))


def teach(teacher: Language, docs: Iterable[Doc]) -> Iterator[Doc]:
    """Put on each Doc what the teacher says of it.

    teacher (Language): A pipeline whose reader of names keeps a trace.
    """
    asked = ((Doc(teacher.vocab, *_words(doc)), doc) for doc in docs)
    for read, doc in teacher.pipe(asked, as_tuples=True, batch_size=16):
        write_shares(doc, cast(Reading, read_trace(read)))
        yield doc


def _words(doc: Doc) -> tuple[list[str], list[bool]]:
    return [t.text for t in doc], [bool(t.whitespace_) for t in doc]


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


def _windows(
    nlp: Language,
    paragraph: str,
    article: Article,
    given: dict[str, Gender],
    surnames: dict[str, Gender],
    rng: random.Random,
) -> Iterator[str]:
    """Parts of a paragraph, some sentences each, with a pronoun and two names."""
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
                yield Doc(nlp.vocab, words[start:end], spaces[start:end]).text


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
