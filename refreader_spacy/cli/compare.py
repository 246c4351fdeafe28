"""`refreader compare`: the gain of one system over another, with its interval."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refreader_spacy.corpora.gap import Answer, GapRow, read_gap, read_system
from refreader_spacy.errors import Errors
from refreader_spacy.evaluation.comparison import paired_gain


def compare(
    gold: Annotated[
        Path,
        typer.Argument(help="A GAP file, such as gap-test.tsv.", metavar="GOLD.tsv"),
    ],
    old: Annotated[
        Path,
        typer.Argument(help="Answers, or a folder of answers, one file for each seed."),
    ],
    new: Annotated[
        Path, typer.Argument(help="The same of the system that may be better.")
    ],
    seed: Annotated[int, typer.Option(help="Of the resampling.")] = 0,
) -> None:
    """Print a system's gain over another on GAP, as an interval.

    Answers are files that `refreader gap -o` writes. The interval comes from a paired
    bootstrap: 10,000 test sets drawn from the rows, on which both systems are scored.
    Of several seeds the mean is compared.

    Example: refreader compare gap-test.tsv answers/coref-only answers/lm-coref
    """
    rows = read_gap(gold)
    systems = [read_runs(path, rows) for path in (old, new)]
    gain = paired_gain(rows, *systems, seed=seed)
    for path, runs, f1 in zip((old, new), systems, (gain.old, gain.new), strict=True):
        seeds = f" (mean of {len(runs)} runs)" if len(runs) > 1 else ""
        typer.echo(f"{path}: F1 {100 * f1:.1f}{seeds}")
    typer.echo(
        f"gain: {100 * (gain.new - gain.old):+.1f}, 95 % interval "
        f"{100 * gain.low:+.1f} to {100 * gain.high:+.1f}; "
        f"above 0 in {100 * gain.chance:.1f} % of the samples"
    )


def read_runs(path: Path, rows: list[GapRow]) -> list[dict[str, Answer]]:
    """The answers in a file, or in each .tsv file of a folder, to all of the rows."""
    files = sorted(path.glob("*.tsv")) if path.is_dir() else [path]
    if not files:
        raise ValueError(Errors.R353.format(path=path))
    runs = [read_system(file) for file in files]
    for file, answers in zip(files, runs, strict=True):
        if differ := answers.keys() ^ {row.id for row in rows}:
            raise ValueError(Errors.R352.format(path=file, found=min(differ)))
    return runs
