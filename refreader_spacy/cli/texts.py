"""Input texts of commands: files, their lines, JSON Lines, standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import BinaryIO, NamedTuple

from refreader_spacy.errors import Errors

STDIN = "-"


class Unit(Enum):
    """What one text is: a file, a line, or a line of JSON."""

    FILE = "file"
    LINE = "line"
    JSON = "json"


class GivenText(NamedTuple):
    """A text, its id, and the number of input bytes."""

    id: str
    text: str
    size: int


def given_texts(inputs: Iterable[str], unit: Unit) -> Iterator[GivenText]:
    """All texts, in order, read when they are needed. A .jsonl file is always JSON."""
    for name in inputs:
        if name == STDIN:
            yield from texts_of(sys.stdin.buffer, "stdin", unit)
            continue
        with Path(name).open("rb") as file:
            json_lines = Path(name).suffix == ".jsonl"
            yield from texts_of(file, name, Unit.JSON if json_lines else unit)


def texts_of(file: BinaryIO, name: str, unit: Unit) -> Iterator[GivenText]:
    """The texts of one file; blank lines are none."""
    if unit is Unit.FILE:
        data = file.read()
        yield GivenText(name, utf8(data, name), len(data))
        return
    for number, line in enumerate(file, start=1):
        text = utf8(line, f"{name}, line {number},").strip("\r\n")
        if not text.strip():
            continue
        own = f"{name}:{number}"
        if unit is Unit.JSON:
            own, text = parsed(text, name, number)
        yield GivenText(own, text, len(line))


def parsed(line: str, name: str, number: int) -> tuple[str, str]:
    """The id and the text of a JSON object; without an id, where it stands."""
    try:
        found = json.loads(line)
    except ValueError as error:
        found = str(error)
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        shown = f"keys {list(found)}" if isinstance(found, dict) else repr(found)
        raise ValueError(Errors.R228.format(path=name, line=number, found=shown))
    return str(found.get("id", f"{name}:{number}")), found["text"]


def utf8(data: bytes, source: str) -> str:
    """Decoded text, without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(Errors.R100.format(path=source, found=error)) from error
