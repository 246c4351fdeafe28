"""A part of a corpus: which documents, how much of each, and which mentions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from refreader_spacy.corpora.document import GoldDocument, pieces, without_longer
from refreader_spacy.corpora.ontonotes import mark_ontonotes


@dataclass(frozen=True)
class Selection:
    """What is taken of a corpus; by default all of it, as it is."""

    listed: frozenset[str] | None = None  # documents; None: all
    genres: frozenset[str] | None = None  # None: all
    without_genres: frozenset[str] = frozenset()
    longest: int | None = None  # mention, in tokens
    window: int | None = None  # tokens, at which documents are cut
    ontonotes: Path | None = None  # a folder: the same documents in OntoNotes' scheme

    def of(self, documents: Iterable[GoldDocument]) -> Iterator[GoldDocument]:
        """The documents that are taken, or pieces of them."""
        for document in documents:
            if not self._takes(document):
                continue
            if self.ontonotes:
                document = mark_ontonotes(document, self.ontonotes)
            if self.longest:
                document = without_longer(document, self.longest)
            yield from pieces(document, self.window) if self.window else [document]

    def _takes(self, document: GoldDocument) -> bool:
        return (
            (self.listed is None or document.id in self.listed)
            and (self.genres is None or document.genre in self.genres)
            and document.genre not in self.without_genres
        )


def listed_documents(path: Path) -> frozenset[str]:
    """The names in a list, a line each; `#` begins a comment."""
    lines = path.read_text("utf-8-sig").splitlines()
    names = (line.partition("#")[0].strip() for line in lines)
    return frozenset(name for name in names if name)
