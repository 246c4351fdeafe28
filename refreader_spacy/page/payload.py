"""A reading as JSON for the page: tokens, cells, mentions and links.

Shapes: T tokens of a piece, M memory cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from refreader_spacy.decoding.clusters import Cluster
from refreader_spacy.pictures.entities import entity_name
from refreader_spacy.protocol import Array, Part, Reading
from refreader_spacy.streaming.events import (
    EntityForgotten,
    Event,
    LinkMade,
    MentionClosed,
)

DIGITS = 3  # of gates and probabilities

Json = dict[str, Any]


class CellContents:
    """Which token each cell holds: the one with the largest share of its content.

    A token's share is what it wrote there, times what every later token kept.
    """

    def __init__(self, n_cells: int) -> None:
        self.position = 0
        self.tokens = np.full(n_cells, -1)  # (M,), -1 for none
        self.shares = np.zeros(n_cells)  # (M,)
        self.sent = np.zeros(n_cells), self.tokens.copy()  # salience, token (M,)

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

    def changes(self, reading: Reading) -> Iterator[list[float]]:
        """What happens to cells at the next tokens, as [token, cell, update, overwrite,
        salience, held token], wherever something does. Cells that are not in use, and
        those that stay as they were, are left out."""
        first = self.position
        held = self.read(reading)
        gates = reading.update, reading.overwrite, reading.salience
        update, overwrite, salience = (rounded(gate) for gate in gates)  # (T, M)
        before, held_before = (
            np.concatenate([kept[None], now])
            for kept, now in zip(self.sent, (salience, held), strict=True)
        )  # (1 + T, M)
        self.sent = before[-1].copy(), held_before[-1].copy()
        differ = (before[1:] != before[:-1]) | (held_before[1:] != held_before[:-1])
        tokens, cells = np.nonzero((update > 0) | (overwrite > 0) | differ)
        columns = [x[tokens, cells].tolist() for x in (update, overwrite, salience)]
        columns.append(held[tokens, cells].tolist())
        for row in zip(
            (tokens + first).tolist(), cells.tolist(), *columns, strict=True
        ):
            yield [*row]


def text_payload(
    seen: Iterable[tuple[Doc, Part]], events: Iterable[Event], contents: CellContents
) -> Json:
    """A piece of text: its tokens, the cells after each of them, and the events."""
    parts = list(seen)
    readings = [part.gates for _, part in parts if part.gates is not None]
    return {
        "tokens": [token.text_with_ws for doc, _ in parts for token in doc],
        "cells": [change for r in readings for change in contents.changes(r)],
        **decided(events),
    }


def rounded(gate: Array) -> NDArray[np.float64]:
    """With no more digits than matter."""
    values: NDArray[np.float64] = gate.astype(np.float64)
    return np.round(values, DIGITS)


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
            entity_name(
                [doc[m.start : m.end] for m in cluster.mentions],
                [m.head for m in cluster.mentions],
            ),
        ]
        for cluster in clusters
        if len(cluster.mentions) > 1
    ]
    return {"mentions": sorted(mentions), "links": by_anaphor, "names": names}
