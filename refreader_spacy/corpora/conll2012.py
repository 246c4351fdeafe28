"""CoNLL-2012 columns -> gold Docs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.errors import Errors

WORD, COREF = 3, -1  # columns
NONE = {"", "-", "_", "*"}
PART = re.compile(r"(\()?([^()]+)(\))?")


@dataclass(frozen=True)
class Sentence:
    """Words, and the mentions among them: entity, first token, end (exclusive)."""

    words: list[str] = field(default_factory=list)
    mentions: list[tuple[str, int, int]] = field(default_factory=list)


def read_conll(path: Path) -> Iterator[list[Sentence]]:
    """The sentences of each document, or of each part of one."""
    sentences: list[Sentence] = []
    rows: list[tuple[int, str, str]] = []  # line number, word, coreference
    with path.open(encoding="utf8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip() and not line.startswith("#"):
                columns = line.rstrip("\r\n").split("\t" if "\t" in line else None)
                if len(columns) <= WORD + 1:
                    found = line.strip()[:40]
                    raise ValueError(
                        Errors.R354.format(path=path, line=number, found=found)
                    )
                rows.append((number, columns[WORD], columns[COREF].strip()))
                continue
            if rows:
                sentences.append(_sentence(path, rows))
                rows = []
            if line.startswith("#begin") and sentences:
                yield sentences
                sentences = []
    if rows:
        sentences.append(_sentence(path, rows))
    if sentences:
        yield sentences


def cut(sentences: list[Sentence], n_tokens: int) -> Iterator[list[Sentence]]:
    """Pieces of whole sentences, no longer than this unless one sentence is."""
    piece: list[Sentence] = []
    length = 0
    for sentence in sentences:
        if piece and length + len(sentence.words) > n_tokens:
            yield piece
            piece, length = [], 0
        piece.append(sentence)
        length += len(sentence.words)
    if piece:
        yield piece


def conll_doc(
    nlp: Language, sentences: Iterable[Sentence], longest: int | None = None
) -> Doc:
    """The gold Doc; words count as one space apart, as the columns don't say.

    longest (int | None): Mentions of more tokens are left out.
    """
    words: list[str] = []
    clusters: dict[str, set[tuple[int, int]]] = {}
    starts: set[int] = set()
    for sentence in sentences:
        offset = len(words)
        starts.add(offset)
        words += sentence.words
        for entity, start, end in sentence.mentions:
            if longest is None or end - start <= longest:
                place = (offset + start, offset + end)
                clusters.setdefault(entity, set()).add(place)
    is_start: list[bool | int | None] = [i in starts for i in range(len(words))]
    doc = Doc(nlp.vocab, words=words, sent_starts=is_start)
    ordered = sorted(sorted(places) for places in clusters.values())
    for number, places in enumerate(ordered, start=1):
        doc.spans[f"coref_clusters_{number}"] = [doc[a:b] for a, b in places]
    return doc


def _sentence(path: Path, rows: list[tuple[int, str, str]]) -> Sentence:
    """Mentions end in the sentence that they begin in."""
    sentence = Sentence()
    begun: dict[str, list[tuple[int, int]]] = {}  # by entity: line number, token
    for i, (number, word, coref) in enumerate(rows):
        sentence.words.append(word)
        for part in coref.split("|"):
            if part in NONE:
                continue
            match = PART.fullmatch(part)
            if match is None or not (match[1] or match[3]):
                raise ValueError(Errors.R355.format(path=path, line=number, found=part))
            entity = match[2]
            if match[1]:
                begun.setdefault(entity, []).append((number, i))
            if match[3]:
                if not begun.get(entity):
                    raise ValueError(
                        Errors.R355.format(path=path, line=number, found=part)
                    )
                _, start = begun[entity].pop()
                sentence.mentions.append((entity, start, i + 1))
    for entity, left in begun.items():
        for number, _ in left:
            raise ValueError(
                Errors.R355.format(path=path, line=number, found=f"({entity}")
            )
    return sentence
