"""Coreference labels for free: a biography says again and again who it is about.

A window of sentences in which the article's person and somebody else are named gives
an example like GAP's. Natural: a pronoun of the person's gender is taken to mean the
person. Replaced: a later mention of the person becomes the pronoun, so the label is
certain.
"""

from __future__ import annotations

import lzma
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.corpora.span_groups import UNSURE
from refreader_spacy.lang.en.words import CLITICS
from refreader_spacy.lang.en.words import words as listed

Gender = Literal["M", "F"]
Place = tuple[int, int]  # tokens, end exclusive

PRONOUNS: dict[Gender, dict[str, str]] = {
    "M": {"subject": "he", "object": "him", "possessive": "his"},
    "F": {"subject": "she", "object": "her", "possessive": "her"},
}
SWAPS = dict(
    pair
    for a, b in [
        *(("he", "she"), ("him", "her"), ("his", "her"), ("himself", "herself")),
        *(("man", "woman"), ("men", "women"), ("boy", "girl"), ("husband", "wife")),
        *(("father", "mother"), ("son", "daughter"), ("brother", "sister")),
        *(("uncle", "aunt"), ("actor", "actress"), ("king", "queen"), ("mr", "mrs")),
    ]
    for pair in ((b, a), (a, b))
)
TAKES_OBJECT = listed(
    "of to with for by from about against told gave joined married succeeded beat met "
    "defeated replaced asked named appointed called"
)
NOT_A_NAME = listed(
    "The A An In On At He She His Her It Its They Their After Before During When While "
    "From For By With As Of To And But Or If This That These Those There Then Since "
    "Born January February March April May June July August September October November "
    "December Monday Tuesday Wednesday Thursday Friday Saturday Sunday University "
    "College School League Cup World War National State City County Party House Club "
    "Award Church Army Navy Royal Street Park River American British English French "
    "German St Sir Lord Lady Dr Mr Mrs Ms President King Queen Prince Princess"
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
MIN_TOKENS, MAX_TOKENS = 25, 170  # about what GAP's texts have
PERSON_FIRST = 0.4  # of the examples that name the person first, as most do, are kept
CLEAR = 4  # one gender's pronouns must outnumber the other's by this


class Article(NamedTuple):
    """A biography: whom it is about, and its paragraphs."""

    title: str
    paragraphs: list[str]

    def gender(self) -> Gender | None:
        """The person's, as the article's pronouns tell, if they do."""
        words = Counter(re.findall(r"\b(?:he|him|his|she|hers?)\b", self.text.lower()))
        masculine = words["he"] + words["him"] + words["his"]
        return _clear(masculine, words.total() - masculine)

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(self.paragraphs)

    @property
    def names(self) -> list[str]:
        """The capitalised words of the title."""
        title = re.sub(r"\(.*?\)", "", self.title)
        return [word for word in title.split() if word[:1].isupper()]


@dataclass(frozen=True)
class Silver:
    """An example with its label: the pronoun means the person, not the other."""

    kind: Literal["natural", "replaced"]
    gender: Gender
    words: list[str]
    spaces: list[bool]
    pronoun: Place
    person: Place
    other: Place
    mentions: list[Place]  # all that name the person; only `person` is labelled


def read_articles(path: Path) -> Iterator[Article]:
    """Articles of a text, maybe compressed: a line `= Title =`, then paragraphs."""
    article: Article | None = None
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf8") as lines:
        for line in map(str.strip, lines):
            if line.startswith("= ") and line.endswith(" ="):
                if article:
                    yield article
                article = Article(line[2:-2], [])
            elif line and article:
                article.paragraphs.append(line)
    if article:
        yield article


def given_names(
    articles: Iterable[Article], *, least: int = 2, clear: int = CLEAR
) -> dict[str, Gender]:
    """First names whose gender the articles about their bearers agree on.

    least, clear (int): So many bearers must have it, and outnumber the others by this.
    """
    counts: dict[str, Counter[str]] = {}
    for article in articles:
        gender = article.gender()
        if gender and article.names:
            counts.setdefault(article.names[0], Counter())[gender] += 1
    genders = {name: _clear(n["M"], n["F"], least, clear) for name, n in counts.items()}
    return {name: g for name, g in genders.items() if g and name not in NOT_A_NAME}


def silver_examples(
    nlp: Language, articles: Iterable[Article], given: dict[str, Gender], seed: int
) -> Iterator[Silver]:
    """All windows of all articles that make an example, at most one of each kind.

    Articles about men are many more than those about women, so half of what they give
    is turned into the other gender, names and all.
    """
    rng = random.Random(seed)
    by_gender = {g: [n for n in given if given[n] == g] for g in ("M", "F")}
    for article in articles:
        gender = article.gender()
        if gender is None or not article.names:
            continue
        for window in _windows(article, rng):
            doc = nlp.make_doc(window)
            if not MIN_TOKENS <= len(doc) <= MAX_TOKENS:
                continue
            for example in _examples(doc, article, gender, given, rng):
                if example.person < example.other and rng.random() >= PERSON_FIRST:
                    continue
                if gender == "M" and rng.random() < 0.5:
                    yield _turned(example, by_gender["F"], given, rng)
                else:
                    yield example


def silver_doc(nlp: Language, example: Silver) -> Doc:
    """The gold Doc: a cluster of person and pronoun, and the other by itself."""
    doc = Doc(nlp.vocab, words=example.words, spaces=example.spaces)
    person, pronoun, other, *unsure = (
        doc[start:end]
        for start, end in (
            *(example.person, example.pronoun, example.other),
            *example.mentions,
        )
    )
    doc.spans["coref_clusters_1"] = sorted([person, pronoun], key=lambda s: s.start)
    doc.spans["coref_clusters_2"] = [other]
    pronouns = [doc[t.i : t.i + 1] for t in doc if t.lower_ in SWAPS]
    doc.spans[UNSURE] = [*unsure, *pronouns]
    return doc


def _windows(article: Article, rng: random.Random) -> Iterator[str]:
    for paragraph in article.paragraphs:
        sentences = SENTENCE_END.split(paragraph)
        start = 0
        while start < len(sentences):
            n = rng.choice((2, 3, 3, 4))
            yield " ".join(sentences[start : start + n])
            start += n


def _examples(
    doc: Doc,
    article: Article,
    gender: Gender,
    given: dict[str, Gender],
    rng: random.Random,
) -> Iterator[Silver]:
    words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
    own = {article.names[0], article.names[-1]}
    named = list(names_in(words))
    person = [place for place in named if own & set(words[slice(*place)])]
    others = [
        place
        for place in named
        if place not in person and given.get(words[place[0]]) == gender
    ]
    if not person or not others:
        return
    forms = set(PRONOUNS[gender].values())
    pronouns = [i for i, word in enumerate(words) if word.lower() in forms]
    if pronouns:
        at = rng.choice(pronouns)
        chosen, other = rng.choice(person), rng.choice(others)
        place = (at, at + 1)
        yield Silver(
            "natural", gender, words, spaces, place, chosen, other, mentions=person
        )
    later = [place for place in person[1:] if place[1] - place[0] <= 2]
    if later:
        gone = rng.choice(later)
        before = rng.choice([place for place in person if place[1] <= gone[0]])
        base = Silver(
            "replaced", gender, words, spaces, gone, before, rng.choice(others), person
        )
        yield _replaced(base)


def _replaced(example: Silver) -> Silver:
    """Put a pronoun where `example.pronoun` names the person."""
    words, (start, end) = example.words, example.pronoun
    possessive = end < len(words) and words[end] in CLITICS
    end += possessive
    if possessive:
        form = "possessive"
    elif start and words[start - 1].lower() in TAKES_OBJECT:
        form = "object"
    else:
        form = "subject"
    new = PRONOUNS[example.gender][form]
    if start == 0 or words[start - 1] in {".", "!", "?"}:
        new = new.capitalize()
    shift = 1 - (end - start)

    def moved(place: Place) -> Place:
        return (place[0] + shift, place[1] + shift) if place[0] >= end else place

    return replace(
        example,
        words=[*words[:start], new, *words[end:]],
        spaces=[*example.spaces[:start], *example.spaces[end - 1 :]],
        pronoun=(start, start + 1),
        person=moved(example.person),
        other=moved(example.other),
        mentions=[moved(p) for p in example.mentions if p != example.pronoun],
    )


def _turned(
    example: Silver, names: list[str], given: dict[str, Gender], rng: random.Random
) -> Silver:
    """The same about people of the other gender, with first names of theirs."""
    new: dict[str, str] = {}
    words = []
    for word in example.words:
        if given.get(word) == example.gender:
            word = new.setdefault(word, rng.choice(names))
        elif word.lower() in SWAPS:
            swapped = SWAPS[word.lower()]
            word = swapped.capitalize() if word[0].isupper() else swapped
        words.append(word)
    return replace(example, words=words, gender="F" if example.gender == "M" else "M")


def names_in(words: list[str]) -> Iterator[Place]:
    """Runs of capitalised words that aren't known for something else."""
    start = None
    for i, word in enumerate([*words, "."]):
        is_name = (
            word[:1].isupper()
            and len(word) > 1
            and not word.isupper()
            and word.replace("-", "").isalpha()
            and word not in NOT_A_NAME
        )
        if is_name and start is None:
            start = i
        elif not is_name and start is not None:
            yield (start, i)
            start = None


def _clear(
    masculine: int, feminine: int, least: int = 3, clear: int = CLEAR
) -> Gender | None:
    if masculine >= least and masculine > clear * feminine:
        return "M"
    if feminine >= least and feminine > clear * masculine:
        return "F"
    return None
