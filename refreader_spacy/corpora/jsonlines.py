"""The "jsonlines" of coreference systems, a document a line: read and written.

`sentences` are lists of words, `clusters` lists of mentions as first and last token
(inclusive, counted through the document), `speakers` one for each word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.lines import parsed_rows
from refreader_spacy.errors import Errors
from refreader_spacy.lang.en.spacing import guessed_spaces

NOBODY = frozenset(("", "-", "_"))


def read_jsonlines(path: Path, scheme: str = "jsonlines") -> Iterator[GoldDocument]:
    """The documents. They don't say where spaces are, so those are guessed."""

    def parse(number: int, row: Any) -> GoldDocument:
        id = str(row.get("doc_key", f"{path.stem}_{number}"))
        return _document(GoldDocument(id, scheme), row)

    return parsed_rows(path, parse, Errors.R411)


def _document(document: GoldDocument, row: dict[str, Any]) -> GoldDocument:
    sentences: list[list[str]] = row["sentences"]
    if not isinstance(sentences, list):
        raise TypeError("sentences should be a list")
    for sentence in sentences:
        document.sentence_starts.append(len(document.words))
        if not isinstance(sentence, list) or not all(
            isinstance(word, str) and word for word in sentence
        ):
            raise TypeError("a sentence should be a list of words")
        document.words += sentence
    document.genre = str(row.get("genre", ""))
    document.spaces = guessed_spaces(document.words)
    for number, cluster in enumerate(row["clusters"], start=1):
        for first, last in cluster:
            if not (isinstance(first, int) and isinstance(last, int)):
                raise TypeError("a mention should be two whole numbers")
            if not 0 <= first <= last < len(document.words):
                raise ValueError(f"there are no tokens from {first} to {last}")
            document.add_mention(str(number), GoldMention(first, last + 1))
    speakers = [*chain.from_iterable(row.get("speakers") or [])]
    if speakers and len(speakers) != len(document.words):
        raise ValueError(f"{len(speakers)} speakers of {len(document.words)} words")
    for i, speaker in enumerate(speakers):
        document.add_turn(i, i + 1, "" if speaker in NOBODY else str(speaker))
    return document


def jsonlines_lines(documents: Iterable[GoldDocument]) -> Iterator[str]:
    """The documents, singletons included."""
    for document in documents:
        speakers = [""] * len(document.words)
        for start, end, speaker in document.turns:
            speakers[start:end] = [speaker] * (end - start)
        sentences = list(document.sentences())
        row = {
            "doc_key": document.id,
            "genre": document.genre,
            "sentences": [document.words[start:end] for start, end in sentences],
            "speakers": [speakers[start:end] for start, end in sentences],
            "clusters": [
                [[m.start, m.end - 1] for m in mentions]
                for mentions in document.entities.values()
            ],
        }
        yield json.dumps(row, ensure_ascii=False)
