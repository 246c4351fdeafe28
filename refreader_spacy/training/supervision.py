"""From gold clusters to what the default reader should decide, once per example.

The memory does what is right while the reader learns: each mention is met by the cells
as they would be if all before it had been put where they belong.

Shapes: N tokens, K mentions, P pairs of a mention and a cell, F features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from refreader_spacy.reader.cells import Cells, Extra
from refreader_spacy.reader.features import FEATURES, pair_features
from refreader_spacy.reader.mentions import LONGEST, Field, MentionTable, describe_mentions
from refreader_spacy.reader.network import SCHEMES, TYPES
from refreader_spacy.reader.tokens import Ints, TextState, speaker_hashes, token_rows

Longs = NDArray[np.int64]
NEAR = 12  # cells by recency whose scores are always learned from
_HEAD = [f.name for f in FEATURES].index("head in cell")
_NAMES = [f.name for f in FEATURES].index("name overlap")


@dataclass(frozen=True)
class GoldMentions:
    """The mentions of one Doc in the order of their heads, as rows of read tokens.

    cluster (Longs): The entity's number (K,), -1 for a mention that isn't one.
    types (Longs): Numbers of entity types, -1 where unknown (K,).
    ontonotes (Longs): Would OntoNotes call it a mention? -1 where unknown (K,).
    """

    scheme: int
    heads: Longs
    starts: Longs
    ends: Longs  # the last token
    cluster: Longs
    types: Longs
    ontonotes: Longs


@dataclass(frozen=True)
class Supervision:
    """All that the loss of one Doc needs but the network's outputs."""

    rows: Ints
    places: Longs  # which token of the Doc each row is
    gold: GoldMentions
    kinds: Longs  # (K,)
    # Pairs, mentions in order
    mention: Longs  # (P,)
    latest: Longs  # the latest mention of the pair's cell (P,)
    features: NDArray[np.uint8]  # (P, F)
    right: NDArray[np.bool_]  # is it the cell that it belongs to? (P,)
    near: NDArray[np.bool_]  # (P,)
    instance: Longs  # of an entity in the memory, for each mention (K,)


def gold_mentions(doc: Doc, places: Longs, prefix: str = "coref_clusters") -> GoldMentions:
    """A Doc's gold mentions by their heads; those without one of their own are left out."""
    row_of = np.full(len(doc) + 1, -1)
    row_of[places] = np.arange(len(places))
    scheme = 0
    if "annotation" in doc.spans and len(doc.spans["annotation"]):
        label = doc.spans["annotation"][0].label_
        scheme = SCHEMES.index(label) if label in SCHEMES else 0
    found = []
    number = 0
    for key, group in doc.spans.items():
        if not key.startswith(prefix + "_"):
            continue
        heads = group.attrs.get("heads") or [span.end - 1 for span in group]
        flags = group.attrs.get("ontonotes") or [-1] * len(heads)
        for span, head, flag in zip(group, heads, flags, strict=True):
            kind = TYPES.index(span.label_) if span.label_ in TYPES[1:] else -1
            rows = row_of[[head, span.start, span.end - 1]]
            if (rows >= 0).all():
                found.append((*rows.tolist(), number, kind, int(flag)))
        number += 1
    found.sort()
    kept = [m for i, m in enumerate(found) if not i or m[0] != found[i - 1][0]]
    table = np.array(kept, np.int64).reshape(len(kept), 6)
    return GoldMentions(scheme, *table.T)


def supervise(
    doc: Doc,
    n_cells: int,
    *,
    noise: float = 0.0,
    rng: np.random.Generator | None = None,
    extra: Longs | None = None,
    with_speakers: bool = True,
) -> Supervision:
    """What the reader should decide about a Doc with gold clusters.

    noise (float): How often a mention is put into a wrong cell.
    """
    speakers = speaker_hashes(doc) if with_speakers else None
    tokens = token_rows(doc, TextState(), speakers)
    gold = gold_mentions(doc, tokens.places)
    starts = np.maximum(gold.starts, gold.heads - LONGEST)
    table = describe_mentions(tokens.rows, gold.heads, starts)
    walk = OracleMemory(n_cells, noise, rng).walk(table, gold.cluster)
    return Supervision(
        tokens.rows, tokens.places, gold, table.fields[:, Field.KIND].astype(np.int64), *walk
    )


class OracleMemory:
    """Cells that hold what they should, or nearly."""

    def __init__(self, n_cells: int, noise: float, rng: np.random.Generator | None) -> None:
        self.cells = Cells.empty(n_cells)
        self.noise = noise
        self.rng = rng

    def walk(
        self, table: MentionTable, clusters: Longs
    ) -> tuple[Longs, Longs, NDArray[np.uint8], NDArray[np.bool_], NDArray[np.bool_], Longs]:
        """Meet each mention with the memory, then write it where it belongs."""
        cells = self.cells
        cell_of: dict[int, int] = {}  # where each entity is
        holds = np.full(len(cells.fields), -1)  # and what each cell is of
        instances = np.full(len(cells.fields), -1)
        n_instances = 0
        instance = np.zeros(len(table), np.int64)
        counts, latest, features, right, near = [], [], [], [], []
        for i, cluster in enumerate(clusters.tolist()):
            used = np.flatnonzero(cells.fields[:, Extra.COUNT])
            values = pair_features(table, i, cells, used)
            target = cell_of.get(cluster, -1)
            last = cells.fields[used, Extra.LATEST]
            counts.append(len(used))
            latest.append(last)
            features.append(values)
            right.append(used == target)
            ranked = np.argsort(np.argsort(-last))
            alike = (values[:, _HEAD] == 2) | (values[:, _NAMES] > 2)
            near.append((ranked < NEAR) | alike | (used == target))
            cell, new = target, target < 0
            if self.noise and self.rng is not None and self.rng.random() < self.noise:
                if len(used) and (new or self.rng.random() < 0.5):
                    cell, new = int(used[np.argsort(-last)[: NEAR // 2]][self.rng.integers(min(len(used), NEAR // 2))]), False
                else:
                    new = True
            if new:
                cell = cells.least_salient()
                cell_of.pop(int(holds[cell]), None)
                holds[cell] = cluster
                instances[cell] = n_instances
                n_instances += 1
                if cluster >= 0:
                    cell_of[cluster] = cell
            elif cluster >= 0 and cluster not in cell_of:
                # Put where it doesn't belong: that is where it is found from now on
                cell_of.pop(int(holds[cell]), None) if self.rng is not None and self.rng.random() < 0.5 else None
                cell_of.setdefault(cluster, cell)
            cells.write(cell, table, i, i, new)
            instance[i] = instances[cell]
        mention = np.repeat(np.arange(len(table)), counts)
        if not len(table):
            none = np.zeros(0, np.int64)
            return none, none, np.zeros((0, len(FEATURES)), np.uint8), none > 0, none > 0, instance
        return (
            mention,
            np.concatenate(latest).astype(np.int64),
            np.concatenate(features),
            np.concatenate(right),
            np.concatenate(near),
            instance,
        )
