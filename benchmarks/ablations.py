"""What each part of the general reader is worth: short trainings without one of them.

    OMP_NUM_THREADS=1 python -m benchmarks.ablations

Every row is trained anew from configs/general.cfg for as many updates, with one seed,
and scored on the development sets. Rows that are in metrics/ablations.json already are
kept, so an interrupted run goes on, and two runs with other --rows may go side by side.
Weights that are taken out are zero and stay so, which leaves the reader as it is.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import spacy
import srsly
import torch
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from refreader_spacy.cli.pipeline import annotate, find_reader, read_examples
from refreader_spacy.reader.features import FEATURES, OFFSETS
from refreader_spacy.reader.network import EntityNetwork

OUTPUT = Path("metrics/ablations.json")
MODEL = "components.refreader.model"
STRINGS = (
    *("head in cell", "latest word", "string in cell", "name overlap"),
    *("word overlap", "name coverage", "word coverage", "acronym", "spelled out"),
)
SALIENCE = ("tokens", "sentences", "rank", "count")
GOLD = {"gum": 1, "litbank": 1}


@dataclass(frozen=True)
class Row:
    """A training: what it reads, which settings are other, and what is taken out."""

    name: str
    parts: dict[str, int] = field(default_factory=lambda: dict(GOLD))
    settings: dict[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()


ROWS = (
    Row("GUM and LitBank"),
    Row("without the token after a head", weights=("after.weight",)),
    Row("without features of strings", features=STRINGS),
    Row("without features of distance and count", features=SALIENCE),
    Row("without gender and number", features=("gender", "number")),
    Row(
        "without the recurrent unit",
        weights=("recurrence.weight_ih_l0", "recurrence.bias_ih_l0"),
    ),
    Row("128 wide", settings={f"{MODEL}.hidden_size": 128}),
    Row("256 wide", settings={f"{MODEL}.hidden_size": 256}),
    Row("no noise", settings={f"{MODEL}.noise": 0.0}),
    Row("GUM alone", {"gum": 1}),
    Row("LitBank alone", {"litbank": 1}),
    Row("+ GUM's NC kinds", {**GOLD, "nc": 1}),
    Row("+ CRAFT", {**GOLD, "craft": 1}),
    Row("+ everyday texts", {**GOLD, "everyday": 2}),
    Row("+ GAP's rows", {**GOLD, "gap": 2}),
    Row("+ GAP's rows and labelled text", {**GOLD, "gap": 2, "labelled": 1}),
    Row(
        "+ GAP's rows, labelled text, people and short pieces",
        {**GOLD, "gap": 2, "labelled": 1, "people": 1, "pieces": 1},
    ),
)


def main() -> None:
    """Train and score what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=Path("corpus/general"))
    parser.add_argument("--gap", type=Path, default=Path("corpus/dev.spacy"))
    parser.add_argument("--vectors", default="corpus/vectors")
    parser.add_argument("--updates", type=int, default=500)
    parser.add_argument(
        "--rows", nargs="*", help="Only those with these words in them."
    )
    args = parser.parse_args()
    for row in ROWS:
        wanted = not args.rows or any(word in row.name for word in args.rows)
        if wanted and row.name not in known():
            nlp = trained(row, args.corpus, args.vectors, args.updates)
            found = scores(nlp, args.corpus / "dev", args.gap)
            write(row.name, {"updates": args.updates, **found})
            print(row.name, found, flush=True)
    if not args.rows and "cells" not in known():
        write("cells", cells(args.corpus / "dev"))
    print(table(known()))


def known() -> dict[str, Any]:
    """The rows that are there."""
    return srsly.read_json(OUTPUT) if OUTPUT.exists() else {}


def write(name: str, found: dict[str, Any]) -> None:
    results = {**known(), name: found}
    order = [*(row.name for row in ROWS), "cells"]
    srsly.write_json(OUTPUT, {key: results[key] for key in order if key in results})


