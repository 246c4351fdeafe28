"""Texts in chunks of whole sentences, with pronouns resolved, for a search index.

    python examples/chunk_and_resolve.py texts/*.txt > chunks.jsonl

A line has the chunk as it is to be indexed, and the characters of the original text
that it comes from.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import spacy
from spacy.tokens import Doc, Span

WORDS = 100  # of a chunk; a longer sentence is a chunk by itself


def chunks(doc: Doc, words: int = WORDS) -> Iterator[Span]:
    """Neighbouring sentences, as many as fit."""
    start = 0
    for sentence in doc.sents:
        if sentence.end - start > words and sentence.start > start:
            yield doc[start : sentence.start]
            start = sentence.start
    if start < len(doc):
        yield doc[start:]


def main(paths: list[str]) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("refreader")
    for path in paths:
        doc = nlp(Path(path).read_text("utf8"))
        for chunk in chunks(doc):
            record = {
                "source": path,
                "start": chunk.start_char,
                "end": chunk.end_char,
                "text": chunk._.resolved_text,
            }
            print(json.dumps(record, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
