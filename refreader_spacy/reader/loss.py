"""The loss of the default reader: mentions, their edges and types, and links.

Shapes: N tokens, K mentions, P pairs of a mention and a cell, V mention size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from spacy.tokens import Doc
from spacy.training import Example
from torch import Tensor
from torch.nn import functional as F

from refreader_spacy.lang.en.pronouns import Pronoun
from refreader_spacy.reader.network import FURTHEST, SCHEMES, Encoded, EntityNetwork
from refreader_spacy.reader.supervision import Supervision, Supervisor

ONTONOTES = SCHEMES.index("ontonotes")
FAR = 0.3  # share of the cells that are far and unlike which is learned from
WINDOW, BURN_IN = 128, 24


@dataclass(frozen=True)
class LossWeights:
    """What each decision counts."""

    detection: float = 4.0
    link: float = 1.0
    edge: float = 0.5
    flag: float = 0.5  # would OntoNotes have the mention?
    type: float = 0.5
    person: float = 1.0  # he and she, in the place of 1: whom they mean is hardest


class EntityLoss:
    """Compares what the network saw with gold; supervision is made once per example."""

    def __init__(self, weights: LossWeights, n_cells: int, noise: float) -> None:
        self.weights = weights
        self.rng = np.random.default_rng(0)
        self.supervisor = Supervisor(n_cells, noise, self.rng)
        self._made: WeakKeyDictionary[Doc, Supervision] = WeakKeyDictionary()

    def __call__(
        self, examples: Iterable[Example], outputs: Any, prefix: str
    ) -> tuple[float, Any]:
        """The loss, and its gradient in the network's outputs."""
        batch = [self._supervision(example, prefix) for example in examples]
        network, encoded = outputs.network, outputs.encoded
        loss = self.total(network, encoded, batch)
        loss.backward()
        gradient = Encoded(
            *(torch.zeros_like(x) if x.grad is None else x.grad for x in encoded)
        )
        return loss.item(), type(outputs)(network, gradient, outputs.lengths)

    def _supervision(self, example: Example, prefix: str) -> Supervision:
        made = self._made.get(example.reference)
        if made is None:
            made = self._made[example.reference] = self.supervisor(example, prefix)
        return made

    def total(
        self, network: EntityNetwork, encoded: Encoded, batch: Sequence[Supervision]
    ) -> Tensor:
        """The weighted sum of all terms, each a mean."""
        terms = loss_terms(network, encoded, batch, self.rng, self.weights.person)
        return torch.stack(
            [getattr(self.weights, k) * v for k, v in terms.items()]
        ).sum()


def loss_terms(
    network: EntityNetwork,
    encoded: Encoded,
    batch: Sequence[Supervision],
    rng: np.random.Generator,
    person: float = 1.0,
) -> dict[str, Tensor]:
    """The loss of each kind of decision about Docs whose tokens follow one another.

    person (float): What the links of *he* and *she* count.
    """
    device = encoded.inputs.device
    tokens = np.cumsum([0, *map(len, batch)])[:-1]  # where each Doc's begin
    mentions = np.cumsum([0, *(len(s.head) for s in batch)])[:-1]

    def joined(parts: list[Any], offsets: Any = None) -> Tensor:
        if offsets is not None:
            parts = [part + offset for part, offset in zip(parts, offsets, strict=True)]
        return torch.from_numpy(np.concatenate(parts).astype(np.int64)).to(device)

    head = joined([s.head for s in batch], tokens)
    start = joined([s.start for s in batch], tokens)
    both = network.both(encoded)
    schemes, types = network.detect(both)
    scheme = joined([np.full(len(s), s.scheme) for s in batch])
    target = torch.from_numpy(np.concatenate([s.detection for s in batch])).to(device)
    detection = F.binary_cross_entropy_with_logits(
        schemes.gather(1, scheme[:, None]).squeeze(1), target
    )
    none = detection * 0
    if not len(head):
        return {"detection": detection}
    flags, gold_types = (
        joined([s.ontonotes for s in batch]),
        joined([s.type for s in batch]),
    )
    told, typed = flags >= 0, gold_types >= 0
    flag, type_loss = none, none
    if told.any():
        flag = F.binary_cross_entropy_with_logits(
            schemes[head[told], ONTONOTES], flags[told].float()
        )
    if typed.any():
        type_loss = F.cross_entropy(types[head[typed]], gold_types[typed])
    left = network.left_edges(both, head, joined([s.head for s in batch]))
    left_loss = F.cross_entropy(left, head - start)
    kind = joined([s.kind for s in batch])
    following = joined([s.head < len(s) - 1 for s in batch])
    vectors, remembered = network.mention_vectors(
        encoded, head, start, kind, types[head].softmax(dim=1), following
    )
    n_instances = [int(s.pairs.instance.max(initial=-1)) + 1 for s in batch]
    instance = joined(
        [s.pairs.instance for s in batch], np.cumsum([0, *n_instances])[:-1]
    )
    chosen = [s.pairs.near | (rng.random(len(s.pairs.near)) < FAR) for s in batch]
    some = list(zip((s.pairs for s in batch), chosen, strict=True))
    mention = joined([p.mention[c] for p, c in some], mentions)
    scores = network.link_scores(
        vectors,
        remembered,
        running_means(remembered, instance),
        kind,
        mention,
        joined([p.latest[c] for p, c in some], mentions),
        joined([p.features[c] for p, c in some]),
    )
    linked = torch.from_numpy(np.concatenate([p.target[c] for p, c in some])).to(device)
    links = link_losses(scores, network.new_scores(vectors), mention, linked)
    is_person = (kind == Pronoun.HE) | (kind == Pronoun.SHE)
    return {
        "detection": detection,
        "flag": flag,
        "type": type_loss,
        "edge": left_loss + right_edge_loss(network, both, batch, tokens),
        "link": (links * torch.where(is_person, person, 1.0)).mean(),
    }


