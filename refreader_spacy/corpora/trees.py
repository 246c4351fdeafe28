"""Heads of spans in a dependency tree."""

from __future__ import annotations

NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM", "SYM"))


class Tree:
    """Who depends on whom in a document, as far as it is known."""

    def __init__(self) -> None:
        self.tags: list[str] = []  # of each token, universal
        self.cores: dict[tuple[int, int], list[int]] = {}  # of spans: words that count
        self._parents: list[int | None] = []  # None: the root
        self._is_known: list[bool] = []

    def add(self, parent: int | None, *, is_known: bool) -> None:
        """The next token's parent, which may come later."""
        self._parents.append(parent)
        self._is_known.append(is_known)

    def head(self, start: int, end: int) -> int | None:
        """The token of a span whose parent is outside.

        Some spans have several, as where a modifier was attached to a verb: then it is
        the first noun among them. GUM's `minspan` gives the last, which is why the core
        of a span counts only where the tree doesn't say.
        """
        core = self.cores.get((start, end)) or []
        if not all(self._is_known[start:end]):
            return core[0] if core else None
        tops = [i for i in range(start, end) if not self._inside(i, start, end)]
        nouns = [i for i in tops if self.tags[i] in NOMINAL]
        if len(tops) == 1 or not (nouns or core):
            return tops[0] if tops else start  # a circle has no top
        return (nouns or core)[0]

    def _inside(self, token: int, start: int, end: int) -> bool:
        parent = self._parents[token]
        return parent is not None and start <= parent < end
