"""Records of a source, read one by one; a bad one is a record too, with its reason."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from refreader_spacy.annotation.speakers import Turn
from refreader_spacy.bulk.decompression import decompressed
from refreader_spacy.bulk.records import (
    BEGINNING,
    Cursor,
    Record,
    Rejected,
    TextRecord,
    one_line,
)
from refreader_spacy.bulk.sources import STDIN, Fields, Source, Unit
from refreader_spacy.errors import Errors

LARGEST = 100_000_000  # bytes of a record: it has to fit the memory
LONGEST_ID = 1000  # bytes of one that is no string
CHUNK = 1 << 20
NOTHING_LEFT = -1  # the offset where a source that is broken ends


def read_source(
    source: Source, fields: Fields, start: Cursor = BEGINNING
) -> Iterator[Record]:
    """The records of a source from somewhere on.

    Where its files can't be read on, the last record says why.
    """
    end = start
    try:
        for record in records_of(source, fields, start):
            end = record.end
            yield record
    except Exception as error:  # each library has its own for a broken file
        place = name_of(source.paths[0])
        end = Cursor(end.records + 1, NOTHING_LEFT, end.line)
        yield Rejected(place, place, reason(error), 0, end)


def records_of(source: Source, fields: Fields, start: Cursor) -> Iterator[Record]:
    if start.offset == NOTHING_LEFT:
        return iter(())
    if source.unit is Unit.ROW:
        from refreader_spacy.bulk.parquet import read_rows

        return read_rows(source.paths[0], fields, start)
    if source.unit is Unit.FILE:
        return read_files(source.paths, start)
    return read_lines(source, fields, start)


def read_files(paths: tuple[str, ...], start: Cursor) -> Iterator[Record]:
    """Each file is a text, and its name the id."""
    for number, path in enumerate(paths[start.records :], start.records + 1):
        name, end, size = name_of(path), Cursor(records=number), 0
        try:
            with opened(path) as file:
                data = file.data.read(LARGEST + 1)
                size = file.size()
            text = text_of(data)
        except Exception as error:  # this file only
            yield Rejected(name, name, reason(error), size, end)
        else:
            yield TextRecord(name, name, text, size, end)


def read_lines(source: Source, fields: Fields, start: Cursor) -> Iterator[Record]:
    """Each line that isn't blank is a text, or a JSON object that has one."""
    path = source.paths[0]
    records, offset, line = start
    with opened(path, offset) as file:
        while True:
            data, length = next_line(file.data)
            if not length:
                return
            offset, line = offset + length, line + 1
            if data.isspace():
                continue
            records += 1
            end = Cursor(records, offset, line)
            id: Any = (place := f"{name_of(path)}:{line}")
            turns: tuple[Turn, ...] = ()
            try:
                text = text_of(data).rstrip("\r\n")
                if source.unit is Unit.JSON:
                    found = parsed(text)
                    id = id_of(found, fields, place)
                    text, turns = turns_of(found, fields)
            except ValueError as error:
                yield Rejected(place, id, reason(error), file.size(), end)
            else:
                yield TextRecord(place, id, text, file.size(), end, turns)


def next_line(file: BinaryIO) -> tuple[bytes, int]:
    """A line, of which no more is kept than may be, and how long it was."""
    data = file.readline(LARGEST + 1)
    length = len(data)
    while length > LARGEST and not data.endswith(b"\n"):
        rest = file.readline(CHUNK)
        if not rest:
            break
        length += len(rest)
        if rest.endswith(b"\n"):
            break
    return data, length


def text_of(data: bytes) -> str:
    """Text, without the mark that some editors begin a file with."""
    if len(data) > LARGEST:
        raise ValueError(Errors.R238.format(limit=LARGEST))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(Errors.R239.format(found=error)) from error


def parsed(line: str) -> dict[str, Any]:
    """The JSON object in a line."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(Errors.R228.format(found=error)) from error
    if not isinstance(found, dict):
        raise ValueError(Errors.R228.format(found=type(found).__name__))
    return found


def id_of(found: dict[str, Any], fields: Fields, place: str) -> Any:
    """The record's own id, of whatever type; without one, its place."""
    id = found.get(fields.id)
    return place if id is None else check_encodable(id, fields.id)


