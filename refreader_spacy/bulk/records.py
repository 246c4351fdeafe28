"""What is annotated: one text with its id, or the reason why it can't be."""

from __future__ import annotations

from typing import Any, NamedTuple

from refreader_spacy.annotation.speakers import Turn


class Cursor(NamedTuple):
    """A place between two records of a source."""

    records: int = 0  # that come before it
    offset: int = 0  # bytes, decompressed
    line: int = 0


class TextRecord(NamedTuple):
    """A text to annotate."""

    place: str  # the file, and the line or row in it
    id: Any  # as JSON has it; without one, the place
    text: str
    size: int  # bytes that were read for it
    end: Cursor
    turns: tuple[Turn, ...] = ()  # who says what, if that is given


class Rejected(NamedTuple):
    """A record that can't be annotated."""

    place: str
    id: Any
    reason: str
    size: int
    end: Cursor

    def as_json(self) -> dict[str, Any]:
        """What the file of rejected records says."""
        return {"place": self.place, "id": self.id, "reason": self.reason}


Record = TextRecord | Rejected
BEGINNING = Cursor()


def rejected(record: TextRecord, reason: object) -> Rejected:
    """The record, which turned out not to be readable."""
    if isinstance(reason, Exception):
        reason = f"{type(reason).__name__}: {reason}"
    said = one_line(str(reason))
    return Rejected(record.place, record.id, said, record.size, record.end)


def one_line(text: str) -> str:
    """Not too long, and without half characters, which no file can hold."""
    whole = text.encode("utf8", "backslashreplace").decode()
    return " ".join(whole.split())[:500]
