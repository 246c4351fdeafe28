"""`refreader seeds`: an experiment several times, so that its spread is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.cli._util import parse_config_overrides
from spacy.cli.train import train
from spacy.util import load_config

from refreader_spacy.cli.evaluate import evaluate
from refreader_spacy.cli.threshold import threshold

BEST = "model-best"


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
    gpu_id: Annotated[int, typer.Option("--gpu-id", help="-1 for the CPU.")] = -1,
) -> None:
    """Train, find the threshold on validation and score on test, for seeds 1, 2, 3.

    Pipelines go to training/NAME/SEED and scores to metrics/NAME_sSEED.json. A seed
    whose scores are newer than all it is made from is left alone, so a run that was
    interrupted goes on with the seed that it was at.

    Settings of the config can be given too, as for `spacy train`; `{seed}` in them is
    the seed.

    Example: refreader seeds configs/lm.cfg --row "LM + coref"
    """
    name = name or config.stem
    given = parse_config_overrides(ctx.args)
    for seed in range(1, n_seeds + 1):
        folder = Path("training") / name / str(seed)
        scores = Path("metrics") / f"{name}_s{seed}.json"
        overrides = {**with_seed(given, seed), "system.seed": seed}
        paths = load_config(config, overrides, interpolate=True)["paths"]
        made_from = [config, test, *(Path(path) for path in paths.values() if path)]
        if is_newer(scores, made_from):
            typer.echo(f"{scores} is there already")
            continue
        train(config, folder, use_gpu=gpu_id, overrides=overrides)
        threshold(folder / BEST, Path(paths["dev"]))
        evaluate(folder / BEST, test, row, scores)


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
