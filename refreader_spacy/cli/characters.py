"""`refreader characters`: the people of a novel, as a table, a network or a picture."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from refreader_spacy.annotation.characters import (
    WINDOW,
    Character,
    Together,
    together,
)
from refreader_spacy.annotation.characters import (
    characters as find_characters,
)
from refreader_spacy.annotation.gexf import gexf
from refreader_spacy.annotation.tables import csv_line
from refreader_spacy.cli.pipeline import Model, find_reader, load_pipeline
from refreader_spacy.cli.render import given_text
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.pictures.characters import characters_svg
from refreader_spacy.pictures.markup import html_page
from refreader_spacy.pictures.png import png

SUFFIXES = (".csv", ".gexf", ".html", ".svg", ".png")
COLUMNS = (
    *("number", "name", "type", "mentions", "names", "pronoun", "called", "with"),
    *("first", "last", "first_percent", "last_percent"),
)
SHOWN = 5  # names and companions in the printed table
ROWS = 40  # of it, at most


def characters(
    book: Annotated[str, typer.Argument(help="A text file, or - for standard input.")],
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--output",
            help="A .csv table, a .gexf network, or a .svg, .png or .html picture. "
            "May be given several times. Default: a table on standard output.",
        ),
    ] = None,
    model: Model = None,
    minimum: Annotated[
        int, typer.Option(min=1, help="Leave out who is mentioned less often.")
    ] = 10,
    join: Annotated[
        bool, typer.Option(help="Count clusters of the same name as one character.")
    ] = True,
    window: Annotated[
        int, typer.Option(min=1, help="Tokens within which two occur together.")
    ] = WINDOW,
) -> None:
    """List the characters of a novel.

    Who is in it, all they are called, how often and where they are mentioned, and who
    occurs with whom.

    Example: refreader characters moby_dick.txt -o moby_dick.csv -o moby_dick.gexf
    """
    for output in outputs or ():
        if output.suffix not in SUFFIXES:
            known = ", ".join(SUFFIXES)
            raise ValueError(Errors.R227.format(path=output, known=known))
    text = given_text([book])
    nlp = load_pipeline(model)
    find_reader(nlp)
    nlp.max_length = max(nlp.max_length, len(text) + 1)
    console = Console(stderr=True)
    with console.status("Reading ..."):
        doc = nlp(text)
        found = find_characters(doc, minimum=minimum, join=join)
        pairs = together(found, window)
    if not found:
        typer.echo(
            f"Nobody is mentioned at least {minimum} times: lower --minimum.", err=True
        )
    for output in outputs or ():
        write(output, found, pairs, n_tokens=len(doc), n_chars=len(text))
        typer.echo(f"written to {output}", err=True)
    if not outputs:
        if sys.stdout.isatty():
            Console().print(table(found, pairs, len(text)))
            if len(found) > ROWS:
                typer.echo(
                    f"{len(found) - ROWS} more are mentioned at least {minimum} times: "
                    "see them all with -o characters.csv, or raise --minimum.",
                    err=True,
                )
        else:
            typer.echo(csv_text(found, pairs, len(text)), nl=False)


def write(
    path: Path,
    found: Sequence[Character],
    pairs: Sequence[Together],
    *,
    n_tokens: int,
    n_chars: int,
) -> None:
    """Write a file in the format that its name ends with."""
    if path.suffix == ".csv":
        data = csv_text(found, pairs, n_chars).encode("utf8")
    elif path.suffix == ".gexf":
        data = gexf(found, pairs).encode("utf8")
    else:
        image = characters_svg(found, pairs, n_tokens)
        if path.suffix == ".png":
            data = png(image)
        else:
            page = html_page(image) if path.suffix == ".html" else image
            data = page.encode("utf8")
    with atomic_write(path) as draft:
        draft.write_bytes(data)


def companions(
    found: Sequence[Character], pairs: Sequence[Together]
) -> dict[int, dict[str, int]]:
    """Whom each character occurs with, and how often; the most frequent first.

    Several with the same name, such as "the captain", are counted together.
    """
    names = {who.number: who.name for who in found}
    near: dict[int, Counter[str]] = {who.number: Counter() for who in found}
    for one, other, count in pairs:
        near[one][names[other]] += count
        near[other][names[one]] += count
    return {number: dict(counts.most_common()) for number, counts in near.items()}


def csv_text(
    found: Sequence[Character], pairs: Sequence[Together], n_chars: int
) -> str:
    """A row per character; names and companions as "Ahab (301); the captain (20)"."""
    near = companions(found, pairs)
    rows = [
        (
            *(who.number, who.name, who.type, who.n_mentions, who.n_names),
            *(who.pronoun, counted(who.called), counted(near[who.number])),
            *(who.first, who.last),
            *(f"{percent(at, n_chars):.1f}" for at in (who.first, who.last)),
        )
        for who in found
    ]
    return "".join(map(csv_line, [COLUMNS, *rows]))


def percent(at: int, n_chars: int) -> float:
    return 100 * at / max(n_chars, 1)


def counted(counts: dict[str, int], n: int | None = None) -> str:
    return "; ".join(f"{text} ({count})" for text, count in [*counts.items()][:n])


def table(found: Sequence[Character], pairs: Sequence[Together], n_chars: int) -> Table:
    """What a terminal shows: the most mentioned."""
    near = companions(found, pairs)
    shown = Table("", "Name", "Mentions", "Where", "Called", "With", box=None)
    for who in found[:ROWS]:
        first, last = (percent(at, n_chars) for at in (who.first, who.last))
        shown.add_row(
            str(who.number),
            Text(who.name),
            f"{who.n_mentions:,}",
            f"{first:.0f}-{last:.0f} %",
            Text(counted(who.called, SHOWN)),
            Text(counted(near[who.number], SHOWN)),
        )
    return shown
