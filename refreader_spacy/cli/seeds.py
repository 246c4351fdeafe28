"""`refreader seeds`: an experiment several times, so that its spread is known."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from io import TextIOWrapper
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import torch
import typer
from spacy.cli._util import parse_config_overrides
from spacy.cli.train import train
from spacy.util import load_config

from refreader_spacy.cli.evaluate import evaluate
from refreader_spacy.cli.threshold import threshold

BEST = "model-best"
LOG = "log.txt"


class Run(NamedTuple):
    """One seed's training and scoring."""

    seed: int
    config: Path
    overrides: dict[str, Any]
    folder: Path
    row: str
    dev: Path
    test: Path
    scores: Path
    gpu_id: int

    def do(self) -> None:
        """Train, find the threshold and score."""
        train(self.config, self.folder, use_gpu=self.gpu_id, overrides=self.overrides)
        threshold(self.folder / BEST, self.dev)
        evaluate(str(self.folder / BEST), self.test, self.row, self.scores)


def seeds(
    ctx: typer.Context,
    config: Annotated[Path, typer.Argument(help="A config of `spacy train`.")],
    row: Annotated[str, typer.Option(help="Which row of the table this is.")],
    n_seeds: Annotated[int, typer.Option(help="How often.", min=1)] = 3,
    name: Annotated[
        str | None, typer.Option(help="Of the folder; by default the config's.")
    ] = None,
    test: Annotated[Path, typer.Option(help="Test data, as .spacy.")] = Path(
        "corpus/test.spacy"
    ),
    dev: Annotated[
        Path | None,
        typer.Option(help="To find the threshold on; by default the config's."),
    ] = None,
    gpu_id: Annotated[int, typer.Option("--gpu-id", help="-1 for the CPU.")] = -1,
    at_once: Annotated[
        int,
        typer.Option(help="Seeds side by side, each on its share of the cores.", min=1),
    ] = 1,
) -> None:
    """Train and score with several seeds.

    The threshold is found on validation, the scores are of the test set.

    Pipelines go to training/NAME/SEED and scores to metrics/NAME_sSEED.json. A seed
    whose scores are newer than all it is made from is left alone, so a run that was
    interrupted goes on with the seed that it was at.

    Settings of the config can be given too, as for `spacy train`; `{seed}` in them is
    the seed.

    Example: refreader seeds configs/lm.cfg --row "LM + coref"
    """
    name = name or config.stem
    given = parse_config_overrides(ctx.args)
    runs = []
    for seed in range(1, n_seeds + 1):
        scores = Path("metrics") / f"{name}_s{seed}.json"
        overrides = {**with_seed(given, seed), "system.seed": seed}
        paths = load_config(config, overrides, interpolate=True)["paths"]
        made_from = [config, test, *(Path(path) for path in paths.values() if path)]
        if is_newer(scores, made_from):
            typer.echo(f"{scores} is there already")
            continue
        folder = Path("training") / name / str(seed)
        asked = dev or Path(paths["dev"])
        runs.append(
            Run(seed, config, overrides, folder, row, asked, test, scores, gpu_id)
        )
    if at_once > 1:
        side_by_side(runs, at_once)
    else:
        for run in runs:
            run.do()


def side_by_side(runs: list[Run], at_once: int) -> None:
    """Several at a time, each with a log of its own."""
    cores = max(1, (os.cpu_count() or 1) // at_once)
    with ProcessPoolExecutor(
        at_once,
        get_context("spawn"),
        initializer=torch.set_num_threads,
        initargs=(cores,),
    ) as pool:
        doing = {pool.submit(_logged, run): run for run in runs}
        for run in runs:
            typer.echo(f"seed {run.seed}: see {run.folder / LOG}")
        for done in as_completed(doing):
            done.result()
            typer.echo(f"seed {doing[done].seed}: {doing[done].scores}")


def _logged(run: Run) -> None:
    """In a process of its own: all that it says goes to a file.

    spaCy's trainer holds on to the streams that it found when it was imported, so it is
    what is behind them that changes.
    """
    run.folder.mkdir(parents=True, exist_ok=True)
    with (run.folder / LOG).open("w") as log:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(log.fileno(), stream.fileno())
            cast(TextIOWrapper, stream).reconfigure(line_buffering=True)
    run.do()
    sys.stdout.flush()


def with_seed(overrides: dict[str, Any], seed: int) -> dict[str, Any]:
    return {
        name: value.replace("{seed}", str(seed)) if isinstance(value, str) else value
        for name, value in overrides.items()
    }


def is_newer(made: Path, made_from: list[Path]) -> bool:
    """Whether a file is there, and newer than all of these that are there."""
    if not made.exists():
        return False
    changed = [path.stat().st_mtime for path in made_from if path.exists()]
    return made.stat().st_mtime > max(changed, default=0)
