"""`refreader annotate`: coreference for many texts, in files of several kinds."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from spacy.language import Language

from refreader_spacy.bulk.formats import FORMATS
from refreader_spacy.bulk.job import Job, Notice, annotate_locally, run_locally
from refreader_spacy.bulk.lock import locked
from refreader_spacy.bulk.shards import (
    MANIFEST,
    Manifest,
    Shard,
    ShardFolder,
    join_shards,
)
from refreader_spacy.bulk.sources import (
    STDIN,
    Fields,
    Source,
    Unit,
    find_sources,
    size_of,
)
from refreader_spacy.cli.pipeline import Model, find_reader, load_pipeline
from refreader_spacy.errors import Errors, Warnings


class Engine(str, Enum):
    """What spreads the work."""

    local = "local"
    ray = "ray"


def annotate(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Text, .jsonl or .parquet files, also compressed (.gz, .bz2, .xz, "
            ".zst), folders of them, or - for standard input."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="A .jsonl, .parquet, .csv, .conll, .conllu or .spacy file, or a "
            "folder for shards. Default: standard output.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help=f"{', '.join(FORMATS)}; the last two are .csv tables."
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
    speakers: Annotated[
        bool,
        typer.Option(
            "--speakers", help='"Anna: ..." at a line\'s start says who speaks.'
        ),
    ] = False,
    text_field: Annotated[
        str, typer.Option(help="The text in a JSON object or a row.")
    ] = "text",
    id_field: Annotated[
        str, typer.Option(help="The id in a JSON object or a row.")
    ] = "id",
    n_process: Annotated[
        int,
        typer.Option("-n", "--n-process", min=1, help="Processes, or Ray actors."),
    ] = 1,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Texts that are read together.")
    ] = 64,
    shard_size: Annotated[
        int, typer.Option(min=1, help="Records of a file that make one shard.")
    ] = 10_000,
    time_limit: Annotated[
        float,
        typer.Option(
            min=0.001, help="Seconds for 100,000 characters; what takes longer is left."
        ),
    ] = 60.0,
    engine: Annotated[
        Engine, typer.Option(help="This machine's processes, or a Ray cluster.")
    ] = Engine.local,
    address: Annotated[
        str | None,
        typer.Option(help="Of the Ray cluster. Default: one on this machine."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was ended.")
    ] = False,
) -> None:
    """Annotate coreference in many texts.

    A file is one text, unless --lines is given or it is JSON Lines or Parquet, whose
    objects or rows have a "text" and may have an "id". Who says what may stand in JSON
    as "speakers": [[start, end, name], ...] in characters of the text, or as "turns":
    [{"speaker": ..., "text": ...}, ...] instead of it. Each gives one record, in the
    same order: id, text, clusters of mentions as [start, end, text] in characters,
    links with their probability, and resolved_text. In a DocBin, the id is in each
    Doc's user_data.

    A folder gets a shard for each --shard-size records and a manifest of those that
    are done. However a run ends, --resume goes on from there, and every record comes
    out once. A record that can't be read is put aside with the reason: in the folder
    under rejected/, or beside an output file in a .rejected.jsonl.

    With --engine ray, all files must be seen by all machines at the same place.

    Example: refreader annotate README.md -o readme.jsonl

    Example: echo "Ann lost her key." | refreader annotate - --lines

    Example: refreader annotate texts -o annotated -n 2 --resume
    """
    if lines and jsonl:
        raise typer.BadParameter("it can't be combined.", param_hint="--lines, --jsonl")
    kind = output_format(output, form)
    check_output(inputs, output)
    unit = Unit.JSON if jsonl else Unit.LINE if lines else Unit.FILE
    sources = find_sources(inputs, unit, shard_size)
    pipeline.cache_clear()
    job = Job(
        sources,
        load=partial(pipeline, model, speakers, kind == "tokens"),
        format=FORMATS[kind](),
        fields=Fields(text_field, id_field),
        batch_size=batch_size,
        shard_size=shard_size,
        time_limit=time_limit,
    )
    if engine is Engine.ray and (output is None or STDIN in inputs):
        raise ValueError(Errors.R247)
    if output is None:
        if resume:
            raise ValueError(Errors.R229)
        to_standard_output(job, n_process)
        return
    single = output.suffix == FORMATS[kind].suffix
    folder = output.with_name(f"{output.name}.parts") if single else output
    check_begun(output, folder, resume)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        if single and not resume and (folder / MANIFEST).exists():
            clear(folder)  # of a run that was ended
        settings = job.settings(
            model=model, speakers=speakers, version=version("refreader-spacy")
        )
        manifest = Manifest(folder, settings)
        shards = ShardFolder(folder, job.format)
        find_reader(job.load())  # what is wrong with it is said at once
        run = partial(run_locally, n_process=n_process)
        if engine is Engine.ray:
            run = partial(ray_engine(), address=address, n_actors=n_process)
        with progress(sources) as notice:
            for shard in run(job, shards, manifest.ends, notice=notice):
                manifest.add(shard)
        finish(shards, manifest, output if single else None)
        if job.settings()["digest"] != settings["digest"]:
            warning = Warnings.R904.format(output=output)
            typer.secho(f"refreader: {warning}", err=True, fg="yellow")


@lru_cache(maxsize=1)
def pipeline(
    model: str | None, speakers: bool = False, trace: bool = False
) -> Language:
    """Loaded once in a process; one that is forked off has it already."""
    nlp = load_pipeline(model, speakers=speakers)
    if trace:
        find_reader(nlp).trace = True  # the gates are columns of the table of tokens
    if model is None:
        nlp.max_length = sys.maxsize  # its memory doesn't grow with the text
    return nlp


def ray_engine() -> Callable[..., Iterator[Shard]]:
    try:
        from refreader_spacy.bulk.ray_engine import run_on_ray
    except ImportError as error:
        raise ValueError(Errors.R246) from error
    return run_on_ray


def output_format(output: Path | None, form: str | None) -> str:
    """A name of FORMATS: the one that was given, if it goes with the output's name, or
    the first that does."""
    suffix = output.suffix if output and not output.is_dir() else ""
    own = [name for name, each in FORMATS.items() if each.suffix == suffix]
    if output is None:
        own = ["jsonl"]
    known = sorted({each.suffix for each in FORMATS.values()})
    if form is None and (own or not suffix):
        return own[0] if own else "jsonl"
    if form in FORMATS and (not own or form in own):
        return form
    raise ValueError(Errors.R227.format(path=output or form, known=", ".join(known)))


def check_output(inputs: list[str], output: Path | None) -> None:
    """What is written must not be read."""
    if output is None:
        return
    place = output.resolve()
    for name in inputs:
        given = Path(name).resolve()
        if name != STDIN and (given == place or given in place.parents):
            raise ValueError(Errors.R232.format(path=output))


def check_begun(output: Path, folder: Path, resume: bool) -> None:
    """Is there a run to go on with, or none in the way of a new one?"""
    started = (folder / MANIFEST).exists()
    if resume:
        if not started and output.exists():
            raise ValueError(Errors.R230.format(path=output))
    elif folder == output and started:
        raise ValueError(Errors.R243.format(path=output))


def clear(folder: Path) -> None:
    """Take everything out of a folder."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def to_standard_output(job: Job, n_process: int) -> None:
    """Records as soon as they are there; what is rejected is said on stderr."""
    if sys.stdout is None:
        raise ValueError(Errors.R278.format(name="output"))
    find_reader(job.load())
    n_texts = n_rejected = 0
    with progress(job.sources, hidden=sys.stdout.isatty()) as notice:
        for batch in annotate_locally(job, n_process, {}):
            for data in batch.annotated.data:
                sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            for each in batch.annotated.rejected:
                typer.secho(f"refreader: {each.place}: {each.reason}", err=True)
            n_texts += batch.annotated.n_texts
            n_rejected += len(batch.annotated.rejected)
            notice(batch.annotated.n_texts, batch.annotated.n_words, batch.size)
    if n_rejected and not n_texts:
        raise typer.Exit(1)


