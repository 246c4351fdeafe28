"""Annotated texts <-> gold Docs.

All supervision is in span groups, because they survive a DocBin without user data:

- `coref_clusters_1`, `coref_clusters_2`, ...: one for each entity, singletons included,
  by first mention; spans in text order, with the entity's type as their label. Attrs:
  `heads`, the token of each span that links it; `ontonotes`, whether OntoNotes' scheme
  has each span too; `split_antecedents`, the groups that this entity is made of.
- `speakers`: a span for each turn, with the speaker as its label.
- `annotation`: one span over all, its label the scheme. Attrs: `document`, `genre`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup
from spacy.vocab import Vocab

from refreader_spacy.corpora.anchors import anchors
from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.span_groups import ANNOTATION, PREFIX, SPEAKERS
from refreader_spacy.lang.en.heads import head_index

HeadRule = Callable[[Sequence[str], int, int], int]  # words, start, end -> head


@dataclass
class MentionCounts:
    """What became of the mentions of a corpus."""

    documents: int = 0
    written: int = 0
    moved: int = 0  # of those: their head was another mention's
    dropped: int = 0  # no token of theirs was left
    skipped: int = 0  # discontinuous, or without a token

    def of(self, documents: Iterable[GoldDocument]) -> Iterator[GoldDocument]:
        """Count documents that are written as they are, one after the other."""
        for document in documents:
            self.documents += 1
            self.written += sum(map(len, document.entities.values()))
            self.skipped += document.n_skipped
            yield document

    def __str__(self) -> str:
        parts = [f"{self.written} mentions"]
        if self.moved:
            parts.append(f"{self.moved} linked by another token than their head")
        if self.dropped:
            parts.append(f"{self.dropped} left out, as no token was left for them")
        if self.skipped:
            parts.append(f"{self.skipped} left out, as they are in several parts")
        return "; ".join(parts)


def gold_doc(
    document: GoldDocument,
    vocab: Vocab,
    *,
    head_rule: HeadRule = head_index,
    keep_all: bool = False,
    counts: MentionCounts | None = None,
) -> Doc:
    """The Doc with its gold groups.

    head_rule (HeadRule): Gives the heads of mentions that have none.
    keep_all (bool): Keep mentions that no token is left for, with the head of another.
    counts (MentionCounts | None): What became of the mentions is added to it.
    """
    starts = {0, *document.sentence_starts}
    is_start: list[bool | int | None] = [
        i in starts for i in range(len(document.words))
    ]
    doc = Doc(
        vocab,
        words=document.words,
        spaces=[*document.spaces] if document.spaces else None,
        sent_starts=is_start,
    )
    write_gold(doc, document, head_rule=head_rule, keep_all=keep_all, counts=counts)
    return doc


def write_gold(
    doc: Doc,
    document: GoldDocument,
    *,
    head_rule: HeadRule = head_index,
    keep_all: bool = False,
    counts: MentionCounts | None = None,
) -> None:
    """Write the gold groups on a Doc that has the document's tokens."""
    counts = counts or MentionCounts()
    # Of two that want one token, whatever is linked to something goes first
    sizes = {entity: len(members) for entity, members in document.entities.items()}
    mentions = sorted(
        ((m, entity) for entity, ms in document.entities.items() for m in ms),
        key=lambda item: (item[0].start, -item[0].end, -sizes[item[1]], item[1]),
    )
    spans = [(m.start, m.end) for m, _ in mentions]
    heads = [
        head_rule(document.words, m.start, m.end) if m.head is None else m.head
        for m, _ in mentions
    ]
    found = anchors(document.words, spans, heads)
    entities: dict[str, list[tuple[GoldMention, int]]] = {}
    for (mention, entity), token, head in zip(
        mentions, found.tokens, heads, strict=True
    ):
        if token is not None or keep_all:
            token = head if token is None else token
            entities.setdefault(entity, []).append((mention, token))
    keys = {entity: f"{PREFIX}_{n}" for n, entity in enumerate(entities, start=1)}
    for entity, members in entities.items():
        attrs: dict[str, Any] = {"heads": [token for _, token in members]}
        if all(m.in_ontonotes is not None for m, _ in members):
            attrs["ontonotes"] = [m.in_ontonotes for m, _ in members]
        parts = document.split_antecedents.get(entity, [])
        if parts := [keys[part] for part in parts if part in keys]:
            attrs["split_antecedents"] = parts
        labelled = [(m.start, m.end, m.label) for m, _ in members]
        _write_group(doc, keys[entity], labelled, attrs)
    if document.turns:
        _write_group(doc, SPEAKERS, document.turns, {})
    whole = [(0, len(doc), document.scheme)] if len(doc) else []
    attrs = {"document": document.id, "genre": document.genre}
    _write_group(doc, ANNOTATION, whole, attrs)
    counts.documents += 1
    counts.written += sum(map(len, entities.values()))
    counts.moved += found.n_moved
    counts.dropped += 0 if keep_all else found.n_dropped
    counts.skipped += document.n_skipped


def document_of(doc: Doc, prefix: str = PREFIX) -> GoldDocument:
    """The other way: what span groups, gold or predicted, say of a Doc."""
    annotation = doc.spans.get(ANNOTATION)
    known = annotation.attrs if annotation is not None else {}
    is_split = doc.has_annotation("SENT_START")
    document = GoldDocument(
        id=str(known.get("document", "")),
        scheme=annotation[0].label_ if annotation else "",
        genre=str(known.get("genre", "")),
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        sentence_starts=[
            t.i for t in doc if t.i == 0 or (is_split and t.is_sent_start)
        ],
    )
    for key, group in doc.spans.items():
        if not key.startswith(f"{prefix}_"):
            continue
        unknown = [None] * len(group)
        heads = group.attrs.get("heads") or unknown
        kept = group.attrs.get("ontonotes") or unknown
        for span, head, is_kept in zip(group, heads, kept, strict=True):
            mention = GoldMention(span.start, span.end, head, span.label_, is_kept)
            document.add_mention(key, mention)
        if parts := group.attrs.get("split_antecedents"):
            document.split_antecedents[key] = list(parts)
    for span in doc.spans.get(SPEAKERS, ()):
        document.add_turn(span.start, span.end, span.label_)
    return document


def _write_group(
    doc: Doc, key: str, spans: Sequence[tuple[int, int, str]], attrs: dict[str, Any]
) -> None:
    made = [Span(doc, start, end, label=label) for start, end, label in spans]
    doc.spans[key] = SpanGroup(doc, name=key, spans=made, attrs=attrs)
