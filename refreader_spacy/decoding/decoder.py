"""From what a reader decided to mentions and the clusters that they are in.

One pass from left to right; what later mentions need to know is bounded by the
reader's memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refreader_spacy.decoding.names import N_GENDERS, Names
from refreader_spacy.decoding.speakers import Speakers
from refreader_spacy.protocol import BLOCK, Mentions, Part

KEPT = 0.5  # a scheme has a mention from this probability
OF_PEOPLE = (1, 2)  # genders


class Decided(NamedTuple):
    """A mention at its head; its right edge is not known yet.

    number (int): Of the mention, among all that the reader decided on.
    antecedent (int): The number of the mention that it links to, or -1.
    instead_of (int): The number of a mention that was only the beginning of this one,
        or -1: after "Ruth", nobody can know that "Calder" comes, or after "the
        software" that it is "the software giant".
    """

    number: int
    head: int
    start: int
    cluster: int
    antecedent: int
    probability: float
    label: int
    instead_of: int = -1


class Forgotten(NamedTuple):
    """At this mention's head, a cluster left the memory."""

    head: int
    cluster: int


class Clue(NamedTuple):
    """What tells who one mention is: see `Clues`."""

    name: int = 0
    words: Sequence[int] = ()
    is_name: bool = False
    gender: int = 0
    person: int = 0
    lost: int = -1


class Begun(NamedTuple):
    """The latest mention, which may be the beginning of the next one.

    first_name (bool): Is it its cluster's first name?
    """

    number: int
    start: int
    head: int
    is_name: bool
    first_name: bool
    entity: int
    cluster: int
    gender: int
    label: int


