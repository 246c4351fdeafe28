"""Scores as tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

NAMES = {
    "mention": "mentions",
    "muc": "MUC",
    "b3": "B³",
    "ceafe": "CEAFe",
    "lea": "LEA",
    "blanc": "BLANC",
}
PARTS = ("r", "p", "f")

Scores = Mapping[str, Any]


def print_scores(scores: Scores, genres: Mapping[str, Scores]) -> None:
    """Clusters, kinds of anaphors and kinds of texts, as far as they were scored."""
    console = Console()
    if scores["coref_f"] is not None:
        console.print(cluster_table(scores))
        console.print(anaphor_table(scores["coref_per_anaphor"]))
    if genres:
        console.print(genre_table(genres))
    if (accuracy := scores["coref_type_acc"]) is not None:
        console.print(f"Types of mentions that match by head: {percent(accuracy)}")


def cluster_table(scores: Scores) -> Table:
    """A line for each metric: recall, precision and F1 by spans, then by heads."""
    table = _table("", "recall", "precision", "F1", "head: recall", "precision", "F1")
    for metric, name in NAMES.items():
        cells = [
            percent(scores[f"{prefix}_{metric}_{part}"])
            for prefix in ("coref", "coref_head")
            for part in PARTS
        ]
        table.add_row(name, *cells)
    table.add_section()
    conll = [percent(scores[key]) for key in ("coref_f", "coref_head_f")]
    table.add_row("CoNLL F1", "", "", conll[0], "", "", conll[1], style="bold")
    return table


def anaphor_table(per_anaphor: Mapping[str, Scores]) -> Table:
    """A line for each kind of anaphor."""
    table = _table("links by anaphor", "recall", "precision", "F1")
    for kind, score in per_anaphor.items():
        table.add_row(kind, *(percent(score[part]) for part in PARTS))
    return table


def genre_table(genres: Mapping[str, Scores]) -> Table:
    """A line for each kind of text."""
    table = _table("CoNLL F1 by kind of text", "documents", "F1", "head: F1")
    for genre, scores in genres.items():
        cells = [percent(scores[key]) for key in ("coref_f", "coref_head_f")]
        table.add_row(genre, str(scores["n_docs"]), *cells)
    return table


def percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.1f}"


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table
