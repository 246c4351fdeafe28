"""`refreader perplexity`: the perplexity of a text under a pipeline."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from refreader_spacy.cli.pipeline import find_reader, load_pipeline
from refreader_spacy.errors import Errors
from refreader_spacy.pretraining.surprisal import surprisals
from refreader_spacy.pretraining.texts import read_articles

MANY = 256  # articles that are in memory at the same time


def perplexity(
    text: Annotated[Path, typer.Argument(help="A .txt, .txt.xz, .jsonl or .spacy.")],
    model: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--model",
            help="A pipeline with an output layer, as `refreader pretrain` makes it.",
        ),
    ] = None,
) -> None:
    """Print the perplexity of a text, article by article.

    Words outside its vocabulary count as one word; perplexities can be compared only
    between pipelines with the same vocabulary.

    Example: refreader perplexity novel.txt -m training/lm/model-best
    """
    nlp = load_pipeline(model)
    reader = find_reader(nlp)
    articles = read_articles(text, nlp)
    n_articles = n_words = n_unknown = 0
    bits = 0.0
    while batch := list(islice(articles, MANY)):
        found, unknown = surprisals(reader.model, batch, reader.name)
        n_articles += len(batch)
        n_words += sum(map(len, found))
        n_unknown += unknown
        bits += sum(float(each.sum(dtype=float)) for each in found)
    if not n_words:
        raise ValueError(Errors.R332.format(path=text))
    per_word = bits / n_words
    typer.echo(f"perplexity  {2**per_word:.2f}")
    typer.echo(f"bits a word {per_word:.3f}")
    typer.echo(
        f"{n_words:,} words in {n_articles:,} articles, "
        f"{100 * n_unknown / n_words:.1f} % of them unknown"
    )
