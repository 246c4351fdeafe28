"""`refreader taught`: examples from biographies, labelled by a better reader."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated
from zlib import crc32

import numpy as np
import spacy
import typer
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from refreader_spacy.cli.pipeline import find_reader, load_pipeline, progress
from refreader_spacy.cli.seeds import is_newer
from refreader_spacy.corpora.biographies import given_names, read_articles
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.names.says import LATEST_NAME
from refreader_spacy.training.lesson import decisions_of
from refreader_spacy.training.shares import read_shares
from refreader_spacy.training.taught import teach, windows

LOOKED_AT = 3  # examples that are printed
PART = 256  # examples that are kept as soon as they are made
SURE = 0.9  # from this share on a choice counts as sure


def taught(
    articles: Annotated[
        Path, typer.Argument(help="Biographies: a line `= Name =`, then paragraphs.")
    ],
    teacher: Annotated[Path, typer.Option(help="A pipeline that may look ahead.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .spacy file.")],
    add: Annotated[
        Path | None,
        typer.Option(help="A .spacy file to put the examples beside, taught as well."),
    ] = None,
    limit: Annotated[int, typer.Option(help="How many examples to make.")] = 12000,
    seed: Annotated[int, typer.Option(help="Of all random choices.")] = 0,
) -> None:
    """Let a better reader say whom pronouns in biographies mean, as labels for another.

    The texts are like GAP's: a few sentences with a pronoun and two names of its gender
    near it. The teacher is a reader of names on a transformer; of each pronoun it says
    how probably it means whom, and that is what is kept. Gold clusters of the examples
    that they are put beside stay as they are, and count more than the teacher's word.
    A run that was interrupted goes on where it was.

    Example: refreader taught assets/wiki_bio/wiki_bio.txt.xz
    --teacher training/teacher/model-best -o corpus/taught.spacy
    """
    if not articles.exists():
        raise ValueError(Errors.R013.format(path=articles))
    texts = list(read_articles(articles))
    if not texts:
        raise ValueError(Errors.R014.format(path=articles))
    random.Random(seed).shuffle(texts)
    better = load_pipeline(str(teacher))
    reader = find_reader(better)
    if reader.model.layers[-1].name != "name_reader":
        raise ValueError(Errors.R317.format(path=teacher))
    reader.trace = True
    nlp = spacy.blank("en")
    found = islice(windows(nlp, texts, given_names(texts), seed), limit)
    given = DocBin().from_disk(add).get_docs(nlp.vocab) if add else iter([])
    who = crc32(repr(better.meta).encode())  # with its scores, which others hardly have
    parts = output.parent / f"{output.stem}-parts"

    def labelled(docs: Iterator[Doc], what: str) -> Iterator[Doc]:
        chunks = iter(lambda: list(islice(docs, PART)), [])
        for number, some in enumerate(chunks):
            part = parts / f"{what}-{who:x}-{seed}-{number}-{len(some)}.spacy"
            if not is_newer(part, [articles]):
                with atomic_write(part) as draft:
                    DocBin(docs=teach(better, some)).to_disk(draft)
            yield from DocBin().from_disk(part).get_docs(nlp.vocab)

    made = list(progress(labelled(found, "windows"), "Examples", limit))
    beside = list(labelled(given, "beside"))
    with atomic_write(output) as draft:
        DocBin(docs=[*made, *beside]).to_disk(draft)
    shutil.rmtree(parts, ignore_errors=True)
    typer.echo(report(made))
    typer.echo(f"written to {output}")


def report(docs: list[Doc]) -> str:
    """How many of what, and a few to look at."""
    counts: Counter[str] = Counter(texts=len(docs))
    for doc in docs:
        shares = np.array(list(read_shares(Example(doc, doc)).values()))  # (E, M + 1)
        counts["choices"] += len(shares)
        if len(shares):
            counts["sure"] += int((shares.max(axis=1) >= SURE).sum())
            counts["somebody new"] += int(
                (shares.argmax(axis=1) + 1 == shares.shape[1]).sum()
            )
    lines = [f"{what}: {n}" for what, n in counts.items()]
    return "\n".join([*lines, *(f"- {_marked(doc)}" for doc in docs[:LOOKED_AT])])


def _marked(doc: Doc) -> str:
    """The text, and in brackets behind a pronoun whom it is said to mean."""
    words = [token.text for token in doc]
    example = Example(doc, doc)
    for share in islice(read_shares(example).values(), 1):
        for made in decisions_of(example, "coref_clusters", len(share) - 1):
            best = int(made.share.argmax())
            named = made.marks[best, LATEST_NAME] if best < len(made.marks) else -1
            who = doc[int(named)].text if named >= 0 else "somebody new"
            words[made.token] += f" [{who}: {made.share.max():.2f}]"
    return " ".join(words)
