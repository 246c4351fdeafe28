"""From gates to mentions, links and clusters: one pass, left to right, bounded memory.

Shapes: n tokens of a block, M memory cells, K remembered tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.model.types import Array, Reading

CAPACITY = 64  # tokens that are remembered at most; twice as many until a clean-up
BLOCK = 4096  # tokens that `decode` looks at together

Floats = NDArray[np.float64]
Kinds = NDArray[np.uint8]


class TokenKind(IntEnum):
    """What a token may be to a mention."""

    ORDINARY = 0
    ALONE = 1  # a mention by itself, such as a pronoun: "gave Mary his book"
    NEVER = 2  # in no mention, such as punctuation


class Mention(NamedTuple):
    """Tokens `start` to `end` (exclusive), and the cluster they were found to be in."""

    start: int
    end: int
    cluster: int


class Link(NamedTuple):
    """The best link of a mention's tokens to an earlier mention."""

    antecedent: Mention
    anaphor: Mention
    probability: float


class Found(NamedTuple):
    """A mention that has ended, and what it links to."""

    mention: Mention
    link: Link | None


class Cluster(NamedTuple):
    """One entity: mentions and the links between them in text order."""

    mentions: list[Mention]
    links: list[Link]


@dataclass
class OpenMention:
    """A mention that the next token may continue."""

    start: int
    end: int
    antecedent: Mention | None = None
    probability: float = 0.0


