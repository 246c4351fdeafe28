"""From gates to mentions, links and clusters: one pass, left to right, bounded memory.

Shapes: n tokens of a block, M memory cells, K remembered tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.protocol import BLOCK, Array, Reading

CAPACITY = 64  # tokens that are remembered at most; twice as many until a clean-up
STRIDE = 64  # tokens that are compared with each other and all remembered at once
TIDY = 4 * BLOCK  # tokens after which `decode` lets go of singletons

Floats = NDArray[np.float64]
Kinds = NDArray[np.uint8]
Numbers = NDArray[np.int64]


class TokenKind(IntEnum):
    """What a token may be to a mention: one of these, plus what else is known of it.

    That is a Gender, and NAME for what may be a part of a name.
    """

    ORDINARY = 0
    ALONE = 1  # a mention by itself, such as a pronoun: "gave Mary his book"
    NEVER = 2  # in no mention, such as punctuation


class Gender(IntEnum):
    """What an entity is called; it is never two of them."""

    NONE = 0
    HE = 4
    SHE = 8
    IT = 12


KIND, GENDER, NAME = np.uint8(3), np.uint8(12), np.uint8(16)  # bits
LONGEST = 8  # words that a name has at most; then another begins


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
    gender: int = Gender.NONE
    is_name: bool = False  # as its last token is


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
        self.name: int | None = None  # where the name began that the last token is in
        # What a remembered token is in; an open mention's tokens come last, without
        self.owners: list[Mention] = []
        self.genders: dict[int, int] = {}  # of clusters that have one
        self.shares: Floats = np.zeros((0, n_cells))  # (K, M)
        # What tokens after the last written one left in each cell
        self.left: Floats = np.ones(n_cells)  # (M,)

    @property
    def remembered(self) -> set[int]:
        """The clusters that another mention can join, as of the last `release`."""
        joined = {owner.cluster for owner in self.owners}
        if self.open is not None and self.open.antecedent is not None:
            joined.add(self.open.antecedent.cluster)
        return joined

    @property
    def needed(self) -> int:
        """The first token that a mention which hasn't ended may begin with."""
        first = self.position
        if self.name is not None:
            first -= (first - self.name) % LONGEST
        return first if self.open is None else min(first, self.open.start)

    def _agree(self, mention: OpenMention, earlier: Mention) -> bool:
        """Can both be about the same?"""
        gender = mention.gender
        return not gender or self.genders.get(earlier.cluster, gender) == gender

    def read(self, update: Array, overwrite: Array, kinds: Kinds) -> list[Found]:
        """Go on with a block of tokens; the mentions that have ended by its last one.

        update, overwrite (Array): Gates (n, M), together at most 1 per token.
        kinds (Kinds): The tokens' TokenKind and what else is known of them (n,).
        """
        is_name = (kinds & NAME) > 0
        names = np.stack((*self._names(is_name), is_name), axis=1)  # (n, 3)
        kinds, genders = kinds & KIND, kinds & GENDER
        added = update.astype(np.float64)
        written = added + overwrite  # (n, M)
        enough = written.sum(axis=1) >= self.threshold
        tokens = np.flatnonzero(enough & (kinds != TokenKind.NEVER))
        # Small gates write nothing but wear away what is stored: one product for
        # all tokens since the last written one, in the same order for any blocks.
        left = np.concatenate(([self.left], 1.0 - overwrite, [np.ones_like(self.left)]))
        lefts = np.multiply.reduceat(left, [0, *(tokens + 2)], axis=0)
        lefts, self.left = lefts[:-1], lefts[-1]  # (written tokens, M), (M,)
        found: list[Found] = []
        start = 0
        while start < len(tokens):
            if len(self.shares) == 2 * CAPACITY:
                self.release()
            stop = start + min(STRIDE, 2 * CAPACITY - len(self.shares))
            some = tokens[start:stop]
            alone = kinds[some] == TokenKind.ALONE
            found += self._write(
                self._links(added[some], written[some], lefts[start:stop]),
                # A name that is rather somebody new links to nothing; pronouns never
                np.where(alone, 0.0, (written - added)[some].sum(axis=1)).tolist(),
                alone.tolist(),
                genders[some].tolist(),
                names[some].tolist(),
            )
            start = stop
        self.position += len(kinds)
        if self.open is not None and self.open.end < self.position:
            found.append(self._close(self.open, len(self.shares)))
        return found

    def _names(self, is_name: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
        """Where each token's name starts and ends, as far as it is read; each (n,).

        A token that is in no name is taken for one of a single word. The open mention
        goes on if it is a name that does.
        """
        numbers = self.position + np.arange(len(is_name))
        if not len(numbers):
            return numbers, numbers
        begins = is_name & ~np.r_[self.name is not None, is_name[:-1]]
        first = np.maximum.accumulate(np.where(begins, numbers, -1))
        if self.name is not None:
            first[first < 0] = self.name
        self.name = int(first[-1]) if is_name[-1] else None
        starts = np.where(is_name, numbers - (numbers - first) % LONGEST, numbers)
        over = np.r_[np.flatnonzero(~is_name), len(is_name)]
        stops = self.position + over[np.searchsorted(over, np.arange(len(is_name)))]
        ends = np.where(is_name, np.minimum(stops, starts + LONGEST), numbers + 1)
        if self.open and self.open.end == self.position > starts[0]:
            self.open.end = int(ends[0])
        return starts, ends

    def finish(self) -> list[Found]:
        """The text ends here: the mention that was still open, if any."""
        if self.open is None:
            return []
        return [self._close(self.open, len(self.shares))]

    def _links(self, update: Floats, written: Floats, left: Floats) -> Floats:
        """Remember n written tokens; their links to K remembered ones and each other.

        left (Floats): What tokens since the last written one left in each cell (n, M).
        RETURNS (Floats): (n, K + n), below zero unless the column comes first.
        """
        n_old, n_new = len(self.shares), len(update)
        # Each share, step by step, is a product that begins with what was written
        factors = np.empty((len(self.left), n_new + 1, n_old + n_new))
        factors[:, 0, :n_old] = self.shares.T
        factors[:, 1:] = left.T[:, :, None]
        among = factors[:, :, n_old:]  # (M, n + 1, n)
        among[:, np.tri(n_new, n_new + 1, dtype=bool).T] = 1.0
        steps = np.arange(n_new)
        among[:, steps + 1, steps] = written.T
        shares = np.multiply.accumulate(factors, axis=1)
        self.shares = np.ascontiguousarray(shares[:, -1].T)
        links = (shares[:, 1:] * update.T[:, :, None]).sum(axis=0)
        links[:, n_old:][~np.tri(n_new, k=-1, dtype=bool)] = -1.0
        return links  # type: ignore[no-any-return]

    def _write(
        self,
        links: Floats,
        new: list[float],
        alone: list[bool],
        genders: list[int],
        names: list[tuple[int, int, int]],
    ) -> Iterator[Found]:
        """Decide token by token what is one mention, and what it links to.

        A mention has a name as a whole, whichever of its words were written.

        names (list[tuple[int, int, int]]): Start and end of each token's name, and
            whether it is one.
        """
        _, n_shares = links.shape
        n_before = n_shares - len(names)
        steps = np.arange(len(names))
        bests = latest_argmax(links)
        highest = links[steps, bests].tolist()
        previous = links[steps, n_before + steps - 1].tolist()
        for step, best in enumerate(bests.tolist()):
            start, end, is_name = names[step]
            probability = highest[step]
            if self.open is not None and (
                self.open.end < start
                or (
                    self.open.end == start
                    and (
                        alone[step]
                        or self.open.is_name
                        or previous[step] < self.threshold
                        or not self._continues(self.open, best)
                    )
                )
            ):
                yield self._close(self.open, n_before + step)
            mention = self.open = self.open or OpenMention(start, start)
            mention.end, mention.is_name = end, bool(is_name)
            if genders[step] and not mention.gender:
                mention.gender = genders[step]
                if mention.antecedent and not self._agree(mention, mention.antecedent):
                    mention.antecedent, mention.probability = None, 0.0
            n_closed = len(self.owners)
            if n_closed:
                # A mention's link goes past its own tokens, and past who it can't be
                if best >= n_closed or not self._agree(mention, self.owners[best]):
                    possible = links[step, :n_closed]
                    if mention.gender:
                        agree = [self._agree(mention, owner) for owner in self.owners]
                        possible = np.where(agree, possible, -1.0)
                    best = int(latest_argmax(possible))
                    probability = float(possible[best])
                if (
                    probability >= max(self.threshold, new[step])
                    and probability > mention.probability
                ):
                    mention.antecedent = self.owners[best]
                    mention.probability = probability
            if alone[step]:
                yield self._close(mention, n_before + step + 1)

    def _continues(self, mention: OpenMention, best: int) -> bool:
        """Was a token written where the open mention was, rather than to another?

        best (int): The remembered token that it has the best link to.
        """
        return best >= len(self.owners) or (
            mention.antecedent is not None
            and mention.antecedent.cluster == self.owners[best].cluster
        )

    def _close(self, mention: OpenMention, n_shares: int) -> Found:
        """n_shares (int): How many tokens were remembered when it ended."""
        antecedent = mention.antecedent
        cluster = self.n_clusters if antecedent is None else antecedent.cluster
        self.n_clusters = max(self.n_clusters, cluster + 1)
        closed = Mention(mention.start, mention.end, cluster)
        if mention.gender:
            self.genders.setdefault(cluster, mention.gender)
        self.owners += [closed] * (n_shares - len(self.owners))
        self.open = None
        link = antecedent and Link(antecedent, closed, mention.probability)
        return Found(closed, link)

    def release(self) -> None:
        """Forget tokens that no later token can link to.

        That is a token whose shares are all below the threshold, as updates sum to at
        most 1, and one with no share above a later token's that the same mentions can
        link to, as shares shrink alike and a tie goes to the later. An open mention's
        tokens don't count as later: its own link goes past them. Beyond CAPACITY the
        weakest go, which may lose a link; but of each cluster the strongest stays as
        long as any do, or somebody whom few words mean would be lost among many.
        """
        n_closed = len(self.owners)
        clusters = np.array([owner.cluster for owner in self.owners], dtype=np.int64)
        genders = np.array([self.genders.get(c, 0) for c in clusters.tolist()])
        alike = clusters[:, None] == clusters
        alike |= (genders[:, None] == genders) & (genders > 0)
        strength = self.shares.max(axis=1, initial=0.0)  # (K,)
        below = np.all(self.shares[:, None] <= self.shares, axis=2)  # (K, K)
        below[:n_closed, :n_closed] &= alike
        below[:n_closed, n_closed:] = False
        keep = (strength >= self.threshold) & ~np.triu(below, 1).any(axis=1)
        if keep.sum() > CAPACITY:
            ranked = np.argsort((strength * keep)[:n_closed], kind="stable")
            leads = dict(zip(clusters[ranked].tolist(), ranked.tolist(), strict=True))
            strength[list(leads.values())] += 1.0
            keep[np.argsort(strength * keep)[:-CAPACITY]] = False
        if self.open is not None:
            keep[-1] = True  # the next token may continue from it
        self.owners = [self.owners[k] for k in np.flatnonzero(keep[:n_closed])]
        self.shares = self.shares[keep]
        self.genders = {c: self.genders[c] for c in self.remembered & {*self.genders}}


def decode(
    reading: Reading, threshold: float, kinds: Kinds, *, singletons: bool = True
) -> list[Cluster]:
    """The clusters of a document in the order of their first mention.

    threshold (float): A token is in a mention, and a link counts, from here; except for
        pronouns, it must also be at least as likely as that the token is something new.
        Links between different genders don't count.
    kinds (Kinds): Each token's TokenKind and what else is known of it (T,).
    singletons (bool): Keep mentions that nothing links to. There are many of them, so
        without they are let go of as soon as nothing can.
    """
    decoder = Decoder(reading.n_cells, threshold)
    clusters: dict[int, Cluster] = {}
    recent: set[int] = set()  # clusters that were not done with, and newer ones
    for block in reading.blocks():
        some = kinds[decoder.position :][: len(block)]
        found = decoder.read(block.update, block.overwrite, some)
        extend_clusters(clusters, found)
        recent |= {mention.cluster for mention, _ in found}
        if not singletons and decoder.position % TIDY == 0:
            decoder.release()
            for done in recent - decoder.remembered:
                if len(clusters[done].mentions) == 1:
                    del clusters[done]
            recent &= decoder.remembered
    extend_clusters(clusters, decoder.finish())
    return [c for c in clusters.values() if singletons or len(c.mentions) > 1]


def extend_clusters(clusters: dict[int, Cluster], found: list[Found]) -> None:
    """Put mentions and links that were found next where they belong."""
    for mention, link in found:
        if mention.cluster not in clusters:
            clusters[mention.cluster] = Cluster([], [])
        cluster = clusters[mention.cluster]
        cluster.mentions.append(mention)
        if link is not None:
            cluster.links.append(link)


def latest_argmax(values: Floats) -> Any:
    """The last index of the highest value, of one row or of each."""
    return values.shape[-1] - 1 - values[..., ::-1].argmax(axis=-1)
