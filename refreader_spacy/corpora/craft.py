"""Texts with mentions in characters, a line of JSON each, as we have CRAFT."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.lines import parsed_rows
from refreader_spacy.errors import Errors
from refreader_spacy.tokenization import tokenize


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
    doc = nlp(tokenize(nlp.make_doc, row["text"]))
    begins = True  # a paragraph, or a sentence before which white space stands
    for token in doc:
        document.add_word(token.text, bool(token.whitespace_))
        if token.is_space and token.i:
            begins |= token.is_sent_start or "\n" in token.text
        elif begins or token.is_sent_start:
            document.sentence_starts.append(token.i)
            begins = False
    document.genre = str(row.get("genre", ""))
    for number, cluster in enumerate(row["clusters"], start=1):
        for parts in cluster:
            edges = [(start, end) for start, end in parts]
            span = doc.char_span(*edges[0], alignment_mode="expand")
            if not span or edges[0][0] >= edges[0][1]:
                raise ValueError(
                    f"there is no text from {edges[0][0]} to {edges[0][1]}"
                )
            if len(edges) > 1:
                document.n_skipped += 1
            else:
                mention = GoldMention(span.start, span.end)
                document.add_mention(str(number), mention)
    return document
