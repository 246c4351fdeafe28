"""`refreader gap`: GAP's official score card, for a pipeline or a system file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from spacy.language import Language

from refreader_spacy.cli.pipeline import Model, annotate, find_reader, load_pipeline
from refreader_spacy.corpora.gap import (
    Answer,
    GapRow,
    read_gap,
    read_system,
    write_system,
)
from refreader_spacy.corpora.gap_corpus import gap_examples
from refreader_spacy.errors import Errors
from refreader_spacy.evaluation.gap_metric import ScoreCard, score_system
from refreader_spacy.evaluation.gap_scorer import GapLinks, gap_links
from refreader_spacy.files import atomic_write


def gap(
    gold: Annotated[
        Path,
        typer.Argument(help="A GAP file, such as gap-test.tsv.", metavar="GOLD.tsv"),
    ],
    model: Model = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Where to write the answers.", dir_okay=False
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Links count from here. Default: the pipeline's."
        ),
    ] = None,
    system: Annotated[
        Path | None,
        typer.Option(help="Score the answers in this file, not those of a pipeline."),
    ] = None,
) -> None:
    """Print GAP's official score card for a pipeline.

    Or for a file with answers.

    Such a file has the columns id, A-coref and B-coref and no header; -o writes one,
    and GAP's official scorer reads it. A pipeline answers TRUE if its gates link the
    pronoun and the name; the line of clusters scores what users get, the pronoun and
    the name in one cluster. The last line is there for comparison: the F1 of answering
    TRUE to everything.

    Example: refreader gap gap-test.tsv -m training/model-best -o answers.tsv
    """
    if system and (model or output or threshold is not None):
        raise typer.BadParameter(
            "it can't be combined with other options.", param_hint="--system"
        )
    for path in (gold, system):
        if path and not path.is_file():
            raise ValueError(Errors.R270.format(path=path))
    rows = read_gap(gold)
    if system:
        answers, clusters = read_system(system), None
    else:
        nlp = load_pipeline(model)
        reader = find_reader(nlp)
        if threshold is not None:
            reader.threshold = threshold
        links = pipeline_links(nlp, rows)
        answers = {row.id: row.answer(reader.threshold) for row in links}
        clusters = score_system(rows, {row.id: row.clusters for row in links})
    card = score_system(rows, answers)
    if output:
        with atomic_write(output) as draft:
            write_system(draft, answers)
    always = dict.fromkeys((row.id for row in rows), Answer(a=True, b=True))
    typer.echo(card)
    if clusters:
        typer.echo(cluster_line(clusters))
    typer.echo(f"Everything TRUE f1: {100 * score_system(rows, always).overall.f1:.1f}")


def pipeline_links(nlp: Language, rows: Sequence[GapRow]) -> list[GapLinks]:
    """Run the pipeline over all texts and see what it found."""
    reader = find_reader(nlp)
    reader.trace = True
    examples = list(gap_examples(rows, nlp))
    annotate(nlp, examples)
    return gap_links(examples, reader.spans_prefix)


def cluster_line(card: ScoreCard) -> str:
    """A score card's F1s in one line."""
    overall, masculine, feminine = (
        f"{100 * counts.f1:.1f}"
        for counts in (card.overall, card.masculine, card.feminine)
    )
    return f"Clusters f1: {overall} masculine: {masculine} feminine: {feminine}"
