"""Plain text of several kinds, cut to pieces that a teacher can label.

A source is a file of JSON lines (`text`, or `sents` of tokens), or text whose articles
are separated by empty lines; compressed if its name says so.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from refreader_spacy.corpora.lines import numbered_lines
from refreader_spacy.errors import Errors
from refreader_spacy.lang.en.spacing import guessed_spaces

LONGEST = 900  # words of a piece
SHORTEST = 60
_TITLE = re.compile(r"^= .* =$")
_SENTENCE_END = re.compile(r"(?<=[.!?”\"])\s+")
_FULL_NAME = re.compile(r"\b[A-Z][a-z]+ (?:[A-Z]\. )?[A-Z][a-z]+\b")
_PERSON_PRONOUN = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE)


def pieces(
    path: Path, n_words: int, seed: int, longest: int = LONGEST, people: bool = False
) -> list[str]:
    """Pieces of a source's texts, in a random order, until there are enough words.

    longest (int): Words of a piece, about.
    people (bool): Only pieces of the kind that GAP has; see `has_people`.
    """
    rng = random.Random(seed)
    texts = list(texts_of(path))
    if not texts:
        raise ValueError(Errors.R450.format(path=path))
    rng.shuffle(texts)
    # Of long texts, such as novels, a piece each in turn
    rest = [
        [p for p in sentence_groups(text, longest) if not people or has_people(p)]
        for text in texts
    ]
    chosen: list[str] = []
    total = 0
    while any(rest) and total < n_words:
        for groups in rest:
            if groups and total < n_words:
                piece = groups.pop(rng.randrange(len(groups)))
                total += len(piece.split())
                chosen.append(piece)
    return chosen


def texts_of(path: Path) -> Iterator[str]:
    """The texts of a source."""
    lines: list[str] = []
    for number, line in numbered_lines(path):
        if line.lstrip().startswith("{"):
            yield _text_of(_record(line, path, number))
        elif line.strip():
            if not _TITLE.match(line.strip()):
                lines.append(line.strip())
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def _record(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ValueError(Errors.R451.format(path=path, line=number)) from error
    if not isinstance(record, dict) or not ("text" in record or "sents" in record):
        raise ValueError(Errors.R451.format(path=path, line=number))
    return record


def _text_of(record: dict[str, Any]) -> str:
    if "text" in record:
        return str(record["text"])
    return " ".join(joined(sentence) for sentence in record["sents"])


def joined(words: Sequence[str]) -> str:
    """Words as a text, with spaces where English has them."""
    spaces = guessed_spaces(words)
    pairs = zip(words, spaces, strict=True)
    return "".join(word + " " * space for word, space in pairs).rstrip()


def has_people(text: str) -> bool:
    """Whether a text has *he* or *she* and at least two full names to choose from."""
    names = set(_FULL_NAME.findall(text))
    return len(names) > 1 and _PERSON_PRONOUN.search(text) is not None


def sentence_groups(text: str, longest: int = LONGEST) -> Iterator[str]:
    """Whole sentences, as many as make a piece; what is too short is left out."""
    group: list[str] = []
    n_words = 0
    for sentence in _SENTENCE_END.split(text):
        group.append(sentence)
        n_words += len(sentence.split())
        if n_words >= longest:
            yield " ".join(group)
            group, n_words = [], 0
    if n_words >= SHORTEST:
        yield " ".join(group)
