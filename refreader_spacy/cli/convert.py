"""`refreader convert`: coreference corpora as spaCy training files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import DocBin

from refreader_spacy.cli.pipeline import progress
from refreader_spacy.corpora.conll2012 import conll_doc, cut, read_conll
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write

SUFFIX = "conll"  # also .v4_gold_conll and the like


def convert(
    inputs: Annotated[
        list[Path], typer.Argument(help="CoNLL-2012 files, or folders of them.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .spacy file.")],
    window: Annotated[
        int | None,
        typer.Option(min=1, help="Cut documents into pieces of so many tokens."),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(min=1, help="Leave out mentions of more tokens than this."),
    ] = None,
    part: Annotated[
        str,
        typer.Option(help="Of the files, by name: all, or train, dev or test (8:1:1)."),
    ] = "all",
) -> None:
    """Turn coreference data in CoNLL-2012 columns into a corpus for `spacy train`.

    Each document, or part of one, becomes a gold Doc with a span group for each entity.
    Training compares all pairs of tokens of a Doc, so long ones should be cut: --window
    does it between sentences.

    Example: refreader convert litbank -o corpus/litbank.spacy --part train --window 150
    """
    files = chosen(found_files(inputs), part)
    if not files:
        raise ValueError(Errors.R358.format(part=part))
    nlp, docs = spacy.blank("en"), DocBin()
    n_documents = n_mentions = 0
    for file in progress(files, "Converting", len(files)):
        for document in read_conll(file):
            n_documents += 1
            for sentences in cut(document, window) if window else [document]:
                doc = conll_doc(nlp, sentences, longest)
                n_mentions += sum(len(group) for group in doc.spans.values())
                docs.add(doc)
    with atomic_write(output) as draft:
        docs.to_disk(draft)
    typer.echo(
        f"{n_documents} documents of {len(files)} files with {n_mentions} mentions: "
        f"{len(docs)} Docs in {output}"
    )


def found_files(inputs: list[Path]) -> list[Path]:
    """All files in order of their names, so that parts are the same everywhere."""
    files = []
    for path in inputs:
        if path.is_dir():
            files += [f for f in path.rglob("*") if f.name.endswith(SUFFIX)]
        elif path.is_file():
            files.append(path)
        else:
            raise ValueError(Errors.R357.format(path=path))
    if not files:
        raise ValueError(Errors.R356.format(paths=", ".join(map(str, inputs))))
    return sorted(files, key=lambda file: file.name)


def chosen(files: list[Path], part: str) -> list[Path]:
    """Of ten files, the first is for testing and the second for development."""
    names = {0: "test", 1: "dev"}
    if part not in {"all", "train", "dev", "test"}:
        raise typer.BadParameter("all, train, dev or test.", param_hint="--part")
    return [
        file
        for i, file in enumerate(files)
        if part in ("all", names.get(i % 10, "train"))
    ]
