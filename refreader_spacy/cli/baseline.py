"""`refreader baseline`: GAP's score card for a rule that needs no training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.cli.pipeline import progress
from refreader_spacy.corpora.gap import read_gap, write_system
from refreader_spacy.errors import Errors
from refreader_spacy.evaluation.baselines import Rule, rule_answer
from refreader_spacy.evaluation.gap_metric import score_system
from refreader_spacy.evaluation.gap_scorer import card_scores
from refreader_spacy.files import atomic_write

ROWS = {
    Rule.EVERYTHING_TRUE: "everything TRUE",
    Rule.PARALLELISM: "Parallelism",
    Rule.PARALLELISM_URL: "Parallelism+URL",
}
UNUSED = ("lemmatizer", "ner")  # a parse doesn't need them


def baseline(
    rule: Annotated[Rule, typer.Argument(help="The rule.")],
    gold: Annotated[
        Path,
        typer.Argument(help="A GAP file, such as gap-test.tsv.", metavar="GOLD.tsv"),
    ],
    parser: Annotated[
        str, typer.Option(help="A pipeline that parses English.")
    ] = "en_core_web_sm",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write the answers."),
    ] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(help="Where to write the scores, for `refreader table`."),
    ] = None,
) -> None:
    """Print GAP's official score card for a rule of the GAP paper.

    everything-true: the pronoun means both names. parallelism: it means the name that
    is a subject or an object as it is itself, or else the one that is closer in the
    parse. parallelism-url: before that, the name that is in the title of the page.

    Example: refreader baseline parallelism gap-test.tsv -o answers.tsv
    """
    rows = read_gap(gold)
    result: dict[str, Any] = {
        "row": ROWS[rule],
        # Only the test rows are for the table.
        "corpus": "gap" if gold.name == "gap-test.tsv" else gold.stem,
        "n_docs": len(rows),
    }
    nlp = spacy.blank("en")
    if rule is not Rule.EVERYTHING_TRUE:
        nlp = load_parser(parser)
        result["parser"] = f"{nlp.lang}_{nlp.meta['name']} {nlp.meta['version']}"
    docs = parses(nlp, [row.text for row in rows])
    answers = {
        row.id: rule_answer(rule, row, doc) for row, doc in zip(rows, docs, strict=True)
    }
    card = score_system(rows, answers)
    typer.echo(card)
    if output:
        with atomic_write(output) as draft:
            write_system(draft, answers)
    if metrics:
        with atomic_write(metrics) as draft:
            srsly.write_json(draft, {**result, "scores": card_scores(card)})


def load_parser(name: str) -> Language:
    """A pipeline, without what parsing doesn't need."""
    try:
        return spacy.load(name, exclude=UNUSED)
    except OSError as error:
        raise ValueError(Errors.R350.format(name=name)) from error


def parses(nlp: Language, texts: Sequence[str]) -> Iterable[Doc]:
    """The Docs, with a progress bar."""
    return progress(nlp.pipe(texts), "Parsing", len(texts))
