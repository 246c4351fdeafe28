"""What a stream is fed: checked before anything of it is read, or a part of a Doc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc, Span

from refreader_spacy.corpora.span_groups import SPEAKER_LABELS, SPEAKERS
from refreader_spacy.errors import Errors

Piece = str | Doc | Span | Sequence[str]


def part_of(span: Span) -> Doc:
    """A part of a Doc by itself, with who says what in it."""
    part = span.as_doc()
    for key in (SPEAKERS, SPEAKER_LABELS):
        if key in span.doc.spans:
            part.spans[key] = [
                Span(
                    part,
                    max(turn.start, span.start) - span.start,
                    min(turn.end, span.end) - span.start,
                    label=turn.label,
                )
                for turn in span.doc.spans[key]
                if turn.start < span.end and turn.end > span.start
            ]
    return part


def check_piece(piece: Any, speaker: Any) -> None:
    """Is it something to read? Before anything of it was."""
    if isinstance(piece, Doc | Span):
        words: list[Any] = []
    elif isinstance(piece, str):
        words = [piece or "-"]
    elif isinstance(piece, Sequence) and not isinstance(piece, bytes | bytearray):
        words = [*piece]
    else:
        raise ValueError(Errors.R273.format(found=f"of type {type(piece).__name__}"))
    for word in words:
        if not isinstance(word, str) or not word:
            raise ValueError(Errors.R273.format(found=f"a list with {word!r}"))
    if not isinstance(speaker, str | None):
        raise ValueError(Errors.R275.format(found=type(speaker).__name__))
    check_whole(words, "piece")
    check_whole([speaker or ""], "speaker's name")


def check_whole(texts: list[str], what: str) -> None:
    """A string may have half a character, which spaCy can't store."""
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(Errors.R274.format(what=what, found=error)) from error
