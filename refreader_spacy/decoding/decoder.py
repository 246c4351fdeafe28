"""From what a reader decided to mention spans, links and clusters.

One pass from left to right; what later mentions need to know is bounded by the
reader's memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, repeat
from typing import NamedTuple

import numpy as np

from refreader_spacy.protocol import Mentions, Part

KEPT = 0.5  # a scheme has a mention from this probability
N_SPEAKERS = 1000  # who are told apart
ADDRESSED = 2**40  # added to a speaker: whom they talk to
N_NAMES = 16  # of one entity, and words of them, by which it is known
N_GENDERS = 4
OF_PEOPLE = (1, 2)
N_FORGOTTEN = 20_000  # names of entities that left the memory


Name = tuple[int, int]  # a hash of words, and a gender


class Mention(NamedTuple):
    """Tokens `start` to `end` (exclusive) around a head, and their cluster."""

    start: int
    end: int
    head: int
    cluster: int
    label: str = ""


class Link(NamedTuple):
    """A mention and the latest earlier one of the same entity."""

    antecedent: Mention
    anaphor: Mention
    probability: float


class Cluster(NamedTuple):
    """One entity: mentions and the links between them in text order."""

    mentions: list[Mention]
    links: list[Link]


class Decided(NamedTuple):
    """A mention at its head; its right edge is not known yet.

    number (int): Of the mention, among all that the reader decided on.
    antecedent (int): The number of the mention that it links to, or -1.
    instead_of (int): The number of a mention that was only the beginning of this one,
        or -1: after "Ruth", nobody can know that "Calder" comes.
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
    """The first name of somebody or something: more of it may come."""

    number: int
    start: int
    entity: int
    cluster: int
    gender: int
    label: int