@dataclass
class Decoder:
    """Which mentions count, and which cluster each is in.

    The reader's memory decides, with three exceptions. Where speakers are known, *I* is
    whoever speaks, and *you* is not: between two speakers, it is the other one; and a
    speaker's name is the speaker. Who was stored by a first name is whoever the whole
    name is of. And an entity that the memory has forgotten is found again by the name
    that it had most often, in all its words but titles, unless the genders differ:
    where the memory takes the name for somebody new; for somebody who had no name so
    far, and is the forgotten one from then on; or for somebody whose names have none of
    its words, and who goes on without it.

    threshold (float): A link counts from this probability. A mention with a weaker one
        is left by itself, and the entity goes on without it.
    scheme (int | None): The annotation scheme whose mentions count; None: all.
    """

    threshold: float
    scheme: int | None = None
    n_clusters: int = 0
    # Of entities that may be referred to: the cluster, and its latest mention's number
    clusters: dict[int, tuple[int, int]] = field(default_factory=dict)
    speakers: Speakers = field(default_factory=Speakers)
    names: Names = field(default_factory=Names)
    begun: Begun | None = None

    def decide(self, part: Part) -> Iterator[Decided | Forgotten]:
        """The mentions of a part that count, at their heads; and what is forgotten."""
        m = part.mentions
        counts = (
            np.ones(len(m), bool)
            if self.scheme is None
            else m.schemes[:, self.scheme] >= KEPT
        )
        # Not all at once: the objects of a novel's mentions would take much memory
        rows = chain.from_iterable(
            mention_rows(m, counts, slice(start, start + BLOCK))
            for start in range(0, len(m), BLOCK)
        )
        for number, head, start, entity, is_new, p, label, count, clue in rows:
            if clue.lost >= 0 and (lost := self._forget(clue.lost)) is not None:
                yield Forgotten(head, lost)
            if is_new:
                self.clusters.pop(entity, None)
            begun = self._begun_name(start, label, clue)
            if count or begun is not None:
                noun = self._begun_noun(start, head)
                before = self.clusters.get(entity)
                known, p = self._antecedent(entity, number, p, clue)
                if begun is not None and known is None:
                    known, p = (begun.cluster, begun.number), 1.0
                cluster, antecedent = known or (self.n_clusters, -1)
                self.n_clusters += known is None
                is_name = bool(clue.name)
                first_name = is_name and cluster not in self.names.called
                self._write(entity, cluster, number, clue)
                if begun is not None and begun.entity in self.clusters:
                    self.clusters[begun.entity] = cluster, number
                self.begun = Begun(
                    *(number, start, head, is_name, first_name),
                    *(entity, cluster, clue.gender, label),
                )
                part_of_this = begun or noun
                instead_of = -1 if part_of_this is None else part_of_this.number
                yield Decided(
                    number, head, start, cluster, antecedent, p, label, instead_of
                )
                if not clue.person:
                    yield from self._left(head, entity, before, cluster, antecedent)

    def _begun_noun(self, start: int, head: int) -> Begun | None:
        """The latest mention, if it is a noun phrase whose noun belongs to the next:
        "the software" of "the software giant".

        Not in "her mother", nor of a name, which is mentioned in "New York mayor".
        """
        begun = self.begun
        if begun is None or begun.is_name or begun.start != start:
            return None
        return begun if start < begun.head == head - 1 else None

    def _begun_name(self, start: int, label: int, clue: Clue) -> Begun | None:
        """The latest mention, if this one is the same name with more words.

        "Apple" is no beginning of "Apple CEO Tim Cook": the two are of other kinds.
        """
        begun = self.begun
        if begun is None or not begun.first_name:
            return None
        if not clue.name or begun.start != start:
            return None
        same_gender = clue.gender == begun.gender and clue.gender in OF_PEOPLE
        return begun if same_gender or label == begun.label != 0 else None

    def _antecedent(
        self, entity: int, number: int, probability: float, clue: Clue
    ) -> tuple[tuple[int, int] | None, float]:
        """The cluster of a mention and the latest mention in it, or None if it is a new
        one; and the probability."""
        known = self.clusters.get(entity)
        is_likely = known is not None and probability >= self.threshold
        if clue.person:
            return self._person(known if is_likely else None, probability, clue)
        if speaker := self.speakers.clusters.get(clue.name):
            return speaker, 1.0
        name = clue.name, clue.gender
        has_name = known is not None and bool(self.names.called.get(known[0]))
        if forgotten := self.names.find_forgotten(name):
            if known is None or (is_likely and not has_name):
                self.clusters[entity] = found = self.names.bring_back(forgotten)
                return found, 1.0
            if not self.names.has(known[0], clue.name, clue.words):
                return self.names.mention_forgotten(forgotten, number), 1.0
        if not is_likely:
            return None, probability
        named = None if has_name else self.names.namesake(self.clusters.values(), name)
        if named is None:
            return known, probability
        self.clusters[entity] = named
        return named, 1.0

    def _person(
        self, likely: tuple[int, int] | None, probability: float, clue: Clue
    ) -> tuple[tuple[int, int] | None, float]:
        """The same of an *I* or *you* whose speaker is known.

        likely (tuple[int, int] | None): The cluster that the reader put it into, and
            the latest mention in that.
        """
        meant = self.speakers.find(clue.person) or self._named_before(clue.person)
        if meant is not None:
            return meant, 1.0
        if likely is None or not self.speakers.can_be(clue.person, likely[0]):
            return None, probability
        # Whoever has a name has another one than who says "I" here
        has_name = clue.person > 0 and bool(self.names.called.get(likely[0]))
        return (None if has_name else likely), probability

    def _named_before(self, person: int) -> tuple[int, int] | None:
        """Who has the name of the one that says *I* for the first time."""
        if person < 0:
            return None
        found = [
            self.names.namesake(self.clusters.values(), (person, gender))
            for gender in range(N_GENDERS)
        ]
        named = next((known for known in found if known is not None), None)
        can_be = named is not None and self.speakers.can_be(person, named[0])
        return named if can_be else None

    def _left(
        self,
        head: int,
        entity: int,
        before: tuple[int, int] | None,
        cluster: int,
        antecedent: int,
    ) -> Iterator[Forgotten]:
        """The clusters that a mention's name has left without an entity."""
        after, _ = self.clusters.get(entity, (-1, -1))
        left = None
        if before is not None and after != before[0]:
            left = before[0]  # the entity is another one now
        elif antecedent >= 0 and after != cluster:
            left = cluster  # no entity of the memory is this one
        if left is not None and left not in self._growing():
            yield Forgotten(head, left)

    def _write(self, entity: int, cluster: int, number: int, clue: Clue) -> None:
        """A mention of an entity was put into a cluster."""
        before, _ = self.clusters.get(entity, (cluster, -1))
        if before == cluster:
            self.clusters[entity] = cluster, number
            if clue.is_name and clue.name:
                self.names.write(cluster, (clue.name, clue.gender), clue.words)
        if clue.person:
            self.speakers.write(clue.person, cluster, number)

    def _forget(self, entity: int) -> int | None:
        """An entity left the memory; its cluster, if nothing else is in that."""
        known = self.clusters.pop(entity, None)
        if known is None or known[0] in self._growing():
            return None
        self.names.forget(*known)
        return known[0]

    def _growing(self) -> set[int]:
        """The clusters that can still be referred to."""
        known = (*self.clusters.values(), *self.speakers.clusters.values())
        return {cluster for cluster, _ in known}

    def release(self, part: Part) -> set[int]:
        """Forget what the reader has forgotten; the clusters that can still grow."""
        held = {*part.held.tolist()}
        for entity in [e for e in self.clusters if e not in held]:
            self._forget(entity)
        return self._growing()


def mention_rows(
    m: Mentions, counts: NDArray[np.bool_], some: slice
) -> Iterable[tuple[int, int, int, int, bool, float, int, bool, Clue]]:
    """Some mentions: number, head, start, entity, whether that is new, probability,
    label, whether it counts, clues."""
    return zip(
        range(m.first, m.first + len(m))[some],
        *(x[some].tolist() for x in (m.head, m.start, m.entity, m.is_new)),
        *(x[some].tolist() for x in (m.probability, m.label, counts)),
        clue_rows(m, some),
        strict=True,
    )


def clue_rows(mentions: Mentions, some: slice) -> Iterable[Clue]:
    """The clues of some mentions; a reader may give none."""
    clues = mentions.clues
    if clues is None:
        return repeat(Clue(), len(mentions.head[some]))
    columns = (clues.name, clues.words, clues.is_name)
    more = (clues.gender, clues.person, clues.lost)
    return map(Clue, *(column[some].tolist() for column in (*columns, *more)))
