"""What the memory is told of a word beside its vector: which it is, and of what kind.

Shapes: T tokens.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc, Span

from refreader_spacy.decoding.decoder import NAME, Gender
from refreader_spacy.lang.en.words import (
    GENDERS,
    GIVEN_HE,
    GIVEN_SHE,
    HYPHENS,
    word_kind,
    words,
)
from refreader_spacy.protocol import Array

N_ADDED = 2  # numbers behind a vector
WORD_BITS = 0xFFFFFF  # as many as a float32 holds of a word's number

# Kinds of words, as bits
IS_NAME, IS_PRONOUN, IS_JOINING, IS_HE, IS_SHE, IS_END = (1 << i for i in range(6))
JOINING = words("de van von der den la le di da du del bin ibn al el") | HYPHENS
ENDS = frozenset(".;!?")
NOBODY = words(
    "January February March April May June July August September October November "
    "December Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
)
N_KNOWN = 2**17  # words whose kinds are kept

_known: dict[int, int] = {}  # by spaCy's number of the word, which is its hash


def numbers_of(doc: Doc | Span) -> Array:
    """Each token's word, as a number that a float32 holds exactly, and kind (T, 2)."""
    orths = cast(Any, doc).to_array([ORTH]).ravel()
    strings = doc.vocab.strings
    kinds = []
    for number in orths.tolist():
        kind = _known.get(number)
        if kind is None:
            if len(_known) > N_KNOWN:
                _known.clear()
            kind = _known[number] = kind_of(strings[number])
        kinds.append(kind)
    numbers = np.empty((len(orths), N_ADDED), np.float32)
    numbers[:, 0] = orths & np.uint64(WORD_BITS)
    numbers[:, 1] = kinds
    return numbers


def kind_of(word: str) -> int:
    """What the memory has to know of a word, wherever it stands."""
    gender = GENDERS.get(word.lower())
    if gender in (Gender.HE, Gender.SHE):
        return IS_PRONOUN | (IS_HE if gender == Gender.HE else IS_SHE)
    if word in ENDS:
        return IS_END
    if word in JOINING:
        return IS_JOINING
    kind = word_kind(word)
    if not kind & NAME or word in NOBODY or len(word) == 1:
        return 0
    given = (kind & GIVEN_HE and IS_HE) | (kind & GIVEN_SHE and IS_SHE)
    return IS_NAME | int(given)
