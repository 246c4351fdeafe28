"""From gold clusters to what the default reader should decide.

While the reader learns, the memory does what is right: each mention is met by the cells
as they would be if all before it had been put where they belong, or nearly.

Shapes: N tokens that are read, K mentions, P pairs of a mention and a cell, F features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example

from refreader_spacy.corpora.span_groups import gold_clusters
from refreader_spacy.lang.en.lexemes import Column, Role
from refreader_spacy.protocol import Array, Longs
from refreader_spacy.reader.annotated import speaker_hashes
from refreader_spacy.reader.cells import Cells, Extra
from refreader_spacy.reader.features import FEATURES, N_FEATURES, pair_features
from refreader_spacy.reader.mentions import (
    LONGEST,
    Field,
    MentionTable,
    describe_mentions,
)
from refreader_spacy.reader.network import SCHEMES, TYPES
from refreader_spacy.reader.soft_labels import soft_labels_of
from refreader_spacy.reader.tokens import Ints, TextState, token_rows

NEAR = 12  # cells by recency whose scores are always learned from
ANNOTATION = "annotation"  # a span group whose span's label is the annotation scheme
_NAMES = [feature.name for feature in FEATURES]
PERSON = TYPES.index("person")
_HEAD, _NAME = _NAMES.index("head in cell"), _NAMES.index("name overlap")


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
class Pairs:
    """Mentions and the cells that they met, mention by mention.

    mention (Longs): The mention of each pair (P,).
    latest (Longs): The latest mention in its cell (P,).
    features (NDArray): (P, F).
    target (Array): How likely the mention is of the cell's entity (P,).
    near (NDArray): Cells that are always learned from (P,).
    instance (Longs): Mentions that were put into the same cell, one after the other,
        have the same number (K,).
    """

    mention: Longs
    latest: Longs
    features: NDArray[np.uint8]
    target: Array
    near: NDArray[np.bool_]
    instance: Longs


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


class OracleMemory:
    """Cells that hold what they should, or nearly."""

    def __init__(self, n_cells: int, noise: float, rng: np.random.Generator) -> None:
        self.cells = Cells.empty(n_cells)
        self.noise = noise
        self.rng = rng
        self.cell_of: dict[int, int] = {}  # where each entity is to be found
        self.entity = np.full(n_cells, -1)  # what each cell began as
        self.instance = np.full(n_cells, -1)
        self.n_instances = 0

    def walk(
        self,
        table: MentionTable,
        clusters: Longs,
        soft: Sequence[dict[int, float]] | None = None,
    ) -> Pairs:
        """Meet each mention with the memory, then write it where it belongs.

        clusters (Longs): The gold entity of each mention (K,).
        soft (Sequence | None): How likely each mention is of the cell whose latest
            mention is the key, where a teacher has said so.
        """
        fields = self.cells.fields
        instance = np.zeros(len(table), np.int64)
        counts, latest, features, target, near = [], [], [], [], []
        for i, cluster in enumerate(clusters.tolist()):
            used = np.flatnonzero(fields[:, Extra.COUNT])
            values = pair_features(table, i, self.cells, used)
            right = self.cell_of.get(cluster, -1)
            last = fields[used, Extra.LATEST]
            counts.append(len(used))
            latest.append(last)
            features.append(values)
            if soft is None:
                target.append((used == right).astype(np.float32))
            else:
                said = soft[i]
                target.append(
                    np.array([said.get(j, 0.0) for j in last.tolist()], np.float32)
                )
            recent = np.argsort(np.argsort(-last)) < NEAR
            alike = (values[:, _HEAD] == 2) | (values[:, _NAME] > 2)
            near.append(recent | alike | (target[-1] > 0.01))
            cell = self._place(right, used[np.argsort(-last)[: NEAR // 2]])
            new = cell < 0
            if new:
                cell = self.cells.least_salient()
                self._begin(cell, cluster)
            self.cell_of.setdefault(cluster, cell)
            self.cells.write(cell, table, i, i, new)
            instance[i] = self.instance[cell]
        return Pairs(
            np.repeat(np.arange(len(table)), counts),
            np.concatenate([*latest, np.zeros(0)]).astype(np.int64),
            np.concatenate([*features, np.zeros((0, N_FEATURES), np.uint8)]),
            np.concatenate([*target, np.zeros(0, np.float32)]),
            np.concatenate([*near, np.zeros(0, bool)]),
            instance,
        )

    def _place(self, right: int, recent: Longs) -> int:
        """The right cell, or now and then a wrong one; -1 is a new one."""
        if not self.noise or self.rng.random() >= self.noise:
            return right
        if len(recent) and (right < 0 or self.rng.random() < 0.5):
            return int(self.rng.choice(recent))
        return -1

    def _begin(self, cell: int, cluster: int) -> None:
        """Overwrite a cell with an entity."""
        before = int(self.entity[cell])
        if self.cell_of.get(before) == cell:
            del self.cell_of[before]
        # Whoever was put there by mistake is lost too
        for entity in [e for e, c in self.cell_of.items() if c == cell]:
            del self.cell_of[entity]
        self.cell_of[cluster] = cell
        self.entity[cell] = cluster
        self.instance[cell] = self.n_instances
        self.n_instances += 1
