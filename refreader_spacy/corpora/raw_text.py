"""Texts that are not tokenised yet, with mentions in characters."""

from __future__ import annotations

from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.tokenization import tokenize


def add_text(document: GoldDocument, nlp: Language, text: str) -> Doc:
    """Give a document the words of a text, as the pipeline tokenises it.

    A sentencizer in it gives sentences; a line break ends one too.
    """
    doc = nlp(tokenize(nlp.make_doc, text))
    begins = True  # a paragraph, or a sentence before which white space stands
    for token in doc:
        document.add_word(token.text, bool(token.whitespace_))
        if token.is_space and token.i:
            begins |= token.is_sent_start or "\n" in token.text
        elif begins or token.is_sent_start:
            document.sentence_starts.append(token.i)
            begins = False
    return doc


def mention_at(doc: Doc, start: int, end: int, label: str = "") -> GoldMention:
    """The mention from one character to another, widened to whole tokens."""
    span = doc.char_span(start, end, alignment_mode="expand")
    if not span or start >= end:
        raise ValueError(f"there is no text from {start} to {end}")
    return GoldMention(span.start, span.end, label=label)
