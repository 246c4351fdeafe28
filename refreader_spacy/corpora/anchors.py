"""One token for each mention: where a reader that goes token by token links it.

The anchor is the head, moved right over the capitalised words that follow, so that the
anchor of "John Smith" is "Smith". No two mentions of a text share an anchor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refreader_spacy.lang.en.heads import AFTER_HEADS
from refreader_spacy.lang.en.words import COORDINATORS


@dataclass(frozen=True)
class Anchors:
    """Anchors of mentions, in their order, and what it took to keep them apart."""

    tokens: list[int | None]  # None: no token of the span was free
    n_moved: int  # to another token than its own, because that was taken

    @property
    def n_dropped(self) -> int:
        """How many mentions have none."""
        return sum(token is None for token in self.tokens)


def anchor(words: Sequence[str], head: int, end: int) -> int:
    """The last word of the name that a head begins; in a title, "Of" is none of it."""
    while head + 1 < end and words[head + 1][:1].isupper():
        if words[head + 1].lower() in AFTER_HEADS:
            break
        head += 1
    return head


def anchors(
    words: Sequence[str], spans: Sequence[tuple[int, int]], heads: Sequence[int]
) -> Anchors:
    """Anchors of the mentions of one text, each inside its span and all different.

    Of two mentions that want one token, the shorter keeps it. The longer takes the
    next coordinator after its head ("John and Mary"), else the nearest free token to
    the right, else to the left.

    spans (Sequence[tuple[int, int]]): First token and end (exclusive) of each mention.
    heads (Sequence[int]): The head of each.
    """
    shortest_first = sorted(
        range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i], i)
    )
    wanted = [
        anchor(words, head, end) for head, (_, end) in zip(heads, spans, strict=True)
    ]
    tokens: list[int | None] = [None] * len(spans)
    taken: set[int] = set()
    displaced = []
    for i in shortest_first:
        if wanted[i] in taken:
            displaced.append(i)
        else:
            tokens[i] = wanted[i]
            taken.add(wanted[i])
    for i in displaced:
        start, end = spans[i]
        token = next(_alternatives(words, start, end, wanted[i], taken), None)
        if token is not None:
            tokens[i] = token
            taken.add(token)
    n_found = sum(tokens[i] is not None for i in displaced)
    return Anchors(tokens, n_moved=n_found)


def _alternatives(
    words: Sequence[str], start: int, end: int, head: int, taken: set[int]
) -> Iterator[int]:
    right, left = range(head + 1, end), range(head - 1, start - 1, -1)
    for token in right:
        if words[token].lower() in COORDINATORS | {","} and token not in taken:
            yield token
    for token in (*right, *left):
        if token not in taken:
            yield token
