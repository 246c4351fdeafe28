"""Who means whom by *I* and *you*, where speakers are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

N_SPEAKERS = 1000  # who are told apart
ADDRESSED = 2**40  # added to a speaker: whom they talk to


@dataclass
class Speakers:
    """The clusters of speakers.

    A person is a hash of who speaks, for an *I*; for a *you*, minus that. It is also
    the hash of the name.

    clusters (dict): Of those who said *I*, and of whoever a speaker called *you* before
        another one said *I*: the cluster and its latest mention's number. The latest
        come last.
    """

    clusters: dict[int, tuple[int, int]] = field(default_factory=dict)

    def find(self, person: int) -> tuple[int, int] | None:
        """The cluster of who is certainly meant by a person, and a mention in it."""
        speaker = abs(person)
        if person > 0:
            if speaker in self.clusters:
                return self.clusters[speaker]
            # The first *I*, which answers to somebody's *you*
            keys = [key for key in self.clusters if key > ADDRESSED]
            keys = [key for key in keys if key != ADDRESSED + speaker]
        else:
            keys = self._others(speaker) or [ADDRESSED + speaker]
            keys = [key for key in keys if key in self.clusters]
        return self.clusters[keys[0]] if len(keys) == 1 else None

    def can_be(self, person: int, cluster: int) -> bool:
        """Is a cluster not of somebody else: of an *I*, of no other speaker; of a
        *you*, not of the one who says it?"""
        owners = {known: speaker for speaker, (known, _) in self.clusters.items()}
        owner = owners.get(cluster)
        return owner is None if person > 0 else owner != -person

    def write(self, person: int, cluster: int, number: int) -> None:
        """A mention of a person was put into a cluster."""
        if person > 0:
            for key in [key for key in self.clusters if key > ADDRESSED]:
                if self.clusters[key][0] == cluster:
                    del self.clusters[key]  # now it is known who that is
            self._write(person, cluster, number)
        elif not self._others(-person):
            self._write(ADDRESSED - person, cluster, number)

    def _write(self, key: int, cluster: int, number: int) -> None:
        self.clusters.pop(key, None)
        self.clusters[key] = cluster, number
        if len(self.clusters) > N_SPEAKERS:
            del self.clusters[next(iter(self.clusters))]

    def _others(self, speaker: int) -> list[int]:
        """Who else said *I*; more than two aren't looked for."""
        others = (key for key in self.clusters if key != speaker)
        return list(islice((key for key in others if key < ADDRESSED), 2))
