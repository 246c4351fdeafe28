"""`refreader taught`: examples from biographies, labelled by a better reader."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc, DocBin

from refreader_spacy.assets import whole
from refreader_spacy.cli.pipeline import find_reader, load_pipeline, progress
from refreader_spacy.errors import Errors
from refreader_spacy.training.silver import given_names, read_articles
from refreader_spacy.training.taught import answered, questions

LOOKED_AT = 3  # examples that are printed


def taught(
    articles: Annotated[
        Path, typer.Argument(help="Biographies: a line `= Name =`, then paragraphs.")
    ],
    teacher: Annotated[Path, typer.Option(help="A pipeline that may look ahead.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .spacy file.")],
    add: Annotated[
        Path | None, typer.Option(help="A .spacy file to put the examples beside.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many examples to make.")] = 4000,
    seed: Annotated[int, typer.Option(help="Of all random choices.")] = 0,
) -> None:
    """Let a better reader say whom pronouns in biographies mean, as labels for another.

    Questions are like GAP's: a pronoun, and two names of its gender near it.

    Example: refreader taught assets/wiki_bio/wiki_bio.txt.xz
    --teacher training/teacher/ready -o corpus/taught.spacy
    """
    if not articles.exists():
        raise ValueError(Errors.R013.format(path=articles))
    texts = list(read_articles(articles))
    if not texts:
        raise ValueError(Errors.R014.format(path=articles))
    random.Random(seed).shuffle(texts)
    better = load_pipeline(str(teacher))
    reader = find_reader(better)
    reader.trace = True
    nlp = spacy.blank("en")
    asked = questions(nlp, texts, given_names(texts), seed)
    answers = answered(nlp, better, reader.threshold, asked)
    made = list(progress(islice(answers, limit), "Examples", limit))
    output.parent.mkdir(parents=True, exist_ok=True)
    with whole(output) as draft:
        docs = DocBin(docs=made)
        if add is not None:
            docs.merge(DocBin().from_disk(add))
        docs.to_disk(draft)
    typer.echo(report(made))
    typer.echo(f"written to {output}")


def report(docs: list[Doc]) -> str:
    """How many of what, and a few to look at."""
    counts = Counter(_answer(doc) for doc in docs)
    lines = [f"{answer}: {n}" for answer, n in counts.most_common()]
    return "\n".join([*lines, *(f"- {_marked(doc)}" for doc in docs[:LOOKED_AT])])


def _answer(doc: Doc) -> str:
    if "coref_clusters_3" in doc.spans:
        return "neither is meant"
    first = len(doc.spans["coref_clusters_1"]) > 1
    return "the first name is meant" if first else "the second name is meant"


def _marked(doc: Doc) -> str:
    """The text with its mentions in brackets, numbered by who they are."""
    words = [token.text for token in doc]
    for key, group in doc.spans.items():
        for span in group:
            words[span.start] = f"[{key[-1]}: {words[span.start]}"
            words[span.end - 1] += "]"
    return " ".join(words)
