"""`refreader table`: our results beside the paper's, from metrics/, into the README."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import srsly
import typer

from refreader_spacy.assets import whole
from refreader_spacy.errors import Errors

START, END = "<!-- table:start -->", "<!-- table:end -->"
HEADER = "| | M | F | F/M | F1 | paper: F1 |\n|---|---|---|---|---|---|"
# Overall F1 in the paper's table 1, by our rows' names.
PAPER = {
    "LM only": 61.1,
    "coref only": 68.9,
    "LM + coref": 72.1,
    "LM + coref, 4 cells": 71.4,
    "LM + coref, pairs of texts": 70.2,
    "coref + transformer": 78.8,
}


def table(
    metrics: Annotated[Path, typer.Option(help="The folder of results.")] = Path(
        "metrics"
    ),
    readme: Annotated[
        Path, typer.Option(help="Where the table stands, between its two markers.")
    ] = Path("README.md"),
) -> None:
    """Print the results in metrics/ beside the paper's, and put them into the README.

    Rows are means over seeds, with the standard deviation.

    Example: refreader table
    """
    results = [srsly.read_json(path) for path in sorted(metrics.glob("*.json"))]
    gap = [result for result in results if result.get("corpus") == "gap"]
    if not gap:
        raise ValueError(Errors.R010.format(folder=metrics))
    text = gap_table(gap)
    typer.echo(text)
    old = readme.read_text("utf8")
    if START not in old or END not in old:
        raise ValueError(Errors.R011.format(path=readme, start=START, end=END))
    with whole(readme) as draft:
        block = f"{START}\n{text}\n{END}"
        new = re.sub(f"{START}.*?{END}", lambda _: block, old, flags=re.DOTALL)
        draft.write_text(new, "utf8")


def gap_table(results: list[dict[str, Any]]) -> str:
    """Markdown: a line for each row's name, in the paper's order."""
    by_row = defaultdict(list)
    for result in results:
        by_row[result["row"]].append(result)
    order = [
        *(name for name in PAPER if name in by_row),
        *(by_row.keys() - PAPER.keys()),
    ]
    always = spread([result["everything_true"] for result in results])
    lines = [HEADER, f"| everything TRUE | | | | {always} | |"]
    for name in order:
        scores = [result["scores"] for result in by_row[name]]
        fields = (
            *(spread([s[key] for s in scores]) for key in ("gap_masc_f", "gap_fem_f")),
            f"{mean(s['gap_bias'] for s in scores):.2f}",
            f"**{spread([s['gap_f'] for s in scores])}**",
            str(PAPER.get(name, "")),
        )
        seeds = f" ({len(scores)} seeds)" if len(scores) > 1 else ""
        lines.append(f"| {name}{seeds} | {' | '.join(fields)} |")
    return "\n".join(lines)


def spread(fractions: Sequence[float]) -> str:
    """Mean ± standard deviation, in percent."""
    percent = [100 * fraction for fraction in fractions]
    if len(set(percent)) == 1:
        return f"{percent[0]:.1f}"
    return f"{mean(percent):.1f} ± {stdev(percent):.1f}"
