"""What is read: files, folders and standard input, as sources of records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path

from refreader_spacy.errors import Errors

STDIN = "-"
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
JSON_LINES = (".jsonl", ".ndjson")
LIBRARIES = {".parquet": ("pyarrow", "parquet"), ".zst": ("zstandard", "zstd")}


class Unit(Enum):
    """What is one text: a whole file, or each of its lines as it is or as JSON."""

    FILE = "file"
    LINE = "line"
    JSON = "json"
    ROW = "row"  # of a Parquet file


@dataclass(frozen=True)
class Fields:
    """Where in a JSON object or a row the text and its id are."""

    text: str = "text"
    id: str = "id"


@dataclass(frozen=True, order=True)
class Source:
    """Records that are read one after the other: a file, or several of one text each.

    Its number is its place among all sources.
    """

    number: int
    paths: tuple[str, ...]
    unit: Unit

    @property
    def compressed(self) -> bool:
        """Can it only be read from its beginning?"""
        return self.paths[0] == STDIN or self.paths[0].endswith(COMPRESSED)


def find_sources(inputs: Iterable[str], unit: Unit, group: int) -> list[Source]:
    """All sources, in order; of a folder all its files, sorted.

    unit (Unit): For files whose name doesn't end in .jsonl, .ndjson or .parquet.
    group (int): Files of one text each that are one source.
    """
    sources: list[Source] = []
    texts: list[str] = []

    def add_texts() -> None:
        if texts:
            sources.append(Source(len(sources), tuple(texts), Unit.FILE))
            texts.clear()

    for path in files_in(inputs):
        check_libraries(path)
        own = unit_of(path, unit)
        if own is not Unit.FILE or len(texts) == group:
            add_texts()
        if own is Unit.FILE:
            texts.append(path)
        else:
            sources.append(Source(len(sources), (path,), own))
    add_texts()
    return sources


def files_in(inputs: Iterable[str]) -> Iterator[str]:
    for name in inputs:
        if name == STDIN:
            yield name
        elif Path(name).is_dir():
            found = False
            for folder, folders, files in os.walk(name):
                folders[:] = sorted(f for f in folders if not f.startswith("."))
                for file in sorted(f for f in files if not f.startswith(".")):
                    path = Path(folder, file)
                    if is_endless(path):
                        continue
                    found = True
                    yield str(path)
            if not found:
                raise ValueError(Errors.R236.format(path=name))
        elif Path(name).exists():
            yield name
        else:
            raise ValueError(Errors.R226.format(path=name))


def is_endless(path: Path) -> bool:
    """A pipe, a socket or a device: whoever reads it may wait for ever."""
    try:
        return path.exists() and not path.is_file()
    except OSError:
        return False


def size_of(path: str) -> int:
    """Bytes of a file; none if nobody can tell."""
    try:
        return 0 if path == STDIN else Path(path).stat().st_size
    except OSError:  # reading it says why
        return 0


def check_libraries(path: str) -> None:
    """Find what is missing before anything is read."""
    for suffix, (library, extra) in LIBRARIES.items():
        if path.endswith(suffix) and not find_spec(library):
            raise ValueError(
                Errors.R242.format(suffix=suffix, library=library, extra=extra)
            )


def unit_of(path: str, unit: Unit) -> Unit:
    """What is one text of this file."""
    suffix = Path(path).suffix
    if suffix in COMPRESSED:
        suffix = Path(path).with_suffix("").suffix
    if suffix == ".parquet":
        return Unit.ROW
    return Unit.JSON if suffix in JSON_LINES else unit
