"""The files of a corpus, and which of them are for what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path

from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.formats import ENDINGS, Format, format_by_name
from refreader_spacy.errors import Errors


class Part(str, Enum):
    """Of a corpus that has no parts of its own."""

    ALL = "all"
    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


def annotated_files(paths: Sequence[Path], format: Format | None = None) -> list[Path]:
    """Files as they are, and of folders those that may be of the format, by name."""
    files = []
    for path in paths:
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.is_file())
            files += [file for file in inside if _is_wanted(file, format)]
        elif path.is_file():
            files.append(path)
        else:
            raise ValueError(Errors.R414.format(path=path))
    if not files:
        shown, known = ", ".join(map(str, paths)), ", ".join(ENDINGS)
        raise ValueError(Errors.R415.format(paths=shown, known=known))
    return sorted(files, key=lambda file: file.name)


def part_of(files: Sequence[Path], part: Part) -> list[Path]:
    """Of ten files, the first is for testing and the second for development.

    This is the split of LitBank that scores are given on.
    """
    found = [file for i, file in enumerate(files) if part in (Part.ALL, _part(i))]
    if not found:
        raise ValueError(Errors.R358.format(part=part.value))
    return found


def split(documents: Iterable[GoldDocument]) -> dict[Part, list[GoldDocument]]:
    """Of ten documents, the first is for testing and the second for development.

    Pieces of one document, which have its id or a part's number behind it, are never
    on two sides: what is learned of its entities would be tested on them.
    """
    numbers: dict[str, int] = {}  # of documents, by id
    parts: dict[Part, list[GoldDocument]] = {
        part: [] for part in (Part.TRAIN, Part.DEV, Part.TEST)
    }
    for document in documents:
        whole, _, part = document.id.rpartition("_")
        id = whole if part.isdecimal() and whole in numbers else document.id
        number = numbers.setdefault(id, len(numbers))
        parts[_part(number)].append(document)
    if not all(parts.values()):
        raise ValueError(Errors.R359.format(found=len(numbers)))
    return parts


def _part(number: int) -> Part:
    return {0: Part.TEST, 1: Part.DEV}.get(number % 10, Part.TRAIN)


def _is_wanted(file: Path, format: Format | None) -> bool:
    found = format_by_name(file)
    if format is Format.CRAFT:
        return found is Format.JSONLINES
    if format is None and found is Format.GAP:
        return False  # in a folder, any table may be called so
    return found is not None if format is None else found is format
