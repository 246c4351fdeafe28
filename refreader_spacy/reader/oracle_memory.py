"""A memory that does what is right while the reader learns, or nearly.

Each mention is met by the cells as they would be if all before it had been put where
they belong.

Shapes: K mentions, P pairs of a mention and a cell, F features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.protocol import Array, Longs
from refreader_spacy.reader.cells import Cells, Extra
from refreader_spacy.reader.features import FEATURES, N_FEATURES, pair_features
from refreader_spacy.reader.mentions import MentionTable

NEAR = 12  # cells by recency whose scores are always learned from
_NAMES = [feature.name for feature in FEATURES]
_HEAD, _NAME = _NAMES.index("head in cell"), _NAMES.index("name overlap")


@dataclass(frozen=True)
class Pairs:
    """Mentions and the cells that they met, mention by mention.

    mention (Longs): The mention of each pair (P,).
    latest (Longs): The latest mention in its cell (P,).
    features (NDArray): (P, F).
    target (Array): How likely the mention is of the cell's entity (P,).
    near (NDArray): Cells that are always learned from (P,).
    instance (Longs): Mentions that were put into the same cell, one after the other,
        have the same number (K,).
    """

    mention: Longs
    latest: Longs
    features: NDArray[np.uint8]
    target: Array
    near: NDArray[np.bool_]
    instance: Longs


class OracleMemory:
    """Cells that hold what they should, or nearly."""

    def __init__(self, n_cells: int, noise: float, rng: np.random.Generator) -> None:
        self.cells = Cells.empty(n_cells)
        self.noise = noise
        self.rng = rng
        self.cell_of: dict[int, int] = {}  # where each entity is to be found
        self.entity = np.full(n_cells, -1)  # what each cell began as
        self.instance = np.full(n_cells, -1)
        self.n_instances = 0

    def walk(
        self,
        table: MentionTable,
        clusters: Longs,
        soft: Sequence[dict[int, float]] | None = None,
    ) -> Pairs:
        """Meet each mention with the memory, then write it where it belongs.

        clusters (Longs): The gold entity of each mention (K,).
        soft (Sequence | None): How likely each mention is of the cell whose latest
            mention is the key, where a teacher has said so.
        """
        fields = self.cells.fields
        instance = np.zeros(len(table), np.int64)
        counts, latest, features, target, near = [], [], [], [], []
        for i, cluster in enumerate(clusters.tolist()):
            used = np.flatnonzero(fields[:, Extra.COUNT])
            values = pair_features(table, i, self.cells, used)
            right = self.cell_of.get(cluster, -1)
            last = fields[used, Extra.LATEST]
            counts.append(len(used))
            latest.append(last)
            features.append(values)
            if soft is None:
                target.append((used == right).astype(np.float32))
            else:
                said = soft[i]
                target.append(
                    np.array([said.get(j, 0.0) for j in last.tolist()], np.float32)
                )
            recent = np.argsort(np.argsort(-last)) < NEAR
            alike = (values[:, _HEAD] == 2) | (values[:, _NAME] > 2)
            near.append(recent | alike | (target[-1] > 0.01))
            cell = self._place(right, used[np.argsort(-last)[: NEAR // 2]])
            new = cell < 0
            if new:
                cell = self.cells.least_salient()
                self._begin(cell, cluster)
            self.cell_of.setdefault(cluster, cell)
            self.cells.write(cell, table, i, i, new)
            instance[i] = self.instance[cell]
        return Pairs(
            np.repeat(np.arange(len(table)), counts),
            np.concatenate([*latest, np.zeros(0)]).astype(np.int64),
            np.concatenate([*features, np.zeros((0, N_FEATURES), np.uint8)]),
            np.concatenate([*target, np.zeros(0, np.float32)]),
            np.concatenate([*near, np.zeros(0, bool)]),
            instance,
        )

    def _place(self, right: int, recent: Longs) -> int:
        """The right cell, or now and then a wrong one; -1 is a new one."""
        if not self.noise or self.rng.random() >= self.noise:
            return right
        if len(recent) and (right < 0 or self.rng.random() < 0.5):
            return int(self.rng.choice(recent))
        return -1

    def _begin(self, cell: int, cluster: int) -> None:
        """Overwrite a cell with an entity."""
        before = int(self.entity[cell])
        if self.cell_of.get(before) == cell:
            del self.cell_of[before]
        # Whoever was put there by mistake is lost too
        for entity in [e for e, c in self.cell_of.items() if c == cell]:
            del self.cell_of[entity]
        self.cell_of[cluster] = cell
        self.entity[cell] = cluster
        self.instance[cell] = self.n_instances
        self.n_instances += 1
