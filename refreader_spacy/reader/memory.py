"""The entity memory at inference: mentions one after the other, in plain NumPy.

This is the definition; the compiled pass does the same, and a test compares them.

Shapes: K mentions, M cells, V mention size, S score size, D product size, F features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.errors import Errors
from refreader_spacy.lang.en.pronouns import Pronoun
from refreader_spacy.lang.en.words import Gender
from refreader_spacy.reader.cells import Cells, Extra
from refreader_spacy.reader.features import (
    FEATURES,
    N_VALUES,
    OFFSETS,
    pair_features,
)
from refreader_spacy.reader.mentions import (
    N_KINDS,
    N_VOICES,
    Field,
    MentionTable,
    Voice,
)
from refreader_spacy.reader.tokens import Ints

Floats = NDArray[np.float32]
_PLACES = {
    feature.name: int(offset) for feature, offset in zip(FEATURES, OFFSETS, strict=True)
}
_GENDERS, _VOICES = _PLACES["gender"], _PLACES["voice"]
_LATEST_KIND = _PLACES["latest kind"]
# Added to the scores of mentions with cells that they hardly ever mean, which training
# shows too seldom: *he* and *she* with a cell that is neuter (*it*, or a name that
# `doc.ents` call an organisation) or was the other pronoun last; *I* with all others,
# where nobody is quoted. The other way round, *it* is rather what a sentence began with
# ("The firm bought a shop and said it"). Chosen on development sets, see
# docs/experiments.md.
DISAGREEMENTS = (
    (Pronoun.HE, _GENDERS + Gender.MASCULINE * len(Gender) + Gender.NEUTER, -6.0),
    (Pronoun.SHE, _GENDERS + Gender.FEMININE * len(Gender) + Gender.NEUTER, -6.0),
    (Pronoun.HE, _LATEST_KIND + Pronoun.SHE, -2.0),
    (Pronoun.SHE, _LATEST_KIND + Pronoun.HE, -2.0),
    (Pronoun.HE, _VOICES + Voice.OTHERS * N_VOICES + Voice.I, -2.0),
    (Pronoun.SHE, _VOICES + Voice.OTHERS * N_VOICES + Voice.I, -2.0),
    (Pronoun.I, _VOICES + Voice.I * N_VOICES + Voice.OTHERS, -2.0),
    (Pronoun.I, _VOICES + Voice.I * N_VOICES + Voice.YOU, -2.0),
    (Pronoun.YOU, _VOICES + Voice.YOU * N_VOICES + Voice.I, -2.0),
    *((Pronoun.IT, _PLACES["place"] + mine * 3, 0.6) for mine in (1, 2)),
)


@dataclass
class MemoryState:
    """What is remembered after some mentions.

    total (Floats): The sum of each cell's mentions' vectors (M, V).
    scored, compared (Floats): What of them enters scores (M, S) and products (M, D).
    entities (NDArray): The number of the entity in each cell, -1 if empty (M,).
    """

    cells: Cells
    total: Floats
    scored: Floats
    compared: Floats
    entities: NDArray[np.int64]
    n_entities: int = 0
    n_mentions: int = 0

    @classmethod
    def empty(cls, n_cells: int, mention: int, score: int, product: int) -> MemoryState:
        return cls(
            Cells.empty(n_cells),
            np.zeros((n_cells, mention), np.float32),
            np.zeros((n_cells, score), np.float32),
            np.zeros((n_cells, product), np.float32),
            np.full(n_cells, -1, np.int64),
        )


class MemoryWeights:
    """The parameters that the memory works with, arranged for it."""

    def __init__(self, parameters: Mapping[str, Floats]) -> None:
        p = parameters
        self.latest = np.ascontiguousarray(
            np.concatenate([p["latest.weight"], p["latest_product.weight"]])
        )  # (S + D, V)
        self.mean = np.ascontiguousarray(
            np.concatenate([p["mean.weight"], p["mean_product.weight"]])
        )
        self.product = np.ascontiguousarray(p["product.weight"])  # (S, D)
        self.features = np.ascontiguousarray(p["features.weight"])  # (N_VALUES, S)
        self.kind_features = p["kind_features.weight"].reshape(N_KINDS, N_VALUES).copy()
        for kind, value, cost in DISAGREEMENTS:
            self.kind_features[kind, value] += cost
        self.score = np.ascontiguousarray(p["score.weight"][0])  # (S,)
        self.score_bias = float(p["score.bias"][0])


@dataclass(frozen=True)
class Choices:
    """What was decided about mentions in their order.

    cell (Ints): Where each was written (K,).
    is_new (NDArray): Did it overwrite what was there? (K,)
    entity (NDArray): The number of the entity it is of, by first mention (K,).
    antecedent (NDArray): The number of the cell's latest mention before it, or -1 (K,).
    probability (Floats): Of what was decided (K,).
    links (Floats | None): How likely it is of each cell's entity (K, M); with what is
        missing to 1 it is something new.
    standing (NDArray | None): Of cells after each mention, see `Cells.standing` (K, M).
    """

    cell: Ints
    is_new: NDArray[np.bool_]
    entity: NDArray[np.int64]
    antecedent: NDArray[np.int64]
    probability: Floats
    links: Floats | None
    standing: NDArray[np.int64] | None


def read_mentions(
    weights: MemoryWeights,
    state: MemoryState,
    table: MentionTable,
    vectors: Floats,
    queries: Floats,
    products: Floats,
    new: Floats,
    *,
    links: bool = False,
) -> Choices:
    """Decide for each mention which cell it updates, or overwrites as something new.

    vectors (Floats): Of mentions, as they are remembered (K, V).
    queries, products (Floats): What they ask of cells (K, S), (K, D).
    new (Floats): Scores of being new (K,).
    links (bool): Keep all probabilities and standings.
    """
    n_cells = len(state.entities)
    if not n_cells:
        raise ValueError(Errors.R193)
    k = len(table)
    cell = np.zeros(k, np.int32)
    is_new = np.zeros(k, bool)
    entity = np.zeros(k, np.int64)
    antecedent = np.full(k, -1, np.int64)
    probability = np.zeros(k, np.float32)
    kept = np.zeros((k if links else 0, n_cells), np.float32)
    standing = np.zeros((k if links else 0, n_cells), np.int64)
    for i in range(k):
        used = np.flatnonzero(state.cells.fields[:, Extra.COUNT])
        values = pair_features(table, i, state.cells, used, FEATURES)
        kind = table.fields[i, Field.KIND]
        places = values + OFFSETS  # (M, F)
        hidden = queries[i] + state.scored[used]
        hidden = hidden + (products[i] * state.compared[used]) @ weights.product.T
        hidden = hidden + weights.features[places].sum(axis=1)
        scores = np.maximum(hidden, 0) @ weights.score + weights.score_bias
        scores = scores + weights.kind_features[kind][places].sum(axis=1)
        highest = max(float(scores.max(initial=-np.inf)), float(new[i]))
        e = np.exp(scores - highest)
        total = e.sum() + np.exp(new[i] - highest)
        if links:
            kept[i, used] = e / total
        best = int(scores.argmax()) if len(used) else -1
        if best >= 0 and scores[best] > new[i]:
            chosen = int(used[best])
            antecedent[i] = state.cells.fields[chosen, Extra.LATEST]
            probability[i] = e[best] / total
        else:
            is_new[i] = True
            probability[i] = np.exp(new[i] - highest) / total
            chosen = state.cells.least_salient()
            state.entities[chosen] = state.n_entities
            state.n_entities += 1
            state.total[chosen] = 0
        state.cells.write(chosen, table, i, state.n_mentions, bool(is_new[i]))
        state.n_mentions += 1
        remember(weights, state, chosen, vectors[i])
        cell[i] = chosen
        entity[i] = state.entities[chosen]
        if links:
            standing[i] = state.cells.standing()
    return Choices(
        cell,
        is_new,
        entity,
        antecedent,
        probability,
        kept if links else None,
        standing if links else None,
    )


def remember(
    weights: MemoryWeights, state: MemoryState, cell: int, vector: Floats
) -> None:
    """Add the vector of a cell's latest mention to what is remembered of it."""
    size = weights.product.shape[0]
    state.total[cell] += vector
    mean = state.total[cell] / state.cells.fields[cell, Extra.COUNT]
    seen = weights.latest @ vector + weights.mean @ mean  # (S + D,)
    state.scored[cell] = seen[:size]
    state.compared[cell] = seen[size:]
