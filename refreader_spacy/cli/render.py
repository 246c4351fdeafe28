"""`refreader render`: a picture of a text's entities, or of the memory reading it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc

from refreader_spacy.bulk.sources import STDIN
from refreader_spacy.cli.pipeline import Model, find_reader, load_pipeline
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.pictures import Style
from refreader_spacy.pictures import render as rendered
from refreader_spacy.pictures.png import png

SUFFIXES = (".html", ".svg", ".png")


def render(
    text: Annotated[
        list[str],
        typer.Argument(help="Words, or one text file, or - for standard input."),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="A .html, .svg or .png file to write."),
    ],
    style: Annotated[
        Style,
        typer.Option(help="The coloured text, or the memory's gates while it is read."),
    ] = "clusters",
    model: Model = None,
) -> None:
    """Draw a text's entities, or the memory that reads it.

    Example: refreader render "Ismael told Captain Ahab he saw Moby-Dick." -o ahab.html

    Example: refreader render story.txt --style memory -o story.svg
    """
    check_suffix(output)
    words = given_text(text)
    nlp = load_pipeline(model)
    find_reader(nlp).trace = style == "memory"
    write_picture(nlp(words), style, output)
    typer.echo(f"written to {output}")


def given_text(arguments: list[str]) -> str:
    """The text: the words themselves, a file's content, or standard input."""
    if arguments == [STDIN]:
        return utf8(sys.stdin.buffer.read(), "standard input")
    if len(arguments) > 1 or " " in arguments[0]:
        return " ".join(arguments)
    path = Path(arguments[0])
    if path.is_file():
        return utf8(path.read_bytes(), str(path))
    if path.suffix in (".txt", ".md"):
        raise ValueError(Errors.R226.format(path=path))
    return arguments[0]


def check_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise ValueError(Errors.R227.format(path=path, known=known))


def write_picture(doc: Doc, style: Style, path: Path) -> None:
    """Write a picture in the format that the path ends with."""
    image = rendered(doc, style, form="page" if path.suffix == ".html" else "svg")
    data = png(image) if path.suffix == ".png" else image.encode("utf8")
    with atomic_write(path) as draft:
        draft.write_bytes(data)


def utf8(data: bytes, source: str) -> str:
    """Text, without the mark that some editors begin a file with."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(Errors.R100.format(path=source, found=error)) from error
