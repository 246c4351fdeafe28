"""`refreader convert`: coreference corpora from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.language import Language

from refreader_spacy.cli.pipeline import find_reader, load_pipeline, progress
from refreader_spacy.corpora.formats import (
    Format,
    output_format,
    read_documents,
    write_documents,
)
from refreader_spacy.corpora.selection import Selection, listed_documents
from refreader_spacy.corpora.splits import Part, annotated_files, part_of
from refreader_spacy.training.singletons import with_singletons


def convert(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            help="Files, or folders of them: .conllu (CorefUD, GUM), .conll "
            "(CoNLL-2012), .jsonl (jsonlines, Prodigy's relations, or texts with "
            "mentions in characters), .tsv (GAP), .marked.txt (brackets in text), "
            ".spacy; also .xz, .gz and .bz2."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="A .spacy, .conllu, .conll, .jsonl or .prodigy.jsonl file.",
        ),
    ],
    format: Annotated[
        Format | None, typer.Option(help="The inputs', where names don't tell it.")
    ] = None,
    scheme: Annotated[
        str | None, typer.Option(help="What to call their way of annotation.")
    ] = None,
    part: Annotated[
        Part, typer.Option(help="Of the files, by name: 8 are train, 1 dev, 1 test.")
    ] = Part.ALL,
    documents: Annotated[
        Path | None,
        typer.Option(
            help="A list of documents, a line each: only these.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    genre: Annotated[
        list[str] | None,
        typer.Option(help="Only documents of this genre; may be repeated."),
    ] = None,
    without_genre: Annotated[
        list[str] | None,
        typer.Option(help="Leave out documents of this genre; may be repeated."),
    ] = None,
    ontonotes: Annotated[
        Path | None,
        typer.Option(
            help="A folder with the same documents in OntoNotes' scheme, such as "
            "OntoGUM's: mentions that are there too are marked.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(min=1, help="Cut documents into pieces of so many tokens."),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(min=1, help="Leave out mentions of more tokens than this."),
    ] = None,
    singletons: Annotated[
        str | None,
        typer.Option(
            help="A trained pipeline, or 'packaged': what it takes for mentions and is "
            "not annotated is added, each an entity of its own."
        ),
    ] = None,
    transformer: Annotated[
        str | None,
        typer.Option(help="The folder of the transformer below the package's weights."),
    ] = None,
) -> None:
    """Convert annotated texts between formats.

    In a .spacy file, each document is a gold Doc with a span group for each entity and
    the head of each mention. Where a format has no heads, rules for English find them.

    Example: refreader convert assets/litbank --part train -o corpus/litbank.spacy
    """
    output_format(output)  # or an error, before anything is read
    files = part_of(annotated_files(inputs, format), part)
    selection = Selection(
        listed=listed_documents(documents) if documents else None,
        genres=frozenset(genre) if genre else None,
        without_genres=frozenset(without_genre or ()),
        longest=longest,
        window=window,
        ontonotes=ontonotes,
    )
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    found = selection.of(
        document
        for file in progress(files, "Converting", len(files))
        for document in read_documents(file, nlp, format, scheme)
    )
    if singletons is not None:
        reader = find_singletons(singletons, transformer)
        found = (with_singletons(document, reader) for document in found)
    counts = write_documents(found, output, nlp.vocab)
    n = counts.documents
    typer.echo(f"{output}: {n} documents of {len(files)} files, {counts}")


def find_singletons(name: str, transformer: str | None) -> Language:
    """The pipeline, with all mentions that its reader sees."""
    nlp = load_pipeline(name, transformer=transformer)
    reader = find_reader(nlp)
    reader.keep_singletons, reader.scheme = True, "gum"
    return nlp
