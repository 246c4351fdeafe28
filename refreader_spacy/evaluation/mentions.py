"""Gold and predicted clusters of one text, comparable whatever the tokens are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from refreader_spacy.annotation.index import cluster_keys
from refreader_spacy.corpora.anchors import anchor
from refreader_spacy.errors import Errors
from refreader_spacy.lang.en.anaphor_kinds import AnaphorKind, anaphor_kinds
from refreader_spacy.lang.en.heads import head_index

Places = NDArray[np.intp]


@dataclass(frozen=True)
class ScoredMention:
    """What scores need to know of a mention.

    Places in the text are characters, white space not counted, where both
    tokenisations begin a token.

    span (tuple[int, int]): Where it begins and ends.
    head (tuple[int, int]): Where its head begins, and how many shorter mentions have
        the same head: "Ann and Eve" may have that of "Ann".
    label (str): The type of the entity, or an empty string.
    """

    span: tuple[int, int]
    head: tuple[int, int]
    kind: AnaphorKind
    label: str


ScoredCluster = list[ScoredMention]


@dataclass(frozen=True)
class ScoredDocument:
    """The clusters of one text, singletons included."""

    key: list[ScoredCluster]
    response: list[ScoredCluster]

    def by(
        self, place: Callable[[ScoredMention], Hashable]
    ) -> tuple[list[list[Hashable]], list[list[Hashable]]]:
        """Key and response with mentions that are known by this, for the metrics."""
        key, response = (
            [[place(mention) for mention in cluster] for cluster in clusters]
            for clusters in (self.key, self.response)
        )
        return key, response


def scored_document(example: Example, prefix: str) -> ScoredDocument:
    """The clusters in the span groups `{prefix}_1`, `_2` and so on of both Docs."""
    key_starts, response_starts = (
        token_starts(doc) for doc in (example.reference, example.predicted)
    )
    if key_starts[-1] != response_starts[-1]:
        raise ValueError(
            Errors.R112.format(
                key=example.reference.text[:40],
                n_key=key_starts[-1],
                response=example.predicted.text[:40],
                n_response=response_starts[-1],
            )
        )
    shared = np.intersect1d(key_starts, response_starts)
    return ScoredDocument(
        key=_clusters(example.reference, prefix, key_starts, shared),
        response=_clusters(example.predicted, prefix, response_starts, shared),
    )


def token_starts(doc: Doc) -> Places:
    """The place where each token begins, and where the last one ends (T + 1,)."""
    sizes = [len("".join(token.text.split())) for token in doc]
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.intp)])


def span_heads(group: SpanGroup) -> list[int]:
    """The head token of each span, as the group's attrs say or by rules."""
    heads = group.attrs.get("heads", ())
    if len(heads) != len(group):
        heads = [-1] * len(group)
    return [
        head if span.start <= head < span.end else _head_by_rule(span)
        for span, head in zip(group, heads, strict=True)
    ]


def cluster_groups(doc: Doc, prefix: str) -> list[SpanGroup]:
    """The span groups `{prefix}_1`, `_2` and so on."""
    return [doc.spans[key] for key in cluster_keys(doc, {prefix})]


def _clusters(
    doc: Doc, prefix: str, starts: Places, shared: Places
) -> list[ScoredCluster]:
    groups = [(group, span_heads(group)) for group in cluster_groups(doc, prefix)]
    heads = [head for _, heads in groups for head in heads]
    kinds = iter(anaphor_kinds([token.text for token in doc], heads))
    before = shared[np.searchsorted(shared, starts, side="right") - 1].tolist()
    after = shared[np.searchsorted(shared, starts)].tolist()
    clusters = [
        [
            ScoredMention(
                span=(before[span.start], after[span.end]),
                head=(before[head], 0),
                kind=next(kinds),
                label=span.label_,
            )
            for span, head in zip(group, heads, strict=True)
        ]
        for group, heads in groups
    ]
    return _with_ranks(clusters)


def _with_ranks(clusters: list[ScoredCluster]) -> list[ScoredCluster]:
    """Tell mentions with the same head apart."""
    spans_of: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for mention in chain.from_iterable(clusters):
        spans_of[mention.head].add(mention.span)

    def ranked(mention: ScoredMention) -> ScoredMention:
        spans = spans_of[mention.head]
        if len(spans) == 1:
            return mention
        by_size = sorted(spans, key=lambda span: (span[1] - span[0], span))
        head = (mention.head[0], by_size.index(mention.span))
        return replace(mention, head=head)

    return [[ranked(mention) for mention in cluster] for cluster in clusters]


def _head_by_rule(span: Span) -> int:
    words = [token.text for token in span]
    head = head_index(words, 0, len(words))
    return int(span.start) + anchor(words, head, len(words))
