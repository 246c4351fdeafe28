"""Texts with mentions in characters, a line of JSON each.

As we have CRAFT, [[start, end], ...] with the parts of a mention; or as `refreader
annotate` writes them, [start, end, text].
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language

from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.lines import parsed_rows
from refreader_spacy.corpora.raw_text import add_text, mention_at
from refreader_spacy.errors import Errors


def read_craft(
    path: Path, nlp: Language, scheme: str = "craft"
) -> Iterator[GoldDocument]:
    """The documents, tokenised by the pipeline; a sentencizer in it gives sentences.

    A line break ends one too. Mentions are widened to whole tokens; `n_skipped` counts
    those of several parts.
    """

    def parse(number: int, row: Any) -> GoldDocument:
        id = str(row.get("id", f"{path.stem}_{number}"))
        return _document(nlp, GoldDocument(id, scheme), row)

    return parsed_rows(path, parse, Errors.R410)


def _document(
    nlp: Language, document: GoldDocument, row: dict[str, Any]
) -> GoldDocument:
    doc = add_text(document, nlp, row["text"])
    document.genre = str(row.get("genre", ""))
    for number, cluster in enumerate(row["clusters"], start=1):
        for mention in cluster:
            is_whole = isinstance(mention[0], int)
            parts = [mention[:2]] if is_whole else mention
            edges = [(start, end) for start, end in parts]
            found = mention_at(doc, *edges[0])
            if len(edges) > 1:
                document.n_skipped += 1
            else:
                document.add_mention(str(number), found)
    return document
