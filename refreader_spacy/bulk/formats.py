"""Files that annotated Docs are written to, batch by batch.

A worker encodes the Docs of a batch; the process that writes a shard joins batches.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from spacy.lang.lex_attrs import LEX_ATTRS
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from refreader_spacy.annotation.record import record
from refreader_spacy.annotation.sentences import sentence_starts
from refreader_spacy.annotation.tables import (
    MentionRow,
    TokenRow,
    csv_line,
    csv_lines,
    mention_rows,
    token_rows,
)
from refreader_spacy.corpora.conll2012 import conll2012_lines, read_conll2012
from refreader_spacy.corpora.corefud import read_corefud
from refreader_spacy.corpora.corefud_writer import corefud_lines
from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.gold_docs import document_of
from refreader_spacy.errors import Errors


class AnnotatedDoc(NamedTuple):
    """A Doc and the id of its record."""

    id: Any
    doc: Doc


class Format(Protocol):
    """How Docs become a file."""

    suffix: str

    def encode(self, docs: list[AnnotatedDoc]) -> bytes:
        """Docs, as they are sent to where they are written."""

    def write(self, parts: Iterable[bytes], path: Path) -> None:
        """Write encoded Docs to a file."""

    def join(self, shards: Iterable[Path], path: Path) -> None:
        """One file of several."""


class JsonLines:
    """A record a line."""

    suffix = ".jsonl"

    def encode(self, docs: list[AnnotatedDoc]) -> bytes:
        return b"".join(json_line(record(id, doc)) for id, doc in docs)

    def write(self, parts: Iterable[bytes], path: Path) -> None:
        with path.open("wb") as file:
            file.writelines(parts)

    def join(self, shards: Iterable[Path], path: Path) -> None:
        with path.open("wb") as file:
            for shard in shards:
                with shard.open("rb") as part:
                    shutil.copyfileobj(part, file)


class DocBins:
    """spaCy's own. The id is in each Doc's user_data."""

    suffix = ".spacy"

    def encode(self, docs: list[AnnotatedDoc]) -> bytes:
        for id, doc in docs:
            doc.user_data["id"] = id
        docbin = DocBin(docs=[doc for _, doc in docs], store_user_data=True)
        return docbin.to_bytes()

    def write(self, parts: Iterable[bytes], path: Path) -> None:
        docbin = DocBin(store_user_data=True)
        for part in parts:
            docbin.merge(DocBin(store_user_data=True).from_bytes(part))
        docbin.to_disk(path)

    def join(self, shards: Iterable[Path], path: Path) -> None:
        self.write((shard.read_bytes() for shard in shards), path)


class Parquet:
    """A row a record, with clusters and links nested in it."""

    suffix = ".parquet"

    def __init__(self) -> None:
        if not find_spec("pyarrow"):
            raise ValueError(
                Errors.R242.format(
                    suffix=self.suffix, library="pyarrow", extra="parquet"
                )
            )

    def encode(self, docs: list[AnnotatedDoc]) -> bytes:
        from refreader_spacy.bulk.parquet import encode_rows

        return encode_rows(record(id_text(id), doc) for id, doc in docs)

    def write(self, parts: Iterable[bytes], path: Path) -> None:
        from refreader_spacy.bulk.parquet import write_rows

        write_rows(parts, path)

    def join(self, shards: Iterable[Path], path: Path) -> None:
        from refreader_spacy.bulk.parquet import join_files

        join_files(shards, path)


class _Csv:
    """A table with a head."""

    suffix = ".csv"
    row: type[NamedTuple]

    def rows(self, doc: Doc, id: str) -> Iterable[NamedTuple]:
        raise NotImplementedError

    def encode(self, docs: list[AnnotatedDoc]) -> bytes:
        rows = (row for id, doc in docs for row in self.rows(doc, id_text(id)))
        return "".join(csv_lines(rows, header=False)).encode("utf8")

    def write(self, parts: Iterable[bytes], path: Path) -> None:
        with path.open("wb") as file:
            file.write(csv_line(self.row._fields).encode())
            file.writelines(parts)

    def join(self, shards: Iterable[Path], path: Path) -> None:
        with path.open("wb") as file:
            file.write(csv_line(self.row._fields).encode())
            for shard in shards:
                with shard.open("rb") as part:
                    part.readline()
                    shutil.copyfileobj(part, file)


class MentionsCsv(_Csv):
    """A row a mention."""

    row = MentionRow

    def rows(self, doc: Doc, id: str) -> Iterable[NamedTuple]:
        return mention_rows(doc, id)


class TokensCsv(_Csv):
    """A row a token."""

    row = TokenRow

    def rows(self, doc: Doc, id: str) -> Iterable[NamedTuple]:
        return token_rows(doc, id)


class _Corpus:
    """A format of annotated corpora, which has no place for probabilities.

    It is written where all Docs of a file come together: entities are numbered there.
    """

    suffix: str
    lines: Callable[[Iterable[GoldDocument]], Iterator[str]]
    read: Callable[[Path], Iterator[GoldDocument]]

    def encode(self, docs: list[AnnotatedDoc]) -> bytes:
        return DocBins().encode(docs)

    def write(self, parts: Iterable[bytes], path: Path) -> None:
        bins = (DocBin(store_user_data=True).from_bytes(part) for part in parts)
        getters = LEX_ATTRS  # to know marks and white space
        docs = (d for b in bins for d in b.get_docs(Vocab(lex_attr_getters=getters)))
        self._write(map(annotated_document, docs), path)

    def join(self, shards: Iterable[Path], path: Path) -> None:
        read = type(self).read
        self._write((document for shard in shards for document in read(shard)), path)

    def _write(self, documents: Iterable[GoldDocument], path: Path) -> None:
        with path.open("w", encoding="utf8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in type(self).lines(documents))


class Conll2012(_Corpus):
    """A line a token, clusters in the last column."""

    suffix = ".conll"
    lines = staticmethod(conll2012_lines)
    read = staticmethod(read_conll2012)


class CorefUd(_Corpus):
    """CoNLL-U, with entities as CorefUD has them."""

    suffix = ".conllu"
    lines = staticmethod(corefud_lines)
    read = staticmethod(read_corefud)


def annotated_document(doc: Doc) -> GoldDocument:
    """What was found in a Doc; its sentences by rule, where nothing told them."""
    document = document_of(doc)
    document.id = id_text(doc.user_data["id"])
    document.sentence_starts = sentence_starts(doc)
    return document


def id_text(id: Any) -> str:
    """An id where all are of one type: those that are no strings are JSON."""
    return id if isinstance(id, str) else json.dumps(id, ensure_ascii=False)


def json_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf8") + b"\n"


FORMATS: dict[str, type[Format]] = {
    "jsonl": JsonLines,
    "spacy": DocBins,
    "parquet": Parquet,
    "conll2012": Conll2012,
    "corefud": CorefUd,
    "mentions": MentionsCsv,
    "tokens": TokensCsv,
}
