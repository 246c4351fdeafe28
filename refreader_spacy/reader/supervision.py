"""From gold clusters to what the default reader should decide.

Shapes: N tokens that are read, K mentions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from refreader_spacy.corpora.span_groups import ANNOTATION, gold_clusters
from refreader_spacy.lang.en.lexemes import Column, Role
from refreader_spacy.protocol import Array, Longs
from refreader_spacy.reader.annotated import speaker_hashes
from refreader_spacy.reader.mentions import (
    LONGEST,
    Field,
    describe_mentions,
)
from refreader_spacy.reader.network import SCHEMES, TYPES
from refreader_spacy.reader.oracle_memory import OracleMemory, Pairs
from refreader_spacy.reader.soft_labels import soft_labels_of
from refreader_spacy.reader.tokens import Ints, TextState, token_rows

PERSON = TYPES.index("person")


class GoldMention(NamedTuple):
    """A gold mention by the rows of its head, first and last token."""

    head: int
    start: int
    last: int
    cluster: int
    type: int  # a place in TYPES, or -1
    ontonotes: int  # would OntoNotes have it? -1 where that is not known
    number: int  # in the order of the Doc's groups


@dataclass(frozen=True)
class Supervision:
    """All that the loss of one Doc needs beside the network's outputs.

    scheme (int): Who annotated it, as a place in SCHEMES.
    detection (Array): How likely each token is a mention's head (N,).
    """

    scheme: int
    detection: Array
    head: Longs
    start: Longs
    last: Longs
    type: Longs
    ontonotes: Longs
    kind: Longs
    pairs: Pairs

    def __len__(self) -> int:
        return len(self.detection)


@dataclass
class Supervisor:
    """Makes the supervision of examples.

    noise (float): How often a mention is put into a wrong cell.
    """

    n_cells: int
    noise: float = 0.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __call__(self, example: Example, prefix: str) -> Supervision:
        """What the reader should decide about the tokens of an example's prediction."""
        doc = example.predicted
        tokens = token_rows(doc, TextState(), _aligned_speakers(example))
        gold = gold_mentions(example, prefix, tokens.places)
        gold = with_beginnings(gold, tokens.rows)
        columns = np.array(gold, np.int64).reshape(len(gold), len(GoldMention._fields))
        head, start, last, cluster, kind, ontonotes, number = columns.T
        start = np.maximum(start, head - LONGEST)
        table = describe_mentions(tokens.rows, head, start)
        soft = soft_labels_of(example.reference)
        memory = OracleMemory(
            self.n_cells, self.noise if soft is None else 0.0, self.rng
        )
        links = None if soft is None else soft.by_mention(number)
        detection = np.zeros(len(tokens), np.float32)
        detection[head] = 1.0 if soft is None else soft.detection[number]
        return Supervision(
            scheme_of(example.reference),
            detection,
            head,
            start,
            last,
            kind,
            ontonotes,
            table.fields[:, Field.KIND].astype(np.int64),
            memory.walk(table, cluster, links),
        )


def scheme_of(doc: Doc) -> int:
    """Who annotated a Doc; the first scheme where nothing says so."""
    for span in doc.spans.get(ANNOTATION, ()):
        if span.label_ in SCHEMES:
            return SCHEMES.index(span.label_)
    return 0


def gold_mentions(example: Example, prefix: str, places: Longs) -> list[GoldMention]:
    """Gold mentions in the order of their heads, in rows of the predicted Doc.

    A mention whose head another one has already is left out.

    places (Longs): The tokens that are read (N,).
    """
    row_of = np.full(len(example.predicted), -1)
    row_of[places] = np.arange(len(places))
    alignment = example.alignment.y2x
    found = []
    number = 0
    for cluster, group in enumerate(gold_clusters(example.reference, prefix)):
        heads = group.attrs.get("heads") or [span.end - 1 for span in group.spans]
        flags = group.attrs.get("ontonotes") or [-1] * len(heads)
        if len(heads) == 1:  # OntoNotes has no singletons, which says nothing of it
            flags = [-1]
        for span, head, flag in zip(group.spans, heads, flags, strict=True):
            rows = [row_of[alignment[t]] for t in (head, span.start, span.end - 1)]
            if all(len(r) and (r >= 0).all() for r in rows):
                first, last = int(rows[1][0]), int(rows[2][-1])
                kind = TYPES.index(span.label_) if span.label_ in TYPES[1:] else -1
                mention = (int(rows[0][-1]), first, last, cluster, kind, int(flag))
                found.append(GoldMention(*mention, number))
            number += 1
    found.sort()
    return [m for i, m in enumerate(found) if not i or m.head != found[i - 1].head]


def with_beginnings(gold: list[GoldMention], rows: Ints) -> list[GoldMention]:
    """Gold mentions, and those that people's names begin with, by their heads.

    After "Ruth", nobody can know that "Calder" comes. So she is stored there, and the
    whole name is a link to her.
    """
    heads = {mention.head for mention in gold}
    found = list(gold)
    for mention in gold:
        if rows[mention.head, Column.CAPITAL] == 0 or mention.type not in (-1, PERSON):
            continue
        for head in range(mention.head - 1, mention.start - 1, -1):
            row = rows[head]
            if head in heads or row[Column.CAPITAL] == 0 or row[Column.FUNCTION]:
                break
            if row[Column.ROLE] == Role.TITLE:
                break
            if mention.type == PERSON or row[Column.GIVEN]:
                heads.add(head)
                found.append(mention._replace(head=head))
    return sorted(found)


def _aligned_speakers(example: Example) -> list[int] | None:
    speakers = speaker_hashes(example.reference)
    if speakers is None:
        return None
    aligned = [0] * len(example.predicted)
    for token, speaker in enumerate(speakers):
        for place in example.alignment.y2x[token]:
            aligned[place] = speaker
    return aligned
