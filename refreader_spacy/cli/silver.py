"""`refreader silver`: a training corpus from unannotated biographies."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import DocBin

from refreader_spacy.cli.pipeline import progress
from refreader_spacy.corpora.biographies import (
    Silver,
    given_names,
    read_articles,
    silver_doc,
    silver_examples,
)
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write

LOOKED_AT = 3  # examples that are printed


def silver(
    articles: Annotated[
        Path, typer.Argument(help="Biographies: a line `= Name =`, then paragraphs.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .spacy file.")],
    limit: Annotated[int, typer.Option(help="How many examples to make.")] = 16000,
    seed: Annotated[int, typer.Option(help="Of all random choices.")] = 0,
) -> None:
    """Make coreference examples from biographies, whose titles name the main entity.

    The labels are noisy: train on them first, then on GAP.

    Example: refreader silver assets/wiki_bio/wiki_bio.txt.xz -o corpus/silver.spacy
    """
    if not articles.exists():
        raise ValueError(Errors.R013.format(path=articles))
    texts = list(read_articles(articles))
    if not texts:
        raise ValueError(Errors.R014.format(path=articles))
    random.Random(seed).shuffle(texts)
    nlp = spacy.blank("en")
    made = silver_examples(nlp, texts, given_names(texts), seed)
    examples = list(progress(islice(made, limit), "Examples", limit))
    docs = DocBin()
    for example in examples:
        docs.add(silver_doc(nlp, example))
    with atomic_write(output) as draft:
        docs.to_disk(draft)
    typer.echo(report(examples))
    typer.echo(f"written to {output}")


def report(examples: list[Silver]) -> str:
    """Counts by kind, and a few examples."""
    counts = Counter((example.kind, example.gender) for example in examples)
    lines = [f"{kind} {gender}: {n}" for (kind, gender), n in sorted(counts.items())]
    first = sum(example.person < example.other for example in examples)
    lines.append(f"person before other: {first} of {len(examples)}")
    return "\n".join([*lines, *(marked(e) for e in examples[:LOOKED_AT])])


def marked(example: Silver) -> str:
    """The text with its three mentions in brackets."""
    words = list(example.words)
    for name in ("pronoun", "person", "other"):
        start, end = getattr(example, name)
        words[start] = f"[{name}: {words[start]}"
        words[end - 1] += "]"
    return "- " + " ".join(words)