class Decoder:
    """Decisions so far, and what later ones need to know.

    A remembered token keeps its share of each cell: what it wrote, times what every
    later token left there. The link probability to a new token is that share times
    the new token's update. Clusters are numbered in the order of their first mention.
    """

    def __init__(self, n_cells: int, threshold: float) -> None:
        self.threshold = threshold
        self.position = 0
        self.n_clusters = 0
        self.open: OpenMention | None = None
        # What a remembered token is in; an open mention's tokens come last, without
        self.owners: list[Mention] = []
        self.shares: Floats = np.zeros((0, n_cells))  # (K, M)
        # What tokens after the last written one left in each cell
        self.left: Floats = np.ones(n_cells)  # (M,)

    @property
    def remembered(self) -> set[int]:
        """The clusters that a later mention can join, as of the last `release`."""
        return {owner.cluster for owner in self.owners}

    def read(self, update: Array, overwrite: Array, kinds: Kinds) -> list[Found]:
        """Go on with a block of tokens; the mentions that have ended by its last one.

        update, overwrite (Array): Gates (n, M), together at most 1 per token.
        kinds (Kinds): The tokens' TokenKind (n,).
        """
        added = update.astype(np.float64)
        written = added + overwrite  # (n, M)
        enough = written.sum(axis=1) >= self.threshold
        tokens = np.flatnonzero(enough & (kinds != TokenKind.NEVER))
        # Small gates write nothing but wear away what is stored: one product for
        # all tokens since the last written one, in the same order for any blocks.
        left = np.concatenate(([self.left], 1.0 - overwrite, [np.ones_like(self.left)]))
        lefts = np.multiply.reduceat(left, [0, *(tokens + 2)], axis=0)
        *befores, self.left = lefts
        alones = (kinds == TokenKind.ALONE).tolist()
        found: list[Found] = []
        for token, before in zip(tokens.tolist(), befores, strict=True):
            self.shares *= before
            found += self._write(
                self.position + token, added[token], written[token], alones[token]
            )
        self.position += len(kinds)
        if self.open is not None and self.open.end < self.position:
            found.append(self._close(self.open))
        return found

    def finish(self) -> list[Found]:
        """The text ends here: the mention that was still open, if any."""
        return [] if self.open is None else [self._close(self.open)]

    def _write(
        self, token: int, update: Floats, written: Floats, alone: bool
    ) -> Iterator[Found]:
        links = self.shares @ update  # (K,)
        if self.open is not None and (
            alone or self.open.end < token or not self._continues(self.open, links)
        ):
            yield self._close(self.open)
        mention = self.open = self.open or OpenMention(token, token)
        mention.end = token + 1
        if self.owners:
            best = latest_argmax(links[: len(self.owners)])
            # A name that is rather somebody new links to nothing; a pronoun is never
            new = 0.0 if alone else float((written - update).sum())
            enough = max(self.threshold, new)
            if links[best] >= enough and links[best] > mention.probability:
                mention.antecedent = self.owners[best]
                mention.probability = float(links[best])
        if len(self.shares) == 2 * CAPACITY:
            self.release()
        self.shares = np.concatenate((self.shares, written[None]))
        if alone:
            yield self._close(mention)

    def _continues(self, mention: OpenMention, links: Floats) -> bool:
        """Was this token written where the open mention was, rather than to another?"""
        best = latest_argmax(links)
        return bool(links[-1] >= self.threshold) and (
            best >= len(self.owners)
            or (
                mention.antecedent is not None
                and mention.antecedent.cluster == self.owners[best].cluster
            )
        )

    def _close(self, mention: OpenMention) -> Found:
        antecedent = mention.antecedent
        cluster = self.n_clusters if antecedent is None else antecedent.cluster
        self.n_clusters = max(self.n_clusters, cluster + 1)
        closed = Mention(mention.start, mention.end, cluster)
        self.owners += [closed] * (len(self.shares) - len(self.owners))
        self.open = None
        link = antecedent and Link(antecedent, closed, mention.probability)
        return Found(closed, link)

    def release(self) -> None:
        """Forget tokens that no later token can link to.

        That is a token whose shares are all below the threshold, as updates sum to at
        most 1, and one with no share above a later token's, as shares shrink alike and
        a tie goes to the later. An open mention's tokens don't count as later: its own
        link goes past them. Beyond CAPACITY the weakest go, which may lose a link.
        """
        n_closed = len(self.owners)
        strength = self.shares.max(axis=1, initial=0.0)  # (K,)
        below = np.all(self.shares[:, None] <= self.shares, axis=2)  # (K, K)
        below[:n_closed, n_closed:] = False
        keep = (strength >= self.threshold) & ~np.triu(below, 1).any(axis=1)
        if keep.sum() > CAPACITY:
            keep[np.argsort(strength * keep)[:-CAPACITY]] = False
        if self.open is not None:
            keep[-1] = True  # the next token may continue from it
        self.owners = [self.owners[k] for k in np.flatnonzero(keep[:n_closed])]
        self.shares = self.shares[keep]


def decode(reading: Reading, threshold: float, kinds: Kinds) -> list[Cluster]:
    """The clusters of a document in the order of their first mention, singletons too.

    threshold (float): A token is in a mention, and a link counts, from here; except for
        pronouns, it must also be at least as likely as that the token is something new.
    kinds (Kinds): Each token's TokenKind (T,).
    """
    _, n_cells = reading.update.shape
    decoder = Decoder(n_cells, threshold)
    clusters: list[Cluster] = []
    for start in range(0, len(reading), BLOCK):
        block = slice(start, start + BLOCK)
        update, overwrite = reading.update[block], reading.overwrite[block]
        extend_clusters(clusters, decoder.read(update, overwrite, kinds[block]))
    extend_clusters(clusters, decoder.finish())
    return clusters


def extend_clusters(clusters: list[Cluster], found: list[Found]) -> None:
    """Put mentions and links that were found next where they belong."""
    for mention, link in found:
        if mention.cluster == len(clusters):
            clusters.append(Cluster([], []))
        clusters[mention.cluster].mentions.append(mention)
        if link is not None:
            clusters[mention.cluster].links.append(link)


def latest_argmax(values: Floats) -> int:
    """The last index of the highest value."""
    return len(values) - 1 - int(values[::-1].argmax())
