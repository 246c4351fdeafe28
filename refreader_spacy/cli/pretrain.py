"""`refreader pretrain`: language-model pretraining on plain text."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from spacy.cli._util import parse_config_overrides
from spacy.util import load_config

from refreader_spacy.errors import Errors
from refreader_spacy.pretraining.run import BEST, CHECKPOINT, Report, Run

HEAD = f"{'words':>12} {'learned':>9} {'held out':>9} {'words/s':>8}  time left"
RECENT = 50  # steps that the speed is measured over


def pretrain(
    ctx: typer.Context,
    config: Annotated[
        Path, typer.Argument(help="A config with a [pretraining] section.")
    ],
    output: Annotated[Path, typer.Argument(help="The output folder.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in that folder.")
    ] = False,
) -> None:
    """Pretrain the whole reader as a language model.

    It learns to predict the next word. The text is [paths] raw_text of the config: a
    .txt or .txt.xz, where a line `= Name =` begins an article or a blank line ends one;
    a .jsonl with a "text" a line; or a .spacy. Some articles are held out to measure
    perplexity; the run ends when that no longer falls.

    OUTPUT/model-best is a pipeline; `spacy train` starts from it with [initialize]
    init_tok2vec = OUTPUT/model-best/refreader/model. OUTPUT/log.jsonl has all measures.
    The run may be killed at any moment; --resume continues with identical results.

    Settings of the config can be given too, as for `spacy train`. Without its memory,
    the reader is a plain recurrent network: --components.refreader.model.memory_bias
    -1000.

    Example: refreader pretrain configs/lm.cfg training/lm --paths.raw_text notes.txt
    """
    overrides = parse_config_overrides(ctx.args)
    started = (output / CHECKPOINT).exists()
    if started and not resume:
        raise ValueError(Errors.R329.format(path=output))
    run = Run(load_config(config, overrides=overrides, interpolate=False), output)
    if started:
        run.load()
    typer.echo(summary(run))
    typer.echo(HEAD)
    for report, speed in shown(run):
        if report.perplexity is not None:
            left = (run.n_passes * run.words_in_pass - report.n_words) / speed
            typer.echo(
                f"{report.n_words:>12,} {report.train_perplexity:>9.1f} "
                f"{report.perplexity:>8.1f}{'*' if report.is_best else ' '} "
                f"{speed:>8,.0f}  {timedelta(seconds=round(left))}"
            )
    typer.echo(f"lowest perplexity {run.best:.1f}: {output / BEST}")


def summary(run: Run) -> str:
    """The sizes of model and text."""
    lengths = run.corpus.starts[1:] - run.corpus.starts[:-1]
    text = (
        f"{len(run.corpus.learned_from):,} articles with {run.words_in_pass:,} words, "
        f"read {run.n_passes} time(s); {len(run.corpus.held_out):,} articles with "
        f"{lengths[run.corpus.held_out].sum():,} words held out; "
        f"{len(run.vocabulary) - 1:,} words in the vocabulary"
    )
    return f"{text}; goes on after {run.n_words:,} words" if run.step else text


def shown(run: Run) -> Iterator[tuple[Report, float]]:
    """The reports with the recent speed, and a progress bar on a terminal."""
    console = Console(stderr=True)
    times: deque[tuple[float, int]] = deque(maxlen=RECENT)
    times.append((time.monotonic(), run.n_words))
    total = run.n_passes * run.words_in_pass
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.1f} %"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("", total=total, completed=run.n_words)
        for report in run:
            times.append((time.monotonic(), report.n_words))
            (since, before), (now, words) = times[0], times[-1]
            speed = (words - before) / max(now - since, 1e-9)
            left = timedelta(seconds=round((total - words) / speed))
            bar.update(
                task,
                completed=words,
                description=f"perplexity {report.train_perplexity:.1f} (held out "
                f"{run.best:.1f}), {speed:,.0f} words/s, {left} left",
            )
            yield report, speed
