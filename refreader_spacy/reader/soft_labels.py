"""What a teacher said about a text's mentions and links, kept on the Doc.

The Doc's clusters are what the teacher decided; beside them, in the attrs of one span
group, is how sure it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc, SpanGroup

from refreader_spacy.protocol import Array, Longs

SOFT_LABELS = "soft_labels"


@dataclass(frozen=True)
class SoftLabels:
    """How sure a teacher was; mentions are numbered in the order of the Doc's groups.

    detection (Array): That each is a mention (K,).
    links (list): For each mention, [latest mention of a cell, probability] pairs.
    """

    detection: Array
    links: list[list[tuple[int, float]]]

    def by_mention(self, number: Longs) -> list[dict[int, float]]:
        """The links of some mentions, which are numbered anew by their order here.

        One that comes again is linked to where it began.
        """
        place = {int(n): i for i, n in enumerate(number)}
        begun: dict[int, int] = {}
        found = []
        for i, n in enumerate(number.tolist()):
            if n in begun:
                found.append({begun[n]: 1.0})
            else:
                found.append({place[j]: p for j, p in self.links[n] if j in place})
            begun[n] = i
        return found


def soft_labels_of(doc: Doc) -> SoftLabels | None:
    """What a teacher said about a Doc, if one did."""
    if SOFT_LABELS not in doc.spans:
        return None
    attrs = doc.spans[SOFT_LABELS].attrs
    links = [[(j, p) for j, p in row] for row in attrs["links"]]
    return SoftLabels(np.array(attrs["detection"], np.float32), links)


def write_soft_labels(
    doc: Doc, detection: Sequence[float], links: Sequence[Sequence[tuple[int, float]]]
) -> None:
    """Keep what a teacher said on the Doc."""
    attrs = {
        "detection": [round(float(p), 3) for p in detection],
        "links": [[[j, round(float(p), 3)] for j, p in row] for row in links],
    }
    doc.spans[SOFT_LABELS] = SpanGroup(doc, name=SOFT_LABELS, attrs=attrs)
