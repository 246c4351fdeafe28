"""Shared by commands: load a pipeline, find its reader, read gold Docs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import spacy
import typer
from rich.console import Console
from rich.progress import track
from spacy.language import Language
from spacy.training import Corpus, Example

from refreader_spacy.component import RefReader
from refreader_spacy.errors import Errors

SPEAKERS = "refreader_speakers"
Item = TypeVar("Item")
Model = Annotated[
    str | None,
    typer.Option("-m", "--model", help="A pipeline. Default: the package's weights."),
]


def load_pipeline(name: str | None, *, speakers: bool = False) -> Language:
    """A pipeline by name or path, or a blank one with the weights in the package.

    speakers (bool): Names with a colon at lines' starts say who speaks.
    """
    if name:
        nlp = spacy.load(name)
    else:
        nlp = spacy.blank("en")
        nlp.add_pipe("refreader")
    if speakers and SPEAKERS not in nlp.pipe_names:
        nlp.add_pipe(SPEAKERS, first=True)
    return nlp


def find_reader(nlp: Language) -> RefReader:
    """The pipeline's coreference component."""
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, RefReader):
            return pipe
    raise ValueError(Errors.R110.format(name=nlp.meta["name"], found=nlp.pipe_names))


def read_examples(nlp: Language, path: Path) -> list[Example]:
    """Examples from the gold Docs of a .spacy file or folder, without predictions."""
    if not path.exists():
        raise ValueError(Errors.R008.format(path=path))
    return list(Corpus(path)(nlp))


def annotate(nlp: Language, examples: list[Example]) -> None:
    """Run the pipeline over the examples' texts, with a progress bar."""
    docs = nlp.pipe(example.predicted for example in examples)
    for example, doc in zip(
        examples, progress(docs, "Reading", len(examples)), strict=True
    ):
        example.predicted = doc


def progress(items: Iterable[Item], what: str, total: int) -> Iterator[Item]:
    """A progress bar on stderr, if that is a terminal."""
    console = Console(stderr=True)
    yield from track(
        items,
        description=what,
        total=total,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
