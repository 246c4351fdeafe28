"""`refreader threshold`: find the threshold on validation data and store it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import spacy
import typer
from spacy.training import Example

from refreader_spacy.cli.pipeline import annotate, find_reader, progress, read_examples
from refreader_spacy.component import RefReader
from refreader_spacy.errors import Errors
from refreader_spacy.evaluation.gap_scorer import gap_links, steady_threshold
from refreader_spacy.files import atomic_write

CANDIDATES = np.geomspace(0.005, 0.9, 25)  # for clusters, which need a decoding each


def threshold(
    model: Annotated[Path, typer.Argument(help="A trained pipeline's folder.")],
    gold: Annotated[Path, typer.Argument(help="Validation data, as .spacy.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A folder for the pipeline with it."),
    ] = None,
) -> None:
    """Find a pipeline's best threshold, and store it.

    On GAP's rows it is the one with the highest expected F1, once the probabilities are
    calibrated; on other data the one with the highest CoNLL F1 of clusters.

    Example: refreader threshold training/glove/1/model-best corpus/dev.spacy
    """
    nlp = spacy.load(model)
    reader = find_reader(nlp)
    examples = read_examples(nlp, gold)
    reader.trace = True
    annotate(nlp, examples)
    rows = gap_links(examples)
    if rows:
        reader.threshold = best = steady_threshold(rows)
        metric, f1 = "GAP F1", reader.score(examples)["gap_f"]
    else:
        best, f1 = best_for_clusters(reader, examples)
        metric = "CoNLL F1"
    override = {"components": {reader.name: {"threshold": best}}}
    with atomic_write(output or model) as draft:
        spacy.load(model, config=override).to_disk(draft)
    typer.echo(f"threshold {best:.4f}, with {metric} {100 * f1:.1f} on {gold}")


def best_for_clusters(
    reader: RefReader, examples: list[Example]
) -> tuple[float, float]:
    """Decode the same decisions at each candidate."""
    docs = [example.predicted for example in examples]
    parts = reader.predict(docs)
    scores = {}
    for candidate in progress(CANDIDATES, "Thresholds", len(CANDIDATES)):
        reader.threshold = float(candidate)
        reader.set_annotations(docs, parts)
        scores[reader.threshold] = reader.score(examples).get("coref_f")
    if None in scores.values():
        raise ValueError(Errors.R009.format(prefix=reader.spans_prefix))
    best = max(scores, key=lambda candidate: scores[candidate] or 0.0)
    return best, scores[best] or 0.0
