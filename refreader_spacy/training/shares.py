"""What a teacher said of a Doc's pronouns, as it is kept on the Doc.

Shapes: T tokens, E pronouns, M memory cells.
"""

from __future__ import annotations

import base64

import numpy as np
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example

from refreader_spacy.corpora.biographies import PRONOUNS
from refreader_spacy.names.memory import Numbers
from refreader_spacy.protocol import Reading
from refreader_spacy.training.gold import TAUGHT

GENDER_OF = {form: g for g, forms in PRONOUNS.items() for form in forms.values()}


def write_shares(doc: Doc, reading: Reading) -> None:
    """Keep what a reader of names chose, and how surely, on a Doc."""
    either = reading.update + reading.overwrite  # (T, M)
    unsure = ((either > 0) & (either < 1)).any(axis=1)
    pronoun = np.array([token.lower_ in GENDER_OF for token in doc], dtype=bool)
    tokens = np.flatnonzero(either.any(axis=1) & (unsure | pronoun))
    new = reading.overwrite[tokens].sum(axis=1, keepdims=True)
    shares = np.concatenate([reading.update[tokens], new], axis=1)  # (E, M + 1)
    doc.spans[TAUGHT] = SpanGroup(
        doc,
        name=TAUGHT,
        spans=[doc[i : i + 1] for i in tokens.tolist()],
        attrs={"shares": base64.b64encode(shares.astype("<f2").tobytes()).decode()},
    )


def read_shares(example: Example) -> dict[int, Numbers]:
    """What a teacher said of an example's tokens, by their place: for each cell, and
    last, for somebody new (M + 1,). Empty if there was no teacher.
    """
    taught = example.reference.spans.get(TAUGHT)
    if not taught:
        return {}
    kept = np.frombuffer(base64.b64decode(taught.attrs["shares"]), dtype="<f2")
    shares = kept.reshape(len(taught), -1).astype(np.float64)
    places = [example.alignment.y2x[span.start : span.end] for span in taught]
    return {
        int(place[-1]): share
        for place, share in zip(places, shares, strict=True)
        if len(place)
    }
