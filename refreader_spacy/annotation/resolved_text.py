"""The text with anaphors replaced by their antecedents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import get_args
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span

from refreader_spacy.annotation.index import Index, index_of
from refreader_spacy.annotation.resolver import Anaphors, Replacement, Resolver
from refreader_spacy.errors import Errors

THRESHOLD = 0.75  # a link that is less likely replaces nothing


@dataclass(frozen=True)
class ResolvedText:
    """A text with replacements, in text order, and where everything went."""

    original: str
    replacements: list[Replacement]

    def __str__(self) -> str:
        return self.text

    @cached_property
    def text(self) -> str:
        """The text with all replacements made."""
        pieces = []
        end = 0
        for start, stop, words in self.replacements:
            pieces += [self.original[end:start], words]
            end = stop
        return "".join([*pieces, self.original[end:]])

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """Where characters of the resolved text come from.

        A part of a replacement comes from all that was replaced.
        """
        return moved(start, end, self._resolved_edges, self._original_edges)

    def to_resolved(self, start: int, end: int) -> tuple[int, int]:
        """Where characters of the original text are in the resolved text."""
        return moved(start, end, self._original_edges, self._resolved_edges)

    @cached_property
    def _original_edges(self) -> list[int]:
        """Where replacements begin and end, by turns."""
        return [edge for replaced in self.replacements for edge in replaced[:2]]

    @cached_property
    def _resolved_edges(self) -> list[int]:
        edges = []
        shift = 0
        for start, end, words in self.replacements:
            edges += [start + shift, start + shift + len(words)]
            shift += len(words) - (end - start)
        return edges


def moved(start: int, end: int, edges: list[int], others: list[int]) -> tuple[int, int]:
    """Offsets in another text that differs between the edges with even numbers and odd.

    What begins or ends within such a stretch takes all of it along.
    """
    before = bisect_right(edges, start)  # edges at or before it
    if before % 2:
        new_start = others[before - 1]
    else:
        new_start = start + (others[before - 1] - edges[before - 1] if before else 0)
    if end <= start:
        return new_start, new_start
    before = bisect_left(edges, end)  # edges before it
    if before % 2:
        return new_start, others[before]
    return new_start, end + (others[before - 1] - edges[before - 1] if before else 0)


def resolve(
    doc: Doc,
    *,
    anaphors: Anaphors = "pronouns",
    threshold: float = THRESHOLD,
    protected: Span | Iterable[Span] = (),
) -> ResolvedText:
    """Replace anaphors by the main mention of their entity.

    Pronouns of the third person are replaced; those of the first and second only where
    the Doc has speakers. Reflexives and relatives stay, and so does what can't be
    replaced by something better that reads well.

    anaphors (Anaphors): Only pronouns; or descriptions and shorter names as well; or
        pronouns that are their entity's first mention in the sentence.
    threshold (float): Nothing is replaced whose link is less likely.
    protected (Span | Iterable[Span]): Nothing is replaced in there.
    """
    if anaphors not in get_args(Anaphors):
        known = ", ".join(map(repr, get_args(Anaphors)))
        raise ValueError(Errors.R345.format(known=known, found=anaphors))
    spans = [protected] if isinstance(protected, Span) else protected
    resolver = Resolver(doc, anaphors, threshold, spans)
    return ResolvedText(resolver.text, resolver.replacements())


_resolved: WeakKeyDictionary[Doc, tuple[Index, ResolvedText]] = WeakKeyDictionary()


def resolved(doc: Doc) -> ResolvedText:
    """The Doc with its pronouns replaced, made once."""
    index = index_of(doc)
    kept = _resolved.get(doc)
    if kept is None or kept[0] is not index:
        kept = _resolved[doc] = index, resolve(doc)
    return kept[1]


def span_resolved_text(span: Span) -> str:
    """A part of the text with its pronouns replaced by what the whole text tells."""
    whole = resolved(span.doc)
    start, end = whole.to_resolved(span.start_char, span.end_char)
    return whole.text[start:end]