def text_field(found: dict[str, Any], fields: Fields) -> str:
    text = found.get(fields.text)
    if not isinstance(text, str):
        keys = ", ".join(list(found)[:10]) or "nothing in it"
        if fields.text in found:
            keys = f"{fields.text} of type {type(text).__name__}"
        raise ValueError(Errors.R237.format(field=fields.text, found=keys[:200]))
    return cast(str, check_encodable(text, fields.text))


def turns_of(found: dict[str, Any], fields: Fields) -> tuple[str, tuple[Turn, ...]]:
    """A text and who says what in it: `speakers` are characters of the text, each
    [start, end, name]; or `turns` have a speaker and a text each, and are its lines."""
    try:
        if "turns" in found:
            return joined_turns(found["turns"], fields)
        text = text_field(found, fields)
        given = [Turn(*each) for each in found.get("speakers") or ()]
        for start, end, speaker in given:
            check_encodable(speaker.strip(), "speakers")
            if {type(start), type(end)} != {int} or not 0 <= start <= end <= len(text):
                raise IndexError
    except (TypeError, AttributeError, KeyError, IndexError) as error:
        raise ValueError(Errors.R249) from error
    return text, tuple(given)


def joined_turns(
    given: list[dict[str, Any]], fields: Fields
) -> tuple[str, tuple[Turn, ...]]:
    """Turns as lines of one text."""
    if not isinstance(given, list):
        raise TypeError
    turns, start = [], 0
    lines = [text_field(turn, fields) for turn in given]
    for line, turn in zip(lines, given, strict=True):
        speaker = check_encodable(turn["speaker"].strip(), "speaker")
        turns.append(Turn(start, start + len(line), speaker))
        start += len(line) + 1
    return "\n".join(lines), tuple(turns)


def check_encodable(value: Any, field: str) -> Any:
    """JSON can spell half a character, which no file can hold, and go too deep."""
    try:
        if isinstance(value, str):
            value.encode("utf8")
        elif len(as_json(value).encode("utf8")) > LONGEST_ID:
            raise RecursionError
    except UnicodeEncodeError as error:
        raise ValueError(Errors.R240.format(field=field, found=error)) from error
    except RecursionError as error:
        message = Errors.R248.format(field=field, limit=LONGEST_ID)
        raise ValueError(message) from error
    except ValueError as error:
        raise ValueError(Errors.R272.format(field=field, found=error)) from error
    return value


def as_json(value: Any) -> str:
    """As other programs can read it: Python would write NaN, which is no JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def reason(error: Exception) -> str:
    """What is wrong with a record, in one line."""
    text = str(error)
    if not text.startswith("[R"):  # not of this package
        text = Errors.R241.format(found=text or type(error).__name__)
    return one_line(text)


def name_of(path: str) -> str:
    """As text: on Linux, a name may be any bytes."""
    if path == STDIN:
        return "stdin"
    return os.fsencode(path).decode("utf8", "backslashreplace")


class OpenFile(NamedTuple):
    """A file that is read: what is in it, and the bytes on disk."""

    data: BinaryIO
    raw: BinaryIO | None  # None if there is nothing to ask for its position
    counted: list[int]

    def size(self) -> int:
        """Bytes that were read since this was last asked."""
        position = 0 if self.raw is None else self.raw.tell()
        before, self.counted[0] = self.counted[0], position
        return position - before


@contextmanager
def opened(path: str, offset: int = 0) -> Iterator[OpenFile]:
    """A file to read from some byte on, decompressed if its name says so."""
    with ExitStack() as stack:
        if path == STDIN:
            if sys.stdin is None:
                raise ValueError(Errors.R278.format(name="input"))
            data: BinaryIO = sys.stdin.buffer
            raw = None
        else:
            raw = stack.enter_context(Path(path).open("rb"))
            data = decompressed(raw, Path(path).suffix)
        if data is raw:
            raw.seek(offset)
        else:
            skip_bytes(data, offset)
        yield OpenFile(data, raw, [raw.tell() if raw else 0])


def skip_bytes(file: BinaryIO, n_bytes: int) -> None:
    while n_bytes and (skipped := file.read(min(n_bytes, CHUNK))):
        n_bytes -= len(skipped)
