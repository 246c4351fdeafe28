"""What clusters are called, and those that are found again by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat

N_NAMES = 16  # of one cluster, and words of them, by which it is known
N_GENDERS = 4
N_FORGOTTEN = 20_000  # clusters that left the memory

Name = tuple[int, int]  # a hash of words, and a gender


@dataclass
class Names:
    """The names of clusters that may be referred to, and of those that are forgotten.

    called (dict): Of each cluster, its names and how often it had them; words of names
        are there too, which were said on their own so often, or never.
    forgotten (dict): By name, forgotten clusters: cluster, latest mention, how often.
        The latest come last.
    """

    called: dict[int, dict[Name, int]] = field(default_factory=dict)
    forgotten: dict[Name, tuple[int, int, int]] = field(default_factory=dict)

    def write(self, cluster: int, name: Name, words: Sequence[int]) -> None:
        """A cluster was called by a name of these words."""
        names = self.called.setdefault(cluster, {})
        parts = ((word, 0) for word in words if word)
        for key, times in ((name, 1), *zip(parts, repeat(0))):
            if key in names or len(names) < N_NAMES:
                names[key] = names.get(key, 0) + times

    def has(self, cluster: int, name: int, words: Sequence[int]) -> bool:
        """Is a cluster called by this name, or by one of its words?"""
        known = {word for word, _ in self.called.get(cluster, ())}
        return name in known or not known.isdisjoint(words)

    def namesake(
        self, clusters: Iterable[tuple[int, int]], name: Name
    ) -> tuple[int, int] | None:
        """Of clusters with a mention each, the one that had this name most often."""
        counts = {
            known: self.called[known[0]].get(name, 0)
            for known in clusters
            if name[0] and known[0] in self.called
        }
        best = max(counts, key=counts.__getitem__, default=None)
        return best if best is not None and counts[best] else None

    def forget(self, cluster: int, latest: int) -> None:
        """A cluster left the memory: keep what it was called most often.

        latest (int): The number of its latest mention.
        """
        called = self.called.pop(cluster, None)
        if not called:
            return
        counts: dict[int, int] = {}
        for (word, _), count in called.items():
            counts[word] = counts.get(word, 0) + count
        best = max(counts, key=counts.__getitem__)
        gender = max(gender for word, gender in called if word == best)
        rivals = self._forgotten_as(best, gender)
        if all(self.forgotten[rival][2] <= counts[best] for rival in rivals):
            for rival in rivals:  # nobody would be found by them
                del self.forgotten[rival]
            self.forgotten[best, gender] = cluster, latest, counts[best]
        if len(self.forgotten) > N_FORGOTTEN:
            del self.forgotten[next(iter(self.forgotten))]

    def find_forgotten(self, name: Name) -> Name | None:
        """The name of the forgotten cluster that is called so, if there is one."""
        known = self._forgotten_as(*name) if name[0] else []
        return max(known, key=lambda name: self.forgotten[name][2], default=None)

    def bring_back(self, name: Name) -> tuple[int, int]:
        """A forgotten cluster may be referred to again: it, and its latest mention."""
        cluster, latest, count = self.forgotten.pop(name)
        self.called[cluster] = {name: count}
        return cluster, latest

    def mention_forgotten(self, name: Name, number: int) -> tuple[int, int]:
        """One mention is of a forgotten cluster: it, and its latest mention before."""
        cluster, latest, count = self.forgotten.pop(name)
        self.forgotten[name] = cluster, number, count + 1
        return cluster, latest

    def _forgotten_as(self, name: int, gender: int) -> list[Name]:
        """What is forgotten of this name, unless genders differ."""
        genders = {gender, 0} if gender else range(N_GENDERS)
        return [(name, g) for g in genders if (name, g) in self.forgotten]
