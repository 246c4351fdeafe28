"""GAP's files: gold rows in, a system's answers in and out, all checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote

from refreader_spacy.errors import Errors

Gender = Literal["M", "F"]

GAP_KEYS = ("gap_pronoun", "gap_a", "gap_b")  # span groups of one mention each
GENDERS: dict[str, Gender] = {
    **dict.fromkeys(("he", "him", "his"), "M"),
    **dict.fromkeys(("she", "her", "hers"), "F"),
}
LABELS = {"TRUE": True, "FALSE": False}
SYSTEM_COLUMNS = ("ID", "A-coref", "B-coref")
GOLD_COLUMNS = (
    *("ID", "Text", "Pronoun", "Pronoun-offset"),
    *("A", "A-offset", "A-coref", "B", "B-offset", "B-coref", "URL"),
)


class Mention(NamedTuple):
    """A piece of a row's text, and the character where it starts."""

    text: str
    offset: int


@dataclass(frozen=True)
class GapRow:
    """A text with a pronoun and two names: does the pronoun mean A, B or neither?"""

    id: str
    text: str
    pronoun: Mention
    a: Mention
    a_coref: bool
    b: Mention
    b_coref: bool
    url: str

    @property
    def gender(self) -> Gender:
        """The pronoun's, as in the official scorer."""
        return GENDERS[self.pronoun.text.lower()]

    @property
    def title(self) -> str:
        """Of the page that the text was taken from, if the URL is one of a wiki."""
        _, _, name = self.url.partition("/wiki/")
        return unquote(name).replace("_", " ").strip()


class Answer(NamedTuple):
    """What a system says about one row."""

    a: bool
    b: bool


def read_gap(path: Path) -> list[GapRow]:
    """All rows of a GAP file."""
    header, *rows = _read_cells(path)
    if missing := [column for column in GOLD_COLUMNS if column not in header]:
        raise ValueError(Errors.R101.format(path=path, missing=missing, found=header))
    return [
        GapRow(
            id=line.cells["ID"],
            text=line.cells["Text"],
            pronoun=line.pronoun(),
            a=line.mention("A"),
            a_coref=line.label("A-coref"),
            b=line.mention("B"),
            b_coref=line.label("B-coref"),
            url=line.cells["URL"],
        )
        for line in _lines(path, header, rows, first=2)
    ]


def read_system(path: Path) -> dict[str, Answer]:
    """The answers in a system file, which has no header."""
    return {
        line.cells["ID"]: Answer(line.label("A-coref"), line.label("B-coref"))
        for line in _lines(path, SYSTEM_COLUMNS, _read_cells(path), first=1)
    }


def write_system(path: Path, answers: Mapping[str, Answer]) -> None:
    """Write the file that the official scorer reads."""
    lines = (
        "\t".join((row_id, *(str(label).upper() for label in answer)))
        for row_id, answer in answers.items()
    )
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf8")


@dataclass(frozen=True)
class _Line:
    """The cells of one line by column, and where to find it."""

    path: Path
    number: int
    cells: Mapping[str, str]

    def label(self, column: str) -> bool:
        label = LABELS.get(self.cells[column].upper())
        if label is None:
            raise self.error(Errors.R104, column=column, found=self.cells[column])
        return label

    def mention(self, column: str) -> Mention:
        """A mention, which must be in the text where its offset says."""
        text, mention = self.cells["Text"], self.cells[column]
        offset = self.cells[f"{column}-offset"]
        is_number = offset.isdecimal() and len(offset) < 10
        start = int(offset) if is_number else len(text)
        found = text[start : start + len(mention)]
        if found != mention or not mention.strip():
            details = {"column": column, "expected": mention, "offset": offset}
            raise self.error(Errors.R103, **details, found=found)
        return Mention(mention, start)

    def pronoun(self) -> Mention:
        mention = self.mention("Pronoun")
        if mention.text.lower() not in GENDERS:
            raise self.error(Errors.R107, expected=[*GENDERS], found=mention.text)
        return mention

    def error(self, message: str, **details: object) -> ValueError:
        return ValueError(message.format(path=self.path, line=self.number, **details))


def _read_cells(path: Path) -> list[list[str]]:
    try:
        text = path.read_text(encoding="utf-8-sig").rstrip("\n")
    except UnicodeDecodeError as error:
        raise ValueError(Errors.R100.format(path=path, found=error)) from error
    if not text:
        raise ValueError(Errors.R106.format(path=path))
    return [line.split("\t") for line in text.split("\n")]


def _lines(
    path: Path, columns: Sequence[str], rows: Sequence[list[str]], first: int
) -> Iterator[_Line]:
    """Lines with as many cells as columns, each with an id of its own."""
    if not rows:
        raise ValueError(Errors.R106.format(path=path))
    seen: dict[str, int] = {}
    for number, cells in enumerate(rows, start=first):
        line = _Line(path, number, dict(zip(columns, cells, strict=False)))
        if len(cells) != len(columns):
            raise line.error(Errors.R102, expected=[*columns], found=len(cells))
        earlier = seen.setdefault(line.cells["ID"], number)
        if earlier != number:
            raise line.error(Errors.R105, found=line.cells["ID"], earlier=earlier)
        yield line