def trained(row: Row, corpus: Path, vectors: str, updates: int) -> Language:
    """A pipeline that learned as the row says."""
    with tempfile.TemporaryDirectory() as folder:
        for name in row.parts:
            found = [*corpus.glob(f"train/{name}*"), *corpus.glob(f"{name}/gum.spacy")]
            ending = "" if found[0].is_dir() else ".spacy"
            Path(folder, name + ending).symlink_to(found[0].resolve())
        overrides = {
            "paths.train": folder,
            "paths.dev": str(corpus / "dev" / "ontogum.spacy"),
            "paths.vectors": vectors,
            "corpora.train.times": row.parts,
            "training.max_steps": updates,
            "training.eval_frequency": updates,
            **row.settings,
        }
        config = load_config("configs/general.cfg", overrides)
        nlp = init_nlp(config)
        network: EntityNetwork = find_reader(nlp).model.shims[0]._model
        take_out(network, row)
        nlp, _ = train(nlp)
    return nlp


def take_out(network: EntityNetwork, row: Row) -> None:
    """Make weights zero for good: they get no gradient."""
    known = {feature.name: f for f, feature in enumerate(FEATURES)}
    values = [
        OFFSETS[f] + value
        for f in (known[name] for name in row.features)
        for value in range(FEATURES[f].size)
    ]
    lost = torch.ones(len(network.features.weight))
    lost[torch.tensor(values, dtype=torch.long)] = 0
    keep(network.features.weight, lost[:, None])
    keep(network.kind_features.weight, lost.repeat(len(network.kind.weight))[:, None])
    for name in row.weights:
        keep(network.get_parameter(name), torch.zeros(1))
    if "recurrence.weight_ih_l0" in row.weights:
        for name in ("recurrence.weight_hh_l0", "recurrence.bias_hh_l0"):
            keep(network.get_parameter(name), torch.zeros(1))


def keep(weight: torch.nn.Parameter, mask: torch.Tensor) -> None:
    weight.data *= mask
    weight.register_hook(lambda gradient: gradient * mask)


def scores(nlp: Language, dev: Path, gap: Path | None = None) -> dict[str, float]:
    """CoNLL F1 on the development sets, and what is known on GAP's validation rows."""
    reader = find_reader(nlp)
    found = {}
    for name, singletons, scheme in (
        ("ontogum", False, "auto"),
        ("gum", True, "auto"),
        ("litbank", True, "litbank"),
    ):
        reader.keep_singletons, reader.scheme = singletons, scheme
        examples = read_examples(nlp, dev / f"{name}.spacy")
        annotate(nlp, examples)
        result = reader.score(examples)
        found[name] = result["coref_f"]
        found[f"{name}_heads"] = result["coref_head_mention_f"]
    reader.keep_singletons, reader.scheme = False, "auto"
    if gap is not None:
        examples = read_examples(nlp, gap)
        annotate(nlp, examples)
        result = reader.score(examples)
        found |= {key: result[key] for key in ("gap_ap", "gap_best_f")}
    return {name: float(value or 0) for name, value in found.items()}


def cells(dev: Path) -> dict[str, dict[str, float]]:
    """The package's weights, read with fewer and more cells than they learned with."""
    found = {}
    for n_cells in (16, 32, 64, 128):
        nlp = spacy.blank("en")
        reader: Any = nlp.add_pipe("refreader")
        kept = reader.model.attrs["reader"]
        settings = {**kept.make.keywords, "n_cells": n_cells}
        kept.make = partial(kept.make.func, **settings)
        reader.model.shims[0].changed()
        found[str(n_cells)] = scores(nlp, dev)
    return found


def table(results: dict[str, Any]) -> str:
    """Markdown, for docs/experiments.md."""
    head = ("OntoGUM", "GUM", "head F1", "LitBank", "GAP AP", "GAP best F1")
    keys = ("ontogum", "gum", "gum_heads", "litbank", "gap_ap", "gap_best_f")
    rows = dict(results)
    rows |= {f"{n} cells": found for n, found in rows.pop("cells", {}).items()}
    lines = ["| | " + " | ".join(head) + " |", "|---" * (len(head) + 1) + "|"]
    for name, found in rows.items():
        shown = [f"{100 * found[key]:.1f}" if key in found else "" for key in keys]
        lines.append("| " + " | ".join((name, *shown)) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
