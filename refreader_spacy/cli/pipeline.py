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

from refreader_spacy.component import PACKAGED, RefReader
from refreader_spacy.errors import Errors
from refreader_spacy.reader.packaged import packaged_names

SPEAKERS = "refreader_speakers"
Item = TypeVar("Item")
Model = Annotated[
    str | None,
    typer.Option(
        "-m",
        "--model",
        help="A pipeline, or weights of the package: en_mpnet. Default: the package's "
        "small ones.",
    ),
]


def load_pipeline(
    name: str | None, *, speakers: bool = False, transformer: str | None = None
) -> Language:
    """A pipeline by name or path, or a blank one with weights of the package.

    name (str | None): Of a pipeline or of weights; None and "packaged" are the default
        weights.
    speakers (bool): Names with a colon at lines' starts say who speaks.
    transformer (str | None): The folder of the transformer below the weights, if it
        isn't to come from the hub.
    """
    if name is None or name == "packaged":
        nlp = spacy.blank("en")
        nlp.add_pipe("refreader")
    elif name in packaged_names():
        nlp = spacy.blank("en")
        weights = PACKAGED | {"name": name, "transformer": transformer}
        nlp.add_pipe("refreader", config={"model": weights})
    else:
        nlp = spacy.load(name)
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
