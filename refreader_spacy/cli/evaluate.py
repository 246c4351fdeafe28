"""`refreader evaluate`: a pipeline's scores on gold data, on the screen and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import srsly
import typer

from refreader_spacy.cli.pipeline import (
    annotate,
    find_reader,
    load_pipeline,
    read_examples,
)
from refreader_spacy.cli.score import AsJson, Singletons
from refreader_spacy.cli.score_tables import print_scores
from refreader_spacy.corpora.gap import Answer
from refreader_spacy.evaluation.cluster_scorer import genre_scores
from refreader_spacy.evaluation.gap_metric import score_card
from refreader_spacy.evaluation.gap_scorer import gap_links, is_gap
from refreader_spacy.files import atomic_write


def evaluate(
    pipeline: Annotated[
        str, typer.Argument(help="A pipeline, or 'packaged': the package's weights.")
    ],
    gold: Annotated[Path, typer.Argument(help="Test data, as .spacy.")],
    row: Annotated[
        str | None, typer.Option(help="Which row of `refreader table` this is.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write the scores, as JSON."),
    ] = None,
    singletons: Singletons = False,
    scheme: Annotated[
        str | None,
        typer.Option(help="Whose mentions count: ontonotes, gum, litbank, all."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score a pipeline on gold data.

    Of clusters, by kind of anaphor and of text, and on GAP's rows.

    The threshold is the one stored in the pipeline: nothing is chosen here. With
    --singletons the pipeline keeps its own and those of the gold count; without, both
    are left out. Scores on the demo corpus go to a folder `demo` of their own, beside
    the output.

    Example: refreader evaluate packaged corpus/gum-dev.spacy --singletons -o gum.json
    """
    nlp = load_pipeline(pipeline)
    reader = find_reader(nlp)
    reader.keep_singletons = singletons
    if scheme is not None:
        reader.scheme = scheme
    examples = read_examples(nlp, gold)
    annotate(nlp, examples)
    source = gold.parent / "source.json"
    corpus = srsly.read_json(source)["corpus"] if source.exists() else str(gold)
    scores = reader.score(examples)
    result: dict[str, Any] = {
        "row": row or pipeline,
        "corpus": corpus,
        "seed": nlp.config.interpolate()["training"]["seed"],
        "threshold": reader.threshold,
        "singletons": singletons,
        "n_docs": len(examples),
        "scores": {name: value for name, value in scores.items() if value is not None},
    }
    others = [example for example in examples if not is_gap(example)]
    if genres := genre_scores(others, **reader.cfg):
        result["genres"] = genres
    if rows := gap_links(examples, reader.spans_prefix):
        true = Answer(a=True, b=True)
        always = score_card(d for row in rows for d in row.decisions(true))
        result["everything_true"] = always.overall.f1
    if as_json:
        typer.echo(srsly.json_dumps(result, indent=2))
    else:
        print_scores(scores, genres)
        if rows:
            print_gap(result)
    if output:
        write_result(result, output)


def print_gap(result: dict[str, Any]) -> None:
    """GAP's scores, a line each."""
    for name, value in result["scores"].items():
        if name.startswith("gap_"):
            typer.echo(f"{name:<20} {value:.4f}")
    typer.echo(f"{'everything TRUE f':<20} {result['everything_true']:.4f}")


def write_result(result: dict[str, Any], output: Path) -> None:
    if result["corpus"] == "demo":
        output = output.parent / "demo" / output.name
    with atomic_write(output) as draft:
        srsly.write_json(draft, result)
    typer.echo(f"written to {output} (corpus: {result['corpus']})", err=True)
