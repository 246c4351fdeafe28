"""Who says what, on a Doc: turns that are given, or told by "Anna:" at lines' starts.

Two span groups hold it. `speakers` has a span for each turn, labelled with the name;
`speaker_labels` has the labels themselves, which are no part of what is said.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from refreader_spacy.corpora.span_groups import SPEAKER_LABELS, SPEAKERS

# "Anna:", "Dr. Mary Jones:", "AGENT 2:", "[10:32] Ben (laughs):"; then white space
WORD = r"[\w.'\u2019-]{0,40}"
LABEL = re.compile(
    r"^[ \t]*"
    r"(?:[\[(]?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?[\])]?[ \t]+)?"
    rf"(?P<name>[^\W\d_a-z]{WORD}(?:[ \t](?:[^\W\d_a-z]|\d){WORD}){{0,3}})"
    r"(?:[ \t]\([^()\n]{1,40}\))?"
    r":(?=\s|$)",
    re.MULTILINE,
)


class Turn(NamedTuple):
    """Characters `start` to `end` of a text, and who says them."""

    start: int
    end: int
    speaker: str


@Language.component("refreader_speakers", assigns=["doc.spans"], retokenizes=False)
def find_speakers(doc: Doc) -> Doc:
    """Take names with a colon at the beginnings of lines for who says what follows.

    A Doc whose speakers are known already is left as it is.
    """
    if SPEAKERS in doc.spans:
        return doc
    text = doc.text
    labels = list(LABEL.finditer(text))
    ends = [label.start() for label in labels[1:]] + [len(text)]
    turns = [
        Turn(label.end(), end, label["name"])
        for label, end in zip(labels, ends, strict=False)
    ]
    write_speakers(doc, turns)
    places = [Turn(label.start("name"), label.end(), "") for label in labels]
    _write(doc, SPEAKER_LABELS, places)
    return doc


def write_speakers(doc: Doc, turns: Iterable[Turn]) -> None:
    """Put turns on a Doc."""
    _write(doc, SPEAKERS, turns)


def _write(doc: Doc, key: str, turns: Iterable[Turn]) -> None:
    text = doc.text  # made anew on every access
    spans = [_span(doc, text[turn.start : turn.end], *turn) for turn in turns]
    found = [span for span in spans if span is not None]
    doc.spans[key] = SpanGroup(doc, name=key, spans=found)


def _span(doc: Doc, text: str, start: int, end: int, label: str) -> Span | None:
    """The tokens in these characters, which have this text; None if there is none."""
    start, end = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    if start >= end:
        return None
    return doc.char_span(start, end, label=label, alignment_mode="expand")
