"""The loss of the default reader: mentions, their edges and types, and links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from refreader_spacy.reader.mentions import LONGEST
from refreader_spacy.reader.network import FURTHEST, SCHEMES, Encoded, EntityNetwork
from refreader_spacy.training.supervision import Supervision

ONTONOTES = SCHEMES.index("ontonotes")


@dataclass(frozen=True)
class Weights:
    detection: float = 1.0
    link: float = 1.0
    edge: float = 0.5
    flag: float = 0.5
    type: float = 0.5


def windows_of(lengths: list[int], size: int = 128, burn_in: int = 24) -> tuple[Tensor, Tensor]:
    """Documents cut into windows that begin with the end of the one before.

    RETURNS (tuple[Tensor, Tensor]): Tokens (B, L), and which count (B, L).
    """
    stride = size - burn_in
    index, valid = [], []
    offset = 0
    for length in lengths:
        start = 0
        while start < length:
            first = max(0, start - burn_in)
            stop = min(length, first + size)
            places = np.arange(first, first + size)
            index.append(offset + np.minimum(places, length - 1))
            valid.append((places >= start) & (places < stop))
            start = stop
        offset += length
    del stride
    return torch.from_numpy(np.stack(index)), torch.from_numpy(np.stack(valid))


def entity_loss(
    network: EntityNetwork,
    encoded: Encoded,
    batch: list[Supervision],
    weights: Weights,
    rng: np.random.Generator,
    far: float = 0.3,
) -> tuple[Tensor, dict[str, float]]:
    """The loss of some Docs whose tokens follow one another in `encoded`."""
    token_offsets = np.cumsum([0, *(len(s.rows) for s in batch)])
    sizes = [len(s.gold.heads) for s in batch]
    mention_offsets = np.cumsum([0, *sizes])

    def joined(parts: list[np.ndarray]) -> Tensor:
        return torch.from_numpy(np.concatenate(parts).astype(np.int64))

    heads = joined([s.gold.heads + o for s, o in zip(batch, token_offsets)])
    starts = joined(
        [np.maximum(s.gold.starts, s.gold.heads - LONGEST) + o for s, o in zip(batch, token_offsets)]
    )
    both = network.both(encoded)
    schemes, types = network.detect(both)  # (N, 4), (N, 11)
    scheme = joined([np.full(len(s.rows), s.gold.scheme) for s in batch])
    target = torch.zeros(len(schemes))
    target[heads] = 1.0
    logits = schemes.gather(1, scheme[:, None]).squeeze(1)
    detection = F.binary_cross_entropy_with_logits(logits, target)
    flags = joined([s.gold.ontonotes for s in batch])
    known = flags >= 0
    zero = detection * 0
    flag = zero
    if known.any():
        flag = F.binary_cross_entropy_with_logits(
            schemes[heads[known], ONTONOTES], flags[known].float()
        )
    gold_types = joined([s.gold.types for s in batch])
    typed = gold_types >= 0
    type_loss = F.cross_entropy(types[heads[typed]], gold_types[typed]) if typed.any() else zero
    back = joined([s.gold.heads for s in batch])
    left = network.left_edges(both, heads, back)
    left_loss = F.cross_entropy(left, heads - starts) if len(heads) else zero
    right_loss = _right_loss(network, both, heads, batch, token_offsets) if len(heads) else zero
    kinds = joined([s.kinds for s in batch])
    vectors = network.mention_vectors(
        encoded, heads, starts, kinds, types[heads].softmax(dim=1)
    )
    instance = []
    n = 0
    for s in batch:
        instance.append(s.instance + n)
        n += int(s.instance.max(initial=-1)) + 1
    means = running_means(vectors, joined(instance))
    chosen = []
    for s in batch:
        keep = s.near | (rng.random(len(s.near)) < far)
        chosen.append(keep)
    mention = joined([s.mention[k] + o for s, k, o in zip(batch, chosen, mention_offsets)])
    latest = joined([s.latest[k] + o for s, k, o in zip(batch, chosen, mention_offsets)])
    features = joined([s.features[k] for s, k in zip(batch, chosen)])
    right = torch.from_numpy(np.concatenate([s.right[k] for s, k in zip(batch, chosen)]))
    pair_scores = network.link_scores(vectors, means, kinds, mention, latest, features)
    new = network.new_scores(vectors)
    link = link_loss(pair_scores, new, mention, right)
    total = (
        weights.detection * detection * 4
        + weights.link * link
        + weights.edge * (left_loss + right_loss)
        + weights.flag * flag
        + weights.type * type_loss
    )
    terms = dict(detection=detection, link=link, left=left_loss, right=right_loss, flag=flag, type=type_loss)
    return total, {k: float(v.detach()) for k, v in terms.items()}


def link_loss(scores: Tensor, new: Tensor, mention: Tensor, right: Tensor) -> Tensor:
    """Cross-entropy of one choice per mention among its cells and being new."""
    if not len(new):
        return scores.sum() * 0
    highest = torch.maximum(
        new, torch.full_like(new, -1e9).scatter_reduce(0, mention, scores, "amax")
    ).detach()
    e_new = (new - highest).exp()
    e = (scores - highest[mention]).exp()
    total = e_new.index_add(0, mention, e)
    has = torch.zeros_like(new, dtype=torch.bool)
    has[mention[right]] = True
    gain = torch.where(has, torch.zeros_like(new), new)
    gain = gain.index_add(0, mention[right], scores[right])
    return (total.log() + highest - gain).mean()


def running_means(vectors: Tensor, instance: Tensor) -> Tensor:
    """For each mention, the mean of its cell's vectors up to and including it (K, V)."""
    order = torch.argsort(instance, stable=True)
    sums = vectors[order].cumsum(dim=0)
    group = instance[order]
    first = torch.ones_like(group, dtype=torch.bool)
    first[1:] = group[1:] != group[:-1]
    places = torch.arange(len(group))
    begin = torch.cummax(torch.where(first, places, 0), dim=0).values if len(group) else places
    before = torch.cat([sums.new_zeros(1, sums.shape[1]), sums])[begin]
    means = (sums - before) / (places - begin + 1)[:, None]
    out = torch.empty_like(means)
    out = out.index_copy(0, order, means)
    return out


def _right_loss(network, both, heads, batch, token_offsets):  # type: ignore[no-untyped-def]
    """A mention's right edge: after each token, has it ended?"""
    which, later, ended = [], [], []
    offset = 0
    for s, o in zip(batch, token_offsets):
        extent = np.minimum(s.gold.ends - s.gold.heads, FURTHEST - 1)  # tokens behind the head
        n_asked = np.minimum(extent + 1, len(s.rows) - 1 - s.gold.heads)
        index = np.repeat(np.arange(len(extent)), n_asked)
        first = np.cumsum(n_asked) - n_asked
        step = np.arange(len(index)) - first[index] + 1
        which.append(s.gold.heads[index] + o)
        later.append(s.gold.heads[index] + step + o)
        ended.append(step == extent[index] + 1)
        offset += len(extent)
    h = torch.from_numpy(np.concatenate(which))
    later_t = torch.from_numpy(np.concatenate(later))
    y = torch.from_numpy(np.concatenate(ended)).float()
    logits = network.right_ends(both, h, later_t)
    return F.binary_cross_entropy_with_logits(logits, y, reduction="sum") / len(heads)