@dataclass
class Decoder:
    """Which mentions count, and which cluster each is in.

    The reader's memory decides, with three exceptions. Where speakers are known, *I* is
    whoever speaks, and *you* is not: between two speakers, it is the other one. Who was
    stored by a first name is whoever the whole name is of. And an entity that the
    memory has forgotten is found again by the name that it had most often, in all its
    words but titles, unless the genders differ: where the memory takes the name for
    somebody new; for somebody who had no name so far, and is the forgotten one from
    then on; or for somebody whose names have none of its words, and who goes on without
    it.

    threshold (float): A link counts from this probability. A mention with a weaker one
        is left by itself, and the entity goes on without it.
    scheme (int | None): The annotation scheme whose mentions count; None: all.
    """

    threshold: float
    scheme: int | None = None
    n_clusters: int = 0
    # Of entities that may be referred to: the cluster, and its latest mention's number
    clusters: dict[int, tuple[int, int]] = field(default_factory=dict)
    # The same of speakers who said *I*, and of whoever a speaker called *you* before
    # another one said *I*; the latest last
    speakers: dict[int, tuple[int, int]] = field(default_factory=dict)
    # What such clusters are called, by name and gender, and how often; words of names
    # are there too, which were said on their own so often, or never
    names: dict[int, dict[Name, int]] = field(default_factory=dict)
    # By name, forgotten clusters: cluster, latest mention, how often; the latest last
    forgotten: dict[Name, tuple[int, int, int]] = field(default_factory=dict)
    begun: Begun | None = None  # the latest mention, where it may be half a name

    def decide(self, part: Part) -> Iterator[Decided | Forgotten]:
        """The mentions of a part that count, at their heads; and what is forgotten."""
        m = part.mentions
        counts = (
            np.ones(len(m), bool)
            if self.scheme is None
            else m.schemes[:, self.scheme] >= KEPT
        )
        rows = zip(
            range(m.first, m.first + len(m)),
            *(x.tolist() for x in (m.head, m.start, m.entity, m.is_new)),
            *(x.tolist() for x in (m.probability, m.label, counts)),
            each_clue(m),
            strict=True,
        )
        for number, head, start, entity, is_new, p, label, count, clue in rows:
            if clue.lost >= 0 and (lost := self._forget(clue.lost)) is not None:
                yield Forgotten(head, lost)
            if is_new:
                self.clusters.pop(entity, None)
            begun = self._begun_by(start, label, clue)
            if count or begun is not None:
                before = self.clusters.get(entity)
                known, p = self._antecedent(entity, number, p, clue)
                if begun is not None and known is None:
                    known, p = (begun.cluster, begun.number), 1.0
                cluster, antecedent = known or (self.n_clusters, -1)
                self.n_clusters += known is None
                first_name = bool(clue.name) and cluster not in self.names
                self._write(entity, cluster, number, clue)
                if begun is not None and begun.entity in self.clusters:
                    self.clusters[begun.entity] = cluster, number
                self.begun = (
                    Begun(number, start, entity, cluster, clue.gender, label)
                    if first_name
                    else None
                )
                instead_of = -1 if begun is None else begun.number
                yield Decided(
                    number, head, start, cluster, antecedent, p, label, instead_of
                )
                if not clue.person:
                    yield from self._left(head, entity, before, cluster, antecedent)

    def _begun_by(self, start: int, label: int, clue: Clue) -> Begun | None:
        """The latest mention, if this one is the same name with more words.

        "Apple" is no beginning of "Apple CEO Tim Cook": the two are of other kinds.
        """
        begun = self.begun
        if begun is None or not clue.name or begun.start != start:
            return None
        same_gender = clue.gender == begun.gender and clue.gender in OF_PEOPLE
        return begun if same_gender or label == begun.label != 0 else None

    def _antecedent(
        self, entity: int, number: int, probability: float, clue: Clue
    ) -> tuple[tuple[int, int] | None, float]:
        """The cluster of a mention and the latest mention in it, or None if it is a new
        one; and the probability."""
        known = self.clusters.get(entity)
        if clue.person:
            return self._of_person(clue.person, known, probability)
        called = {} if known is None else self.names.get(known[0], {})
        is_likely = known is not None and probability >= self.threshold
        if by_name := self._found_again(clue):
            if known is None or (is_likely and not called):
                return self._come_back(entity, by_name), 1.0
            if not is_called(called, clue):
                return self._mentioned(by_name, number), 1.0
        if is_likely and not called and (other := self._namesake(clue)):
            self.clusters[entity] = other
            return other, 1.0
        return (known if is_likely else None), probability

    def _namesake(self, clue: Clue) -> tuple[int, int] | None:
        """The cluster of this name that the memory has, and a mention in it."""
        counts = {
            known: self.names[known[0]].get((clue.name, clue.gender), 0)
            for known in self.clusters.values()
            if clue.name and known[0] in self.names
        }
        best = max(counts, key=counts.__getitem__, default=None)
        return best if best is not None and counts[best] else None

    def _come_back(self, entity: int, name: Name) -> tuple[int, int]:
        """From now on, an entity of the memory is the forgotten one of this name."""
        cluster, latest, count = self.forgotten.pop(name)
        self.names[cluster] = {name: count}
        self.clusters[entity] = cluster, latest
        return cluster, latest

    def _mentioned(self, name: Name, number: int) -> tuple[int, int]:
        """This one mention is of the forgotten entity of this name."""
        cluster, latest, count = self.forgotten.pop(name)
        self.forgotten[name] = cluster, number, count + 1
        return cluster, latest

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
                self._call(cluster, clue)
        if clue.person > 0:
            for key in [key for key in self.speakers if key > ADDRESSED]:
                if self.speakers[key][0] == cluster:
                    del self.speakers[key]  # now it is known who that is
            self._speaks(clue.person, cluster, number)
        elif clue.person < 0 and not self._others(-clue.person):
            self._speaks(ADDRESSED - clue.person, cluster, number)

    def _of_person(
        self, person: int, known: tuple[int, int] | None, probability: float
    ) -> tuple[tuple[int, int] | None, float]:
        """The cluster of an *I* or a *you*, and how sure that is; None: a new one."""
        meant = self._meant(person)
        if meant is not None:
            return self.speakers[meant], 1.0
        if known is None or probability < self.threshold:
            return None, probability
        owners = {cluster: speaker for speaker, (cluster, _) in self.speakers.items()}
        owner = owners.get(known[0])
        is_free = owner is None if person > 0 else owner != -person
        return (known, probability) if is_free else (None, probability)

    def _meant(self, person: int) -> int | None:
        """Who is certainly meant by an *I* or a *you*: a key of `speakers`, or None."""
        speaker = abs(person)
        if person > 0:
            if speaker in self.speakers:
                return speaker
            # The first *I*, which answers to somebody's *you*
            found = [key for key in self.speakers if key > ADDRESSED]
            found = [key for key in found if key != ADDRESSED + speaker]
        else:
            found = self._others(speaker) or [ADDRESSED + speaker]
            found = [key for key in found if key in self.speakers]
        return found[0] if len(found) == 1 else None

    def _others(self, speaker: int) -> list[int]:
        """Who else said *I*; more than two aren't looked for."""
        others = (key for key in self.speakers if key != speaker)
        return list(islice((key for key in others if key < ADDRESSED), 2))

    def _speaks(self, speaker: int, cluster: int, number: int) -> None:
        self.speakers.pop(speaker, None)
        self.speakers[speaker] = cluster, number
        if len(self.speakers) > N_SPEAKERS:
            del self.speakers[next(iter(self.speakers))]

    def _call(self, cluster: int, clue: Clue) -> None:
        names = self.names.setdefault(cluster, {})
        words = ((word, 0) for word in clue.words if word)
        for name, times in (((clue.name, clue.gender), 1), *zip(words, repeat(0))):
            if name in names or len(names) < N_NAMES:
                names[name] = names.get(name, 0) + times

    def _forget(self, entity: int) -> int | None:
        """An entity left the memory; its cluster, if nothing else is in that."""
        known = self.clusters.pop(entity, None)
        if known is None or known[0] in self._growing():
            return None
        if called := self.names.pop(known[0], None):
            self._remember(known, called)
        return known[0]

    def _growing(self) -> set[int]:
        """The clusters that can still be referred to."""
        known = (*self.clusters.values(), *self.speakers.values())
        return {cluster for cluster, _ in known}

    def _remember(self, known: tuple[int, int], called: dict[Name, int]) -> None:
        """Keep what a forgotten cluster was called most often."""
        counts: dict[int, int] = {}
        for (name, _), count in called.items():
            counts[name] = counts.get(name, 0) + count
        name = max(counts, key=counts.__getitem__)
        gender = max(gender for each, gender in called if each == name)
        rivals = self._of_name(name, gender)
        if all(self.forgotten[rival][2] <= counts[name] for rival in rivals):
            for rival in rivals:  # nobody would be found by them
                del self.forgotten[rival]
            self.forgotten[name, gender] = *known, counts[name]
        if len(self.forgotten) > N_FORGOTTEN:
            del self.forgotten[next(iter(self.forgotten))]

    def _found_again(self, clue: Clue) -> Name | None:
        """The name of the forgotten cluster that a mention is of, if there is one."""
        found = self._of_name(clue.name, clue.gender) if clue.name else []
        return max(found, key=lambda name: self.forgotten[name][2], default=None)

    def _of_name(self, name: int, gender: int) -> list[Name]:
        """What is forgotten of this name, unless genders differ."""
        genders = {gender, 0} if gender else range(N_GENDERS)
        return [(name, g) for g in genders if (name, g) in self.forgotten]

    def release(self, part: Part) -> set[int]:
        """Forget what the reader has forgotten; the clusters that can still grow."""
        held = {*part.held.tolist()}
        for entity in [e for e in self.clusters if e not in held]:
            self._forget(entity)
        return self._growing()


