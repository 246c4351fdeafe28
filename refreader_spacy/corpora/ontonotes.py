"""Which mentions OntoNotes' scheme has too, by the same text annotated that way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from refreader_spacy.corpora.corefud import read_corefud
from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.errors import Errors


def mark_ontonotes(document: GoldDocument, folder: Path) -> GoldDocument:
    """The document with its mentions marked, if the folder or one in it has it too.

    folder (Path): Has files named by document, such as OntoGUM's.
    """
    for path in sorted(folder.rglob(f"{document.id}.conllu")):
        for other in read_corefud(path):
            _check_words(document, other, path)
            spans = other.mention_spans()
            marked = {
                entity: [m._replace(in_ontonotes=m[:2] in spans) for m in mentions]
                for entity, mentions in document.entities.items()
            }
            return replace(document, entities=marked)
    return document


def _check_words(document: GoldDocument, other: GoldDocument, path: Path) -> None:
    expected, found = document.words, other.words
    if expected != found:
        same = zip(expected, found, strict=False)
        first = next((i for i, (a, b) in enumerate(same) if a != b), None)
        number = min(len(expected), len(found)) if first is None else first
        raise ValueError(
            Errors.R416.format(
                id=document.id,
                path=path,
                number=number + 1,
                expected=" ".join(expected[number : number + 3]),
                found=" ".join(found[number : number + 3]),
            )
        )
