"""A reading as JSON for the page: tokens, cells, mentions and links.

Shapes: T tokens of a piece, M memory cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from refreader_spacy.decoding.decoder import Cluster
from refreader_spacy.pictures.entities import entity_name
from refreader_spacy.protocol import Array, Part, Reading
from refreader_spacy.streaming.events import (
    EntityForgotten,
    Event,
    LinkMade,
    MentionClosed,
)

DIGITS = 4  # of gates and probabilities

Json = dict[str, Any]


class CellContents:
    """Which token each cell holds: the one with the largest share of its content.

    A token's share is what it wrote there, times what every later token kept.
    """

    def __init__(self, n_cells: int) -> None:
        self.position = 0
        self.tokens = np.full(n_cells, -1)  # (M,), -1 for none
        self.shares = np.zeros(n_cells)  # (M,)

    def read(self, reading: Reading) -> NDArray[np.int64]:
        """The token that each cell holds after each of the next tokens (T, M)."""
        held = np.empty(reading.update.shape, np.int64)
        for i, (update, overwrite) in enumerate(
            zip(reading.update, reading.overwrite, strict=True)
        ):
            self.shares *= 1 - overwrite
            written = update + overwrite
            taken = (written >= self.shares) & (written > 0)  # a tie goes to the later
            self.shares[taken] = written[taken]
            self.tokens[taken] = self.position + i
            held[i] = self.tokens
        self.position += len(reading)
        return held


def text_payload(
    seen: Iterable[tuple[Doc, Part]], events: Iterable[Event], contents: CellContents
) -> Json:
    """A piece of text: its tokens, the cells after each of them, and the events."""
    parts = list(seen)
    readings = [part.gates for _, part in parts if part.gates is not None]
    return {
        "tokens": [token.text_with_ws for doc, _ in parts for token in doc],
        "update": flat([reading.update for reading in readings]),
        "overwrite": flat([reading.overwrite for reading in readings]),
        "salience": flat([reading.salience for reading in readings]),
        "holds": [
            token for r in readings for token in contents.read(r).ravel().tolist()
        ],
        **decided(events),
    }


def flat(arrays: Sequence[Array]) -> list[float]:
    """Values of (T, M) arrays, token by token, with no more digits than matter."""
    return [
        value
        for array in arrays
        for value in array.astype(np.float64).round(DIGITS).ravel().tolist()
    ]


def decided(events: Iterable[Event]) -> Json:
    """Mentions as [start, end, entity, head] and links as [antecedent, anaphor,
    probability], all in tokens; a link's ends are its mentions' heads."""
    mentions, links, forgotten = [], [], []
    for event in events:
        if isinstance(event, MentionClosed):
            mention = event.mention
            mentions.append([mention.start, mention.end, mention.entity, mention.head])
        elif isinstance(event, LinkMade):
            ends = event.antecedent.head, event.anaphor.head
            links.append([*ends, round(event.probability, DIGITS)])
        elif isinstance(event, EntityForgotten):
            forgotten.append(event.entity)
    return {"mentions": mentions, "links": links, "forgotten": forgotten}


def clusters_payload(clusters: Sequence[Cluster], doc: Doc) -> Json:
    """Mentions and links of a whole text in text order, and its entities' names."""
    mentions = [
        [mention.start, mention.end, mention.cluster, mention.head]
        for cluster in clusters
        for mention in cluster.mentions
    ]
    links = [
        [link.antecedent.head, link.anaphor.head, round(link.probability, DIGITS)]
        for cluster in clusters
        for link in cluster.links
    ]
    by_anaphor = sorted(links, key=lambda link: link[1])
    names = [
        [
            cluster.mentions[0].cluster,
            entity_name([doc[m.start : m.end] for m in cluster.mentions]),
        ]
        for cluster in clusters
        if len(cluster.mentions) > 1
    ]
    return {"mentions": sorted(mentions), "links": by_anaphor, "names": names}
