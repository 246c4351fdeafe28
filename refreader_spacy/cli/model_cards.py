"""Cards of trained weights: what was measured goes in, a page for people comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

SCORES = {
    "CoNLL F1": "coref_f",
    "head match": "coref_head_f",
    "mention F1": "coref_mention_f",
    "head F1": "coref_head_mention_f",
    "LEA": "coref_lea_f",
    "entity types": "coref_type_acc",
    "GAP F1": "gap_f",
    "masculine": "gap_masc_f",
    "feminine": "gap_fem_f",
    "feminine to masculine": "gap_bias",
    "GAP F1 of clusters": "gap_clusters_f",
}
ANAPHORS, GENRES = "by anaphor", "by kind of text"


def card_scores(results: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What a card says of scores, from files of `refreader evaluate`.

    RETURNS (dict[str, Any]): `scores`, which a pipeline's meta has too: a percentage by
        corpus and score; and `details`, by kind of anaphor and of text too.
    """
    details = {_texts(result["row"]): _scores(result) for result in results}
    flat = {
        f"{row}, {name}": each[name]
        for row, each in details.items()
        for name in SCORES
        if name in each
    }
    return {"scores": flat, "details": details}


def _texts(row: str) -> str:
    """What was read: a card names its weights, so "GUM dev" of "GUM dev, en_mpnet"."""
    return row.partition(", ")[0]


def _scores(result: dict[str, Any]) -> dict[str, Any]:
    scores = result["scores"]
    found: dict[str, Any] = {
        name: _percent(scores[key])
        for name, key in SCORES.items()
        if scores.get(key) is not None
    }
    found["singletons"] = result["singletons"]
    found["texts"] = result["n_docs"]
    if anaphors := scores.get("coref_per_anaphor"):
        found[ANAPHORS] = {
            name: {"recall": _percent(each["r"]), "precision": _percent(each["p"])}
            for name, each in anaphors.items()
        }
    if genres := result.get("genres"):
        found[GENRES] = {
            name: {"texts": each["n_docs"], "CoNLL F1": _percent(each["coref_f"])}
            for name, each in genres.items()
        }
    return found


def _percent(fraction: float) -> float:
    return round(100 * fraction, 1)


def card_page(name: str, card: dict[str, Any]) -> str:
    """A card as a page of Markdown."""
    parts = [f"# {name}", card.get("description", "")]
    facts = {"licence": card.get("license")}
    if "threshold" in card:
        facts["threshold"] = f"{card['threshold']:.2f}"
    parts.append(_list(f"{key}: {value}" for key, value in facts.items() if value))
    if data := card.get("data"):
        rows = [(each["name"], each["license"]) for each in data]
        parts += ["## What it learned from", _table(("data", "licence"), rows)]
    if limits := card.get("limits"):
        parts += ["## Limits", _list(limits)]
    for row, scores in card.get("details", {}).items():
        plain = [(k, str(v)) for k, v in scores.items() if k in SCORES]
        counted = "counted" if scores["singletons"] else "left out"
        parts += [f"## {row}", f"{scores['texts']} texts, single mentions {counted}."]
        parts.append(_table(("score", ""), plain))
        for what in (ANAPHORS, GENRES):
            if inner := scores.get(what):
                columns = (what, *next(iter(inner.values())))
                lines = [(k, *map(str, each.values())) for k, each in inner.items()]
                parts.append(_table(columns, lines))
    return "\n\n".join(part for part in parts if part) + "\n"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