def each_clue(mentions: Mentions) -> Iterable[Clue]:
    """The clues of each mention; a reader may give none."""
    clues = mentions.clues
    if clues is None:
        return repeat(Clue(), len(mentions))
    columns = (clues.name, clues.words, clues.is_name)
    more = (clues.gender, clues.person, clues.lost)
    return map(Clue, *(column.tolist() for column in (*columns, *more)))


def is_called(called: Iterable[Name], clue: Clue) -> bool:
    """Do an entity's names have this one, or one of its words?"""
    known = {name for name, _ in called}
    return clue.name in known or not known.isdisjoint(clue.words)


def decode(
    part: Part,
    threshold: float,
    *,
    labels: Sequence[str],
    scheme: int | None = None,
    singletons: bool = True,
) -> list[Cluster]:
    """The clusters of a whole text in the order of their first mention.

    labels (Sequence[str]): The reader's entity types.
    scheme (int | None): Whose mentions count, as a place in the reader's schemes.
    singletons (bool): Keep mentions that nothing links to.
    """
    end_of = dict(zip(part.closed.tolist(), part.ends.tolist(), strict=True))
    decided = [
        d for d in Decoder(threshold, scheme).decide(part) if isinstance(d, Decided)
    ]
    head_after = {d.instead_of: d.head for d in decided}  # of beginnings
    found: dict[int, list[Decided]] = {}
    seen: set[tuple[int, int]] = set()  # two heads may have come out with one span
    for d in decided:
        span = d.start, end_of[d.number]
        # A beginning that was open when its mention went on was never anything else
        if d.number in head_after and span[1] > head_after[d.number]:
            continue
        if span not in seen:
            seen.add(span)
            found.setdefault(d.cluster, []).append(d)
    clusters = []
    for number, everything in found.items():
        whole = without_beginnings(everything, end_of)
        members = [d for d in whole if d.number not in head_after]
        if not members or (not singletons and len(members) == 1):
            continue
        label = cluster_label(members, labels)
        mentions = {
            d.number: Mention(d.start, end_of[d.number], d.head, number, label)
            for d in members
        }
        links = [
            Link(mentions[before.number], mentions[d.number], d.probability)
            for before, d in pairwise(members)
        ]
        clusters.append(Cluster(list(mentions.values()), links))
    return clusters


def without_beginnings(
    members: Sequence[Decided], end_of: dict[int, int]
) -> list[Decided]:
    """Mentions of one entity without those that another goes on with.

    After "Ruth", nobody can know that "Calder" comes: both are heads, and "Ruth Calder"
    is the mention.
    """
    longest: dict[int, int] = {}
    for d in members:
        longest[d.start] = max(longest.get(d.start, 0), end_of[d.number])
    return [d for d in members if end_of[d.number] == longest[d.start]]


def cluster_label(members: Sequence[Decided], labels: Sequence[str]) -> str:
    """The entity type that most of its mentions have; of equals, the earliest."""
    votes = [d.label for d in members if d.label]
    return labels[max(votes, key=votes.count)] if votes else ""
