"""Which formats annotated texts come in, and who reads and writes each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path

from spacy.language import Language
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from refreader_spacy.corpora.conll2012 import conll2012_lines, read_conll2012
from refreader_spacy.corpora.corefud import read_corefud
from refreader_spacy.corpora.corefud_writer import corefud_lines
from refreader_spacy.corpora.craft import read_craft
from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples
from refreader_spacy.corpora.gold_docs import MentionCounts, document_of, gold_doc
from refreader_spacy.corpora.jsonlines import jsonlines_lines, read_jsonlines
from refreader_spacy.corpora.lines import OPENERS, numbered_lines
from refreader_spacy.corpora.marked_text import read_marked
from refreader_spacy.corpora.prodigy import prodigy_lines, read_prodigy
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write


class Format(str, Enum):
    """A format, by the name that a command line gives it."""

    CONLL2012 = "conll2012"
    COREFUD = "corefud"
    CRAFT = "craft"
    GAP = "gap"
    JSONLINES = "jsonlines"
    MARKED = "marked"
    PRODIGY = "prodigy"
    SPACY = "spacy"


ENDINGS = {  # of file names; .v4_gold_conll ends in conll
    "conllu": Format.COREFUD,
    "conll": Format.CONLL2012,
    ".prodigy.jsonl": Format.PRODIGY,
    ".jsonlines": Format.JSONLINES,
    ".jsonl": Format.JSONLINES,
    ".spacy": Format.SPACY,
    ".tsv": Format.GAP,
    ".marked.txt": Format.MARKED,
}
WRITERS: dict[Format, Callable[[Iterable[GoldDocument]], Iterator[str]]] = {
    Format.CONLL2012: conll2012_lines,
    Format.COREFUD: corefud_lines,
    Format.JSONLINES: jsonlines_lines,
    Format.PRODIGY: prodigy_lines,
}


def format_by_name(path: Path) -> Format | None:
    """The format that a file's name tells, compressed or not."""
    name = path.name.lower()
    for ending in OPENERS:
        name = name.removesuffix(ending)
    return next((ENDINGS[end] for end in ENDINGS if name.endswith(end)), None)


def format_of(path: Path) -> Format:
    """The format of a file to read. JSON may be of three: its first line tells."""
    found = format_by_name(path)
    if found is None:
        known = ", ".join(ENDINGS)
        raise ValueError(Errors.R412.format(path=path, known=known))
    return _of_json(path) if found is Format.JSONLINES else found


def _of_json(path: Path) -> Format:
    """By the first line; what is wrong with that, its reader says."""
    first = next((line for _, line in numbered_lines(path)), "")
    try:
        row = json.loads(first)
        if "tokens" in row:
            return Format.PRODIGY
        return Format.CRAFT if "text" in row else Format.JSONLINES
    except (ValueError, TypeError, RecursionError):
        return Format.JSONLINES


def output_format(path: Path) -> Format:
    """The format that a file is written in, by its name."""
    found = format_by_name(path)
    if path.suffix in OPENERS or found not in (Format.SPACY, *WRITERS):
        known = ".spacy, .conllu, .conll, .jsonl, .prodigy.jsonl"
        raise ValueError(Errors.R227.format(path=path, known=known))
    return found


def read_documents(
    path: Path, nlp: Language, format: Format | None = None, scheme: str | None = None
) -> Iterator[GoldDocument]:
    """The annotated texts of a file, one after the other.

    nlp (Language): Tokenises and splits what isn't, and has the vocab for Docs.
    format (Format | None): As the file's name and first line tell, if not given.
    scheme (str | None): What to call the way it was annotated; else the format's name.
    """
    format = format or format_of(path)
    named = {"scheme": scheme} if scheme else {}
    if format is Format.SPACY:
        try:
            docs = DocBin().from_disk(path)
        except Exception as error:  # whatever msgpack and zlib make of other bytes
            raise ValueError(Errors.R413.format(path=path)) from error
        return map(document_of, docs.get_docs(nlp.vocab))
    if format is Format.GAP:
        examples = gap_examples(read_gap(path), nlp)
        return (document_of(example.reference) for example in examples)
    if format is Format.PRODIGY:
        return read_prodigy(path, **named)
    if format is Format.MARKED:
        return read_marked(path, nlp, **named)
    if format is Format.CRAFT:
        return read_craft(path, nlp, **named)
    if format is Format.JSONLINES:
        return read_jsonlines(path, **named)
    if format is Format.COREFUD:
        return read_corefud(path, **named)
    return read_conll2012(path, **named)


def write_documents(
    documents: Iterable[GoldDocument], path: Path, vocab: Vocab
) -> MentionCounts:
    """Write the file, and say what became of the mentions; no document is an error."""
    counts = MentionCounts()
    format = output_format(path)
    with atomic_write(path) as draft:
        if format is Format.SPACY:
            docs = (gold_doc(document, vocab, counts=counts) for document in documents)
            DocBin(docs=docs).to_disk(draft)
        else:
            with draft.open("w", encoding="utf8", newline="\n") as file:
                for line in WRITERS[format](counts.of(documents)):
                    file.write(f"{line}\n")
        if not counts.documents:
            raise ValueError(Errors.R417.format(path=path))
    return counts
