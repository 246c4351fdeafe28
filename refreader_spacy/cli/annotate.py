"""`refreader annotate`: coreference for many texts, as JSON Lines or a DocBin."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Annotated, BinaryIO, NamedTuple

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from refreader_spacy.annotation.record import record
from refreader_spacy.cli.pipeline import Model, find_reader, load_pipeline
from refreader_spacy.cli.processes import map_in_processes
from refreader_spacy.cli.records import Done, done_so_far, line
from refreader_spacy.cli.texts import STDIN, GivenText, Unit, given_texts
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write

SUFFIXES = (".jsonl", ".spacy")
NOTHING = Done(0, 0, {})


class Batch(NamedTuple):
    """The output of a batch, its number of texts and of input bytes."""

    data: bytes
    n_texts: int
    n_words: int
    size: int

    @classmethod
    def of(cls, texts: list[GivenText], data: bytes, n_words: int) -> Batch:
        return cls(data, len(texts), n_words, sum(given.size for given in texts))


def annotate(
    inputs: Annotated[
        list[str],
        typer.Argument(help="Text or .jsonl files, or - for standard input."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="A .jsonl or .spacy file. Default: standard output."
        ),
    ] = None,
    model: Model = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Each line is a text of its own.")
    ] = False,
    jsonl: Annotated[
        bool,
        typer.Option("--jsonl", help="Each line is JSON, whatever the file's name."),
    ] = False,
    n_process: Annotated[
        int, typer.Option("-n", "--n-process", min=1, help="Processes to run.")
    ] = 1,
    batch_size: Annotated[int, typer.Option(min=1, help="Texts in a batch.")] = 64,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an interrupted .jsonl output."),
    ] = False,
) -> None:
    """Annotate coreference in many texts.

    A file is one text, unless --lines is given or it is JSON Lines, whose objects have
    a "text" and may have an "id". Each gives one record, in the same order: id, text,
    clusters of mentions as [start, end, text] in characters, links with their
    probability, and resolved_text. In a DocBin, the id is in each Doc's user_data.

    Example: refreader annotate README.md -o readme.jsonl

    Example: echo "Ann lost her key." | refreader annotate - --lines
    """
    if lines and jsonl:
        raise typer.BadParameter("it can't be combined.", param_hint="--lines, --jsonl")
    check_paths(inputs, output, resume)
    unit = Unit.JSON if jsonl else Unit.LINE if lines else Unit.FILE
    texts = given_texts(inputs, unit)
    done = NOTHING
    if resume and output and output.exists():
        done = done_so_far(output)
        skip(texts, output, done)
    docbin = output if output and output.suffix == ".spacy" else None
    read = partial(read_to_docbin if docbin else read_to_lines, model)
    pipeline.cache_clear()
    find_reader(pipeline(model))  # fails before any process starts
    batches = in_batches(texts, batch_size)
    found = map_in_processes(read, batches, n_process, prepare=partial(pipeline, model))
    watched = progress(found, inputs, hidden=output is None and sys.stdout.isatty())
    if docbin:
        write_docbin(watched, docbin)
        return
    with opened(output, done.size) as file:
        for data in watched:
            file.write(data)
            file.flush()


@lru_cache(maxsize=1)
def pipeline(model: str | None) -> Language:
    """The pipeline, loaded once per process; a forked process has it already."""
    nlp = load_pipeline(model)
    if model is None:
        nlp.max_length = sys.maxsize  # its memory doesn't grow with the text
    return nlp


def in_batches(texts: Iterator[GivenText], size: int) -> Iterator[list[GivenText]]:
    while batch := list(islice(texts, size)):
        yield batch


def read_to_lines(model: str | None, texts: list[GivenText]) -> Batch:
    """A batch as output lines: Docs would be slow to send between processes."""
    lines, n_words = [], 0
    for doc, given in annotated(model, texts):
        lines.append(line(record(given.id, doc)))
        n_words += len(doc)
    return Batch.of(texts, b"".join(lines), n_words)


def read_to_docbin(model: str | None, texts: list[GivenText]) -> Batch:
    docbin, n_words = DocBin(store_user_data=True), 0
    for doc, given in annotated(model, texts):
        doc.user_data["id"] = given.id
        docbin.add(doc)
        n_words += len(doc)
    return Batch.of(texts, docbin.to_bytes(), n_words)


def annotated(
    model: str | None, texts: list[GivenText]
) -> Iterator[tuple[Doc, GivenText]]:
    pairs = ((given.text, given) for given in texts)
    return pipeline(model).pipe(pairs, as_tuples=True, batch_size=len(texts))


def check_paths(inputs: Iterable[str], output: Path | None, resume: bool) -> None:
    """Raise an error for impossible combinations before anything is read."""
    for name in inputs:
        if name != STDIN and not Path(name).is_file():
            raise ValueError(Errors.R226.format(path=name))
        if output and name != STDIN and Path(name).resolve() == output.resolve():
            raise ValueError(Errors.R232.format(path=name))
    if output and output.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise ValueError(Errors.R227.format(path=output, known=known))
    if resume and (output is None or output.suffix != ".jsonl"):
        raise ValueError(Errors.R229.format(output=output or "standard output"))


def skip(texts: Iterator[GivenText], path: Path, done: Done) -> None:
    """Skip the texts that are done, and check that they are the same."""
    if not done.n_records:
        return
    last = next(islice(texts, done.n_records - 1, None), None)
    found = done.last.get("id"), done.last.get("text")
    if last is None or (last.id, last.text) != found:
        expected = None if last is None else last.id
        raise ValueError(
            Errors.R231.format(
                path=path, number=done.n_records, found=found[0], expected=expected
            )
        )


@contextmanager
def opened(path: Path | None, size: int) -> Iterator[BinaryIO]:
    """A file to write to from a byte offset, or standard output."""
    if path is None:
        yield sys.stdout.buffer
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("r+b" if size else "wb") as file:
        file.truncate(size)
        file.seek(size)
        yield file


def write_docbin(batches: Iterable[bytes], path: Path) -> None:
    docbin = DocBin(store_user_data=True)
    for data in batches:
        docbin.merge(DocBin(store_user_data=True).from_bytes(data))
    with atomic_write(path) as draft:
        docbin.to_disk(draft)


def progress(
    batches: Iterable[Batch], inputs: list[str], *, hidden: bool
) -> Iterator[bytes]:
    """The results, with a progress bar if stderr is a terminal."""
    console = Console(stderr=True)
    size = (
        None if STDIN in inputs else sum(Path(name).stat().st_size for name in inputs)
    )
    columns = (BarColumn(), TextColumn("{task.description}"))
    disable = hidden or not console.is_terminal
    with Progress(*columns, console=console, disable=disable) as bar:
        task = bar.add_task("", total=size)
        n_texts, n_words, start = 0, 0, monotonic()
        for batch in batches:
            yield batch.data
            n_texts, n_words = n_texts + batch.n_texts, n_words + batch.n_words
            speed = n_words / (monotonic() - start)
            words = f"{n_texts:,} texts, {n_words:,} words, {speed:,.0f} words/s"
            bar.update(task, advance=batch.size, description=words)
