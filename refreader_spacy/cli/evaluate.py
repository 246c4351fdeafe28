"""`refreader evaluate`: a pipeline's scores on gold data, as JSON for the tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import typer

from refreader_spacy.cli.pipeline import annotate, find_reader, read_examples
from refreader_spacy.corpora.assets import whole
from refreader_spacy.evaluation.gap_metric import Decision, score_card
from refreader_spacy.evaluation.scorers import gap_probabilities


def evaluate(
    model: Annotated[Path, typer.Argument(help="A trained pipeline.")],
    gold: Annotated[Path, typer.Argument(help="Test data, as .spacy.")],
    row: Annotated[str, typer.Option(help="Which row of the table this is.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Where to write the scores, as JSON.")
    ],
) -> None:
    """Score a pipeline on test data, and write what `refreader table` reads.

    The threshold is the one stored in the pipeline: nothing is chosen here. Scores on
    the demo corpus go to a folder `demo` of their own, beside the output.

    Example: refreader evaluate training/glove/1/model-best corpus/test.spacy
    --row "coref only" -o metrics/glove_s1.json
    """
    nlp = spacy.load(model)
    reader = find_reader(nlp)
    examples = read_examples(nlp, gold)
    annotate(nlp, examples)
    source = gold.parent / "source.json"
    corpus = srsly.read_json(source)["corpus"] if source.exists() else str(gold)
    scores = {k: v for k, v in reader.score(examples).items() if v is not None}
    result: dict[str, Any] = {
        "row": row,
        "corpus": corpus,
        "seed": nlp.config.interpolate()["training"]["seed"],
        "threshold": reader.threshold,
        "n_docs": len(examples),
        "scores": scores,
    }
    if rows := gap_probabilities(examples):
        always = score_card(
            Decision(r.gender, gold, True)
            for r in rows
            for gold in (r.a_gold, r.b_gold)
        )
        result["everything_true"] = always.overall.f1
    if corpus == "demo":
        output = output.parent / "demo" / output.name
    with whole(output) as draft:
        srsly.write_json(draft, result)
    for name, value in scores.items():
        typer.echo(f"{name:<20} {value:.4f}")
    if rows:
        typer.echo(f"{'everything TRUE f':<20} {result['everything_true']:.4f}")
    typer.echo(f"written to {output} (corpus: {corpus})")
