"""What weights say about themselves, in a pipeline's `meta.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNNAMED = "pipeline"  # what spaCy calls a pipeline that nobody named


def fill_meta(meta: dict[str, Any], card: Mapping[str, Any]) -> None:
    """Put a card into a pipeline's meta, which `spacy package` makes a README of.

    What the meta says already stays. The weights are one of its sources, with their
    licence, since the pipeline's own may be another.

    meta (dict): As `nlp.meta`.
    card (Mapping): As in the `card.json` of weights in the package; scores are in
        percent.
    """
    about = about_weights(card)
    for name, value in {**about, "description": card.get("description", "")}.items():
        meta[name] = meta.get(name) or value
    if "name" in card and meta.get("name") == UNNAMED:
        meta["name"] = "refreader_" + card["name"].removeprefix(f"{meta['lang']}_")
    meta["sources"] = sources(meta, card)
    scores = {
        name: round(score / 100, 4)
        for name, score in card.get("scores", {}).items()
        if isinstance(score, int | float)
    }
    meta["performance"] = {**scores, **meta.get("performance", {})}


def about_weights(card: Mapping[str, Any]) -> dict[str, str]:
    """Who made weights, and under which licence they are."""
    return {name: card[name] for name in ("author", "license", "url") if name in card}


def sources(meta: Mapping[str, Any], card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A pipeline's sources, with the weights that it has and their data."""
    known = list(meta.get("sources") or [])
    name = f"refreader-spacy, weights {card.get('name', '')}"
    weights = {"name": name, **about_weights(card)}
    added = (weights, *card.get("data", ()))
    return known + [each for each in added if each not in known]
