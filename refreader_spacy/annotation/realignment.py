"""Clusters after retokenisation: spaCy leaves span groups with stale token offsets."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterable, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import srsly
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, SpanGroup

from refreader_spacy.errors import Warnings
from refreader_spacy.lang.en.pronouns import PRO_FORMS

# In the order of StoredSpan's fields
_stored = attrgetter("id", "kb_id", "label", "start", "end", "start_char", "end_char")

Edges = NDArray[np.int64]


class Place(NamedTuple):
    """The tokens that a span's characters are in now."""

    start: int
    end: int
    fits: bool  # do they begin and end where the span does?

    @property
    def tokens(self) -> tuple[int, int]:
        return self.start, self.end


class StoredSpan(NamedTuple):
    """What a span group has of a span, whose tokens may be gone."""

    id: int
    kb_id: int
    label: int
    start: int
    end: int
    start_char: int
    end_char: int


def stored_spans(group: SpanGroup) -> list[StoredSpan]:
    """The spans of a group as they are stored, with the characters they had.

    spaCy makes no Span where the Doc has fewer tokens now; only then is the group
    serialised, which costs a search through all installed packages each time.
    """
    try:
        return [StoredSpan(*_stored(span)) for span in group]
    except IndexError:
        saved = srsly.msgpack_loads(group.to_bytes())
        return [StoredSpan(*struct.unpack(">QQQllll", span)) for span in saved["spans"]]


def is_stale(doc: Doc, groups: Iterable[SpanGroup]) -> bool:
    """Do characters and tokens of some span disagree?"""
    starts, ends = token_edges(doc)
    return any(
        span.end > len(doc)
        or starts[span.start] != span.start_char
        or ends[span.end - 1] != span.end_char
        for span in chain.from_iterable(map(stored_spans, groups))
        if span.end > span.start
    )


def realign(
    doc: Doc, clusters: Iterable[str], pairs: str, others: Iterable[str]
) -> None:
    """Find the tokens of each span by its characters, which are still right.

    A mention that became a part of a token is kept if it ends where the token ends, as
    "Ahab" in "Captain Ahab", and if no other mention has that token; else it is dropped
    with a warning. What was kept of each token is gone.

    clusters (Iterable[str]): The keys of the clusters' groups.
    pairs (str): The key of the group with links as pairs of spans.
    others (Iterable[str]): The keys of groups whose spans are no mentions.
    """
    edges = token_edges(doc)
    text = doc.text
    places = {
        key: [place(span, text, *edges) for span in stored_spans(doc.spans[key])]
        for key in clusters
    }
    owners = token_owners(places)
    n_dropped = 0
    for key, found in places.items():
        kept: dict[int, int] = {}  # a span's number in the new group by the old one
        spans: dict[tuple[int, int], Span] = {}
        numbers: dict[tuple[int, int], int] = {}
        for i, (span, where) in enumerate(
            zip(stored_spans(doc.spans[key]), found, strict=True)
        ):
            if where is None or owners[where.tokens] != key:
                n_dropped += 1
                continue
            kept[i] = numbers.setdefault(where.tokens, len(numbers))
            spans.setdefault(where.tokens, moved(doc, span, where))
        if len(spans) < min(2, len(found)):
            del doc.spans[key]
            continue
        attrs = remaining_links(doc.spans[key].attrs, kept)
        doc.spans[key] = SpanGroup(
            doc, name=key, spans=list(spans.values()), attrs=attrs
        )
    for key in {*others} & {*doc.spans}:
        spans_there = [
            (span, place(span, text, *edges)) for span in stored_spans(doc.spans[key])
        ]
        doc.spans[key] = [
            moved(doc, span, where) for span, where in spans_there if where
        ]
    if pairs in doc.spans:
        spans_of_links = [
            (span, place(span, text, *edges)) for span in stored_spans(doc.spans[pairs])
        ]
        doc.spans[pairs] = [
            moved(doc, span, where)
            for pair in zip(spans_of_links[::2], spans_of_links[1::2], strict=False)
            if all(where for _, where in pair)
            for span, where in pair
            if where
        ]
    if n_dropped:
        warnings.warn(Warnings.R901.format(n_dropped=n_dropped), stacklevel=2)


def token_owners(
    places: Mapping[str, list[Place | None]],
) -> dict[tuple[int, int], str]:
    """The cluster that has each stretch of tokens: who fits it before who is inside."""
    owners: dict[tuple[int, int], str] = {}
    for fits in (True, False):
        for key, found in places.items():
            for where in found:
                if where is not None and where.fits == fits:
                    owners.setdefault(where.tokens, key)
    return owners


def moved(doc: Doc, span: StoredSpan, where: Place) -> Span:
    return Span(
        doc,
        where.start,
        where.end,
        label=span.label,
        kb_id=span.kb_id,
        span_id=span.id,
    )


def remaining_links(
    attrs: Mapping[str, Any], kept: Mapping[int, int]
) -> dict[str, list[list[Any]]]:
    """Links between mentions that are still there, and two."""
    if "links" not in attrs:
        return {}
    links = [
        [kept[antecedent], kept[anaphor], probability]
        for antecedent, anaphor, probability in attrs["links"]
        if antecedent in kept and anaphor in kept
    ]
    return {"links": [link for link in links if link[0] != link[1]]}


def token_edges(doc: Doc) -> tuple[Edges, Edges]:
    """The characters at which tokens begin and end."""
    values = doc.to_array(["IDX", "LENGTH"]).astype(np.int64).reshape(-1, 2)
    return values[:, 0], values.sum(axis=1)


def place(span: StoredSpan, text: str, starts: Edges, ends: Edges) -> Place | None:
    """Where a span is now, or None if it ends inside a token."""
    first = int(np.searchsorted(starts, span.start_char, side="right")) - 1
    last = int(np.searchsorted(ends, span.end_char))
    if last >= len(ends) or ends[last] != span.end_char:
        return None
    fits = bool(starts[first] == span.start_char)
    if not fits and text[span.start_char : span.end_char].lower() in PRO_FORMS:
        return None
    return Place(first, last + 1, fits)
