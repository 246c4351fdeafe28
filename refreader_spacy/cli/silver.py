"""`refreader silver`: a training corpus from biographies that nobody annotated."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc, DocBin, SpanGroup

from refreader_spacy.assets import whole
from refreader_spacy.cli.pipeline import find_reader, load_pipeline, progress
from refreader_spacy.errors import Errors
from refreader_spacy.training.gold import UNSURE
from refreader_spacy.training.silver import (
    Silver,
    given_names,
    read_articles,
    silver_doc,
    silver_examples,
)
from refreader_spacy.training.taught import taught, windows_with_people

LOOKED_AT = 3  # examples that are printed


def silver(
    articles: Annotated[
        Path, typer.Argument(help="Biographies: a line `= Name =`, then paragraphs.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .spacy file.")],
    limit: Annotated[int, typer.Option(help="How many examples to make.")] = 16000,
    seed: Annotated[int, typer.Option(help="Of all random choices.")] = 0,
    teacher: Annotated[
        str | None,
        typer.Option(help="A better pipeline, such as one on a transformer."),
    ] = None,
) -> None:
    """Make coreference examples from biographies, where each says whom it is about.

    They are good to start from, not to end with: train on them first, then on GAP. With
    a teacher, pronouns mean whom the teacher says.

    Example: refreader silver assets/wiki_bio/wiki_bio.txt.xz -o corpus/silver.spacy
    """
    if not articles.exists():
        raise ValueError(Errors.R013.format(path=articles))
    texts = list(read_articles(articles))
    if not texts:
        raise ValueError(Errors.R014.format(path=articles))
    random.Random(seed).shuffle(texts)
    nlp = spacy.blank("en")
    given = given_names(texts)
    if teacher is None:
        made = islice(silver_examples(nlp, texts, given, seed), limit)
        examples = list(progress(made, "Examples", limit))
        docs = [silver_doc(nlp, example) for example in examples]
        told = report(examples)
    else:
        windows = islice(windows_with_people(nlp, texts, given, seed), limit)
        pipeline = load_pipeline(teacher)
        reader = find_reader(pipeline)
        reader.trace = True
        lessons = taught(nlp, pipeline, reader.threshold, windows)
        docs = list(progress(lessons, "Examples", limit))
        told = report_taught(docs)
    with whole(output) as draft:
        DocBin(docs=docs).to_disk(draft)
    typer.echo(told)
    typer.echo(f"written to {output}")


def report_taught(docs: list[Doc]) -> str:
    """How much the teacher knew, and a few to look at."""
    sizes = [len(group) for doc in docs for group in clusters_of(doc)]
    lines = [f"{len(sizes)} people in {len(docs)} texts, {sum(sizes)} mentions"]
    for doc in docs[:LOOKED_AT]:
        clusters = [
            "; ".join(span.text for span in group) for group in clusters_of(doc)
        ]
        lines.append("\n  ".join([f"- {doc.text}", *clusters]))
    return "\n".join(lines)


def clusters_of(doc: Doc) -> list[SpanGroup]:
    return [doc.spans[key] for key in doc.spans if key != UNSURE]


def report(examples: list[Silver]) -> str:
    """How many of what, and a few to look at."""
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
