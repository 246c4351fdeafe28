"""Plain text from files: articles, each read from a fresh memory."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import IO

import rich.progress
from rich.console import Console
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from refreader_spacy.errors import Errors
from refreader_spacy.tokenization import tokenize

SUFFIXES = (".txt", ".txt.xz", ".jsonl", ".spacy")
HEADER = re.compile(r"= .+ =")

Article = list[Doc]  # its paragraphs, or all of it as one


def read_articles(path: Path, nlp: Language) -> Iterator[Article]:
    """All articles of a file, tokenised, with a progress bar.

    In a text, lines such as `= Name =` begin articles whose paragraphs are lines; where
    there are none, blank lines end them. A line of JSON is an article, and so is a Doc.
    """
    if not path.name.endswith(SUFFIXES):
        raise ValueError(Errors.R320.format(path=path, known=", ".join(SUFFIXES)))
    if not path.is_file():
        raise ValueError(Errors.R321.format(path=path))
    console = Console(stderr=True)
    with rich.progress.open(
        path,
        "rb",
        description=f"Tokenising {path.name}",
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as file:
        if path.suffix == ".spacy":
            docs = DocBin().from_bytes(file.read()).get_docs(nlp.vocab)
            yield from ([doc] for doc in docs)
            return
        try:
            for paragraphs in _paragraphs(path, file):
                yield [tokenize(nlp.tokenizer, paragraph) for paragraph in paragraphs]
        except (UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
            raise ValueError(Errors.R322.format(path=path, found=error)) from error


def _paragraphs(path: Path, file: IO[bytes]) -> Iterator[list[str]]:
    with lzma.open(file) if path.suffix == ".xz" else file as opened:
        lines = TextIOWrapper(opened, encoding="utf-8-sig")
        as_json = path.suffix == ".jsonl"
        yield from _from_json(path, lines) if as_json else _from_text(lines)


def _from_json(path: Path, lines: Iterable[str]) -> Iterator[list[str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            text = json.loads(line)["text"]
        except (ValueError, TypeError, KeyError, RecursionError):
            text = None
        if not isinstance(text, str):
            raise ValueError(
                Errors.R323.format(path=path, line=number, found=line[:60].strip())
            )
        yield [text]


def _from_text(lines: Iterable[str]) -> Iterator[list[str]]:
    headed: bool | None = None
    article: list[str] = []
    for line in map(str.strip, lines):
        header = HEADER.fullmatch(line) is not None
        if headed is None and line:
            headed = header
        if header or not (line or headed):
            if article:
                yield article if headed else [" ".join(article)]
            article = []
        elif line:
            article.append(line)
    if article:
        yield article if headed else [" ".join(article)]
