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
    about = {name: card[name] for name in ("author", "license", "url") if name in card}
    for name, value in {**about, "description": card.get("description", "")}.items():
        meta[name] = meta.get(name) or value
    if "name" in card and meta.get("name") == UNNAMED:
        meta["name"] = "refreader_" + card["name"].removeprefix(f"{meta['lang']}_")
    sources = list(meta.get("sources") or [])
    weights = [{"name": f"refreader-spacy, weights {card.get('name', '')}", **about}]
    sources += [
        each for each in (*weights, *card.get("data", ())) if each not in sources
    ]
    meta["sources"] = sources
    scores = {
        name: round(score / 100, 4)
        for name, score in card.get("scores", {}).items()
        if isinstance(score, int | float)
    }
    meta["performance"] = {**scores, **meta.get("performance", {})}
