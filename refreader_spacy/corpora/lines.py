"""Lines of data files, plain or compressed, with their numbers."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import error as ZlibError

from refreader_spacy.errors import Errors

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
