"""What stands on a Doc already, as the reader reads it: speakers and named entities.

Shapes: T tokens.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_TYPE
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from refreader_spacy.corpora.span_groups import SPEAKER_LABELS, SPEAKERS
from refreader_spacy.lang.en.lexemes import name_hash

# Types of named entities that are never somebody, in the words of spaCy's pipelines
# and in this package's own
THINGS = (
    *("ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW"),
    *("LANGUAGE", "DATE", "TIME", "MONEY", "PERCENT", "QUANTITY"),
    *("organization", "place", "object", "event", "time", "abstract"),
)
THING_IDS = np.array([get_string_id(label) for label in THINGS], np.uint64)


def speaker_hashes(part: Doc | Span) -> list[int] | None:
    """Who says each token, by the span group `speakers` of the Doc, if it has one."""
    doc, first = _place(part)
    if SPEAKERS not in doc.spans:
        return None
    speakers = [0] * len(part)
    for span in doc.spans[SPEAKERS]:
        start, end = max(span.start - first, 0), min(span.end - first, len(part))
        if start < end:
            speakers[start:end] = [name_hash(span.label_)] * (end - start)
    return speakers


def label_tokens(part: Doc | Span) -> NDArray[np.int64]:
    """The tokens that only say who speaks, and are no part of what is said."""
    doc, first = _place(part)
    last = first + len(part)
    tokens = [
        token - first
        for span in doc.spans.get(SPEAKER_LABELS, ())
        for token in range(max(span.start, first), min(span.end, last))
    ]
    return np.array(tokens, np.int64)


def thing_tokens(part: Doc | Span) -> NDArray[np.bool_]:
    """Which tokens are of named entities that are nobody: organisations, ... (T,)."""
    types = cast(Any, part).to_array([ENT_TYPE]).ravel()
    return np.isin(types, THING_IDS) if types.any() else np.zeros(len(part), bool)


def _place(part: Doc | Span) -> tuple[Doc, int]:
    return (part.doc, part.start) if isinstance(part, Span) else (part, 0)
