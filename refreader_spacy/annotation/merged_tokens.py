"""Docs whose tokens were merged before they were read.

A reader knows words: to it, "Anna Smith" as one token is a word that it never saw. So a
Doc with such tokens is read as the words that the tokenizer gives, and what was found
is moved to the Doc's own tokens.

Shapes: T tokens of a Doc, W words, M memory cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc, Span, SpanGroup, Token

from refreader_spacy.annotation.index import LINKS, OTHERS, READ, cluster_keys
from refreader_spacy.annotation.realignment import (
    Edges,
    StoredSpan,
    realign,
    stored_spans,
    token_edges,
)
from refreader_spacy.corpora.span_groups import SPEAKER_LABELS, SPEAKERS
from refreader_spacy.protocol import BLOCK, Reading
from refreader_spacy.tokenization import tokenize

Tokenizer = Callable[[str], Doc]
# Entities such as "Okafor-Lindqvist" are merged too
HYPHENATED = re.compile(r"\w-\w")


def has_merged_tokens(doc: Doc) -> bool:
    """Are there tokens of several words?"""
    strings = doc.vocab.strings
    orths = doc.to_array([ORTH])  # (T,)
    different: set[int] = set()
    for start in range(0, len(orths), BLOCK):  # a novel's would take 10 MB as objects
        different.update(orths[start : start + BLOCK].tolist())
    return any(len(strings[orth].split()) > 1 for orth in different)


def in_words(doc: Doc, tokenizer: Tokenizer) -> Doc:
    """The Doc with merged tokens as words, or itself if it has none.

    Named entities and speakers are kept: that is what readers look at.
    """
    if not has_merged_tokens(doc):
        return doc
    pieces = [words_of(token, tokenizer) for token in doc]
    words = [word for piece in pieces for word, _ in piece]
    spaces = [space for piece in pieces for _, space in piece]
    split = Doc(doc.vocab, words=words, spaces=spaces)
    edges = token_edges(split)
    split.ents = [moved_span(split, ent, edges) for ent in doc.ents]
    for key in {SPEAKERS, SPEAKER_LABELS} & {*doc.spans}:
        spans = stored_spans(doc.spans[key])
        split.spans[key] = [moved_span(split, span, edges) for span in spans]
    return split


def words_of(token: Token, tokenizer: Tokenizer) -> list[tuple[str, bool]]:
    """The words of a token, and whether a space follows each."""
    last = bool(token.whitespace_)
    if len(token.text.split()) < 2 and not HYPHENATED.search(token.text):
        return [(token.text, last)]
    words = list(tokenize(tokenizer, token.text))
    spaces = [*(bool(word.whitespace_) for word in words[:-1]), last]
    return [(word.text, space) for word, space in zip(words, spaces, strict=True)]


def moved_span(doc: Doc, span: Span | StoredSpan, edges: tuple[Edges, Edges]) -> Span:
    """The same characters of another Doc with the same text."""
    starts, ends = edges
    start = int(np.searchsorted(starts, span.start_char))
    end = int(np.searchsorted(ends, span.end_char)) + 1
    return Span(doc, start, end, label=span.label, kb_id=span.kb_id, span_id=span.id)


def move_clusters(split: Doc, doc: Doc, prefix: str) -> None:
    """Write the clusters of a Doc in words to the one with merged tokens.

    Mentions that are parts of tokens are dropped with a warning, as they are when
    tokens are merged afterwards.
    """
    for key in [*cluster_keys(doc, {prefix}), *({LINKS} & {*doc.spans})]:
        del doc.spans[key]
    keys = cluster_keys(split, {prefix})
    for key in [*keys, *({LINKS, READ} & {*split.spans})]:
        doc.spans[key] = SpanGroup(doc, name=key).from_bytes(
            split.spans[key].to_bytes()
        )
    realign(doc, keys, pairs=LINKS, others=OTHERS)


def merged_reading(reading: Reading, split: Doc, doc: Doc) -> Reading:
    """Gates of words (W, M) as gates of merged tokens (T, M): the strongest, and
    saliences after the last word."""
    first = np.searchsorted(token_edges(split)[0], token_edges(doc)[0])  # (T,)
    last = np.append(first[1:], len(split)) - 1  # (T,)
    return Reading(
        update=np.maximum.reduceat(reading.update, first),
        overwrite=np.maximum.reduceat(reading.overwrite, first),
        salience=reading.salience[last],
    )
