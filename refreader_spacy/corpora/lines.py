"""Lines of data files, plain or compressed, with their numbers."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from zlib import error as ZlibError

from refreader_spacy.errors import Errors

Parsed = TypeVar("Parsed")

OPENERS: dict[str, Callable[..., Any]] = {
    ".xz": lzma.open,
    ".gz": gzip.open,
    ".bz2": bz2.open,
}
# What JSON that is no document makes its reader raise
MALFORMED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
BROKEN = (UnicodeDecodeError, lzma.LZMAError, EOFError, OSError, ZlibError)


def parsed_rows(
    path: Path, parse: Callable[[int, Any], Parsed], message: str
) -> Iterator[Parsed]:
    """What is made of the JSON of each line that isn't blank.

    parse (Callable): Gets the line's number and its JSON.
    message (str): The error, with {path}, {line} and {found}, for a line that can't be
        parsed.
    """
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            # Half a character, which JSON can spell, is an error
            json.dumps(row, ensure_ascii=False).encode("utf8")
            parsed = parse(number, row)
        except MALFORMED as error:
            found = f"{type(error).__name__}: {error}"
            raise ValueError(
                message.format(path=path, line=number, found=found)
            ) from error
        yield parsed


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line, from 1, without its end."""
    number, opener = 0, OPENERS.get(path.suffix, open)
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="\n") as lines:
            for line in lines:
                number += 1
                yield number, line.rstrip("\r\n")
    except BROKEN as error:
        raise ValueError(
            Errors.R400.format(path=path, line=number + 1, found=error)
        ) from error
