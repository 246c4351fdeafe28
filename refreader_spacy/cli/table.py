"""`refreader table`: our results beside the paper's, from metrics/."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import srsly
import typer

from refreader_spacy.errors import Errors

HEADER = (
    "| | M | F | F/M | F1 | paper: M | F | F/M | F1 |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
GENERAL_HEADER = (
    "| | singletons | CoNLL F1 | head match | mention F1 | head F1 | LEA | types |\n"
    "|---|---|---|---|---|---|---|---|"
)
GENERAL_SCORES = (
    *("coref_f", "coref_head_f", "coref_mention_f", "coref_head_mention_f"),
    *("coref_lea_f", "coref_type_acc"),
)
SCORES = ("gap_masc_f", "gap_fem_f", "gap_f")
# The paper's table 1, by our rows' names: M, F, F/M and F1. The text after it gives the
# F1 of four cells and of pairs.
PAPER = {
    "everything TRUE": ("", "", "", ""),
    "Parallelism": ("69.4", "64.4", "0.93", "66.9"),
    "Parallelism+URL": ("72.3", "68.8", "0.95", "70.6"),
    "LM only": ("61.6", "60.5", "0.98", "61.1"),
    "coref only": ("69.6", "68.1", "0.98", "68.9"),
    "LM + coref": ("72.8", "71.4", "0.98", "72.1"),
    "LM + coref, 4 cells": ("", "", "", "71.4"),
    "LM + coref, pairs of texts": ("", "", "", "70.2"),
    "coref + transformer": ("80.3", "77.4", "0.96", "78.8"),
}
NOT_MEASURED = ("", "", "", "not measured")


def table(
    metrics: Annotated[Path, typer.Option(help="The folder of results.")] = Path(
        "metrics"
    ),
) -> None:
    """Print the results in metrics/ as tables.

    Rows are means over seeds, with the standard deviation: F1 where the pronoun is
    masculine and where it is feminine, their ratio, and F1 on all. Rows of the paper
    without results in metrics/ are marked as not measured.

    Example: refreader table
    """
    results = [srsly.read_json(path) for path in sorted(metrics.glob("*.json"))]
    gap = [result for result in results if result.get("corpus") == "gap"]
    if not gap:
        raise ValueError(Errors.R010.format(folder=metrics))
    typer.echo(gap_table(gap))
    general = [result for result in results if "coref_f" in result.get("scores", {})]
    if general:
        typer.echo(cluster_table(general))


def cluster_table(results: Sequence[dict[str, Any]]) -> str:
    """Markdown: a line for each row, those of a set of texts beside each other."""
    by_row = defaultdict(list)
    for result in results:
        counted = "yes" if result["singletons"] else "no"
        by_row[result["row"], counted].append(result["scores"])
    lines = [GENERAL_HEADER]
    for (name, counted), runs in sorted(by_row.items(), key=lambda row: row[0]):
        seeds = f" ({len(runs)} seeds)" if len(runs) > 1 else ""
        cells = [
            percentages([run[key] for run in runs if key in run])
            for key in GENERAL_SCORES
        ]
        lines.append("| " + " | ".join((name + seeds, counted, *cells)) + " |")
    return "\n".join(lines)


def gap_table(results: Sequence[dict[str, Any]]) -> str:
    """Markdown: a line for each row of the paper, in its order, then our own."""
    by_row = defaultdict(list)
    for result in results:
        by_row[result["row"]].append(result["scores"])
    lines = [HEADER]
    for name in dict.fromkeys([*PAPER, *sorted(by_row)]):
        runs = by_row[name]
        seeds = f" ({len(runs)} seeds)" if len(runs) > 1 else ""
        ours = our_cells(runs) if runs else NOT_MEASURED
        theirs = PAPER.get(name, ("", "", "", ""))
        lines.append("| " + " | ".join((name + seeds, *ours, *theirs)) + " |")
    return "\n".join(lines)


def our_cells(runs: Sequence[dict[str, float]]) -> tuple[str, ...]:
    """M, F, F/M and F1 of one or more seeds."""
    masculine, feminine, overall = ([run[key] for run in runs] for key in SCORES)
    ratios = [bias for run in runs if (bias := run.get("gap_bias")) is not None]
    ratio = f"{mean(ratios):.2f}" if ratios else ""
    return (
        percentages(masculine),
        percentages(feminine),
        ratio,
        f"**{percentages(overall)}**",
    )


def percentages(fractions: Sequence[float]) -> str:
    """Mean ± standard deviation, in percent; nothing where there are none."""
    if not fractions:
        return ""
    percent = [100 * fraction for fraction in fractions]
    deviation = f" ± {stdev(percent):.1f}" if len(percent) > 1 else ""
    return f"{mean(percent):.1f}{deviation}"