def finish(shards: ShardFolder, manifest: Manifest, file: Path | None) -> None:
    """Join what belongs in one file, and say what was left out."""
    aside: Path | None = shards.path / "rejected"
    if file is not None:
        aside = join_shards(shards, manifest, file)
        shutil.rmtree(shards.path)
    n_texts = sum(shard.texts for shard in manifest.shards.values())
    n_rejected = sum(shard.rejected for shard in manifest.shards.values())
    written = file or shards.path
    typer.echo(f"written to {written}: {n_texts:,} texts", err=True)
    if n_rejected:
        total = n_texts + n_rejected
        message = f"{n_rejected:,} of {total:,} records can't be annotated: see {aside}"
        typer.secho(f"refreader: {message}", err=True, fg="yellow")
        if not n_texts:
            raise typer.Exit(1)


@contextmanager
def progress(sources: list[Source], *, hidden: bool = False) -> Iterator[Notice]:
    """A bar on stderr if somebody can see it there; told of each batch."""
    console = Console(stderr=True)
    paths = [path for source in sources for path in source.paths]
    known = STDIN not in paths
    total = sum(map(size_of, paths)) if known else None
    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    # No thread that draws: workers are forked from this process
    bar = Progress(
        *columns,
        console=console,
        disable=hidden or not console.is_terminal,
        auto_refresh=False,
    )
    n_texts, n_words, start, shown = 0, 0, monotonic(), 0.0
    task = bar.add_task("", total=total)

    def notice(more_texts: int, more_words: int, size: int) -> None:
        nonlocal n_texts, n_words, shown
        n_texts += more_texts
        n_words += more_words
        speed = n_words / (monotonic() - start)
        words = f"{n_texts:,} texts, {n_words:,} words, {speed:,.0f} words/s"
        bar.update(task, advance=size, description=words)
        if monotonic() - shown > 0.1:
            bar.refresh()
            shown = monotonic()

    with bar:
        yield notice
        bar.refresh()
