"""Texts with mentions marked by hand, as people can write them in any editor.

    ### e-mail
    Hi [p1 Priya], thanks for [o2 the draft]. [p3 I] read [o2 it] on the train.

A line that begins with ### begins a text, and says its kind. A mention is in brackets,
behind its entity's name: a number, with a letter before it that tells the type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language

from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.lines import numbered_lines
from refreader_spacy.corpora.raw_text import add_text, mention_at
from refreader_spacy.errors import Errors

TYPES = {
    "": "",
    "p": "person",
    "o": "organization",
    "l": "place",
    "j": "object",
    "e": "event",
    "t": "time",
    "s": "substance",
    "a": "animal",
    "f": "plant",
    "x": "abstract",
}
_HEADING = "###"
_BRACKET = re.compile(rf"\[([{''.join(TYPES)}]?)(\d+) |[\[\]]")


class Marked(NamedTuple):
    """A mention in the characters of a text without brackets."""

    entity: str
    type: str
    start: int
    end: int


def read_marked(
    path: Path, nlp: Language, scheme: str = "gum"
) -> Iterator[GoldDocument]:
    """The documents, tokenised by the pipeline; a sentencizer in it gives sentences."""
    kind, first, lines, number = "", 1, list[str](), 0
    for line_number, line in numbered_lines(path):
        if not line.startswith(_HEADING):
            lines.append(line)
            continue
        if any(map(str.strip, lines)):
            number += 1
            yield _document(path, nlp, lines, first, number, kind, scheme)
        kind, first, lines = line.strip("# "), line_number + 1, []
    if any(map(str.strip, lines)):
        yield _document(path, nlp, lines, first, number + 1, kind, scheme)


def _document(
    path: Path,
    nlp: Language,
    lines: list[str],
    first: int,
    number: int,
    kind: str,
    scheme: str,
) -> GoldDocument:
    n_blank = next(i for i, line in enumerate(lines) if line.strip())
    marked_text = "\n".join(lines[n_blank:]).rstrip()
    text, mentions = without_brackets(marked_text, path, first + n_blank)
    name = path.name.removesuffix(path.suffix).removesuffix(".marked")
    document = GoldDocument(f"{name}_{number}", scheme, genre=kind)
    doc = add_text(document, nlp, text)
    within: set[str] = set()
    ends: dict[str, int] = {}  # the furthest of each entity so far
    for entity, _, _, end in mentions:
        if end <= ends.get(entity, 0):
            within.add(entity)
        ends[entity] = max(end, ends.get(entity, 0))
    for marked in mentions:
        mention = mention_at(doc, marked.start, marked.end, marked.type)
        # Of a name and a description around it, OntoNotes has one: no saying which
        known = None if marked.entity in within else True
        document.add_mention(marked.entity, mention._replace(in_ontonotes=known))
    return document


def without_brackets(text: str, path: Path, first: int) -> tuple[str, list[Marked]]:
    """The text that was marked, and its mentions in the order of their beginnings.

    first (int): The number of its first line in the file.
    """
    found: list[Marked] = []
    # What is not closed yet: where, what, and the end of what had words before it
    opened: list[tuple[int, Marked, int]] = []
    parts: list[str] = []
    length = copied = words_end = 0

    def problem(place: int, what: str) -> ValueError:
        shown = text[max(0, place - 10) : place + 30].replace("\n", " ")
        line = first + text.count("\n", 0, place)
        return ValueError(
            Errors.R419.format(path=path, line=line, found=f"{what} in {shown!r}")
        )

    for bracket in _BRACKET.finditer(text):
        parts.append(text[copied : bracket.start()])
        length += len(parts[-1])
        if parts[-1].strip():
            words_end = length
        copied = bracket.end()
        if bracket[2]:
            name = bracket[1] + bracket[2]
            marked = Marked(name, TYPES[bracket[1]], length, length)
            opened.append((bracket.start(), marked, words_end))
        elif bracket[0] == "[":
            raise problem(bracket.start(), "a bracket without an entity's name")
        elif not opened:
            raise problem(bracket.start(), "a bracket closes that was never opened")
        else:
            place, marked, before = opened.pop()
            if words_end == before:
                raise problem(place, "a mention without words")
            found.append(marked._replace(end=length))
    if opened:
        raise problem(opened[-1][0], "a bracket is never closed")
    parts.append(text[copied:])
    return "".join(parts), sorted(found, key=lambda m: (m.start, -m.end))