def link_losses(scores: Tensor, new: Tensor, mention: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of one choice per mention, among its cells and being new (K,).

    scores, target (Tensor): Of pairs, and how likely each is right (P,).
    new (Tensor): Scores of being new (K,), which is right with what is missing to 1.
    """
    highest = torch.full_like(new, -torch.inf).scatter_reduce(
        0, mention, scores, "amax"
    )
    highest = torch.maximum(new, highest).detach()
    total = (
        (new - highest).exp().index_add(0, mention, (scores - highest[mention]).exp())
    )
    linked = torch.zeros_like(new).index_add(0, mention, target)
    gain = (1 - linked).clamp(min=0) * new
    gain = gain.index_add(0, mention, target * scores)
    return total.log() + highest - gain


def running_means(vectors: Tensor, instance: Tensor) -> Tensor:
    """For each mention, the mean of its cell's vectors up to it (K, V)."""
    order = torch.argsort(instance, stable=True)
    sums = vectors[order].cumsum(dim=0)
    group = instance[order]
    first = torch.ones_like(group, dtype=torch.bool)
    first[1:] = group[1:] != group[:-1]
    places = torch.arange(len(group), device=group.device)
    begin = torch.cummax(torch.where(first, places, 0), dim=0).values
    before = torch.cat([sums.new_zeros(1, sums.shape[1]), sums])[begin]
    means = (sums - before) / (places - begin + 1)[:, None]
    return torch.empty_like(means).index_copy(0, order, means)


def right_edge_loss(
    network: EntityNetwork, both: Tensor, batch: Sequence[Supervision], tokens: Any
) -> Tensor:
    """After each token behind its head: has the mention ended? A mean over mentions."""
    heads, later, ended = [], [], []
    for s, offset in zip(batch, tokens, strict=True):
        behind = np.minimum(s.last - s.head, FURTHEST - 1)  # tokens of it (K,)
        behind = np.maximum(behind, 0)
        n_asked = np.minimum(behind + 1, len(s) - 1 - s.head)
        index = np.repeat(np.arange(len(behind)), n_asked)
        step = np.arange(len(index)) - (np.cumsum(n_asked) - n_asked)[index] + 1
        heads.append(s.head[index] + offset)
        later.append(s.head[index] + step + offset)
        ended.append(step == behind[index] + 1)
    asked = [
        torch.from_numpy(np.concatenate(x)).to(both.device)
        for x in (heads, later, ended)
    ]
    logits = network.right_ends(both, asked[0], asked[1])
    total = F.binary_cross_entropy_with_logits(
        logits, asked[2].float(), reduction="sum"
    )
    return total / sum(len(s.head) for s in batch)


def windows_of(lengths: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Documents cut into windows that begin with the end of the one before.

    RETURNS (tuple[Tensor, Tensor]): Tokens (B, L), and which count (B, L).
    """
    index, valid = [np.zeros((0, WINDOW), np.int64)], [np.zeros((0, WINDOW), bool)]
    offset = 0
    for length in lengths:
        start = 0
        while start < length:
            first = max(0, start - BURN_IN)
            places = np.arange(first, first + WINDOW)
            index.append(offset + np.minimum(places, length - 1)[None])
            valid.append(((places >= start) & (places < length))[None])
            start = first + WINDOW
        offset += length
    return torch.from_numpy(np.concatenate(index)), torch.from_numpy(
        np.concatenate(valid)
    )
