"""Whole Docs through a reader: short ones together, long ones in blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc

from refreader_spacy.protocol import (
    BLOCK,
    Clues,
    Mentions,
    Part,
    Reader,
    ReaderModel,
    Reading,
    reader_of,
)

AT_ONCE = 8 * BLOCK  # tokens of texts that are encoded together


def read_docs(
    model: ReaderModel, docs: Sequence[Doc], *, gates: bool = False
) -> list[Part]:
    """What a model's reader decides about whole Docs, in their order.

    Docs of similar length are read together, long ones in blocks, so that memory
    doesn't grow with what is read.
    """
    reader = reader_of(model)
    parts: dict[int, Part] = {}
    for group in groups_by_length([len(doc) for doc in docs]):
        if len(group) == 1 and len(docs[group[0]]) > BLOCK and not reader.lookahead:
            parts[group[0]] = joined(_blocks(reader, docs[group[0]], gates))
        else:
            states = [reader.start() for _ in group]
            found = reader.read(
                states, [docs[i] for i in group], gates=gates, last=True
            )
            parts.update(zip(group, found, strict=True))
    return [parts[i] for i in range(len(docs))]


def groups_by_length(lengths: Sequence[int]) -> Iterable[list[int]]:
    """Indices of documents of similar length, the longest first."""
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if group and (len(group) + 1) * lengths[group[0]] > AT_ONCE:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def _blocks(reader: Reader, doc: Doc, gates: bool) -> Iterator[Part]:
    """What a reader decides about a long Doc, block by block."""
    state = reader.start()
    for start in range(0, len(doc), BLOCK):
        stop = min(start + BLOCK, len(doc))
        yield from reader.read(
            [state], [doc[start:stop]], gates=gates, last=stop == len(doc)
        )


def joined(parts: Iterable[Part]) -> Part:
    """Parts of one text, one after the other, as one.

    Column by column, each of which is let go: there is never a second copy of all.
    """
    first, n_parts, held = 0, 0, np.zeros(0, np.int64)
    pieces: dict[type, dict[str, list[Any]]]
    pieces = {kind: defaultdict(list) for kind in (Part, Mentions, Clues, Reading)}
    for part in parts:
        mentions = part.mentions
        for owner in (part, mentions, mentions.clues, part.gates):
            for name, value in vars(owner).items() if owner is not None else ():
                if isinstance(value, np.ndarray):
                    pieces[type(owner)][name].append(value)
        first = mentions.first if n_parts == 0 else first
        n_parts, held = n_parts + 1, part.held

    def columns(kind: type) -> dict[str, Any]:
        found = pieces[kind]
        return {name: np.concatenate(found.pop(name)) for name in list(found)}

    has_clues = len(pieces[Clues]["name"]) == n_parts
    has_gates = len(pieces[Reading]["update"]) == n_parts
    clues = Clues(**columns(Clues)) if has_clues else None
    gates = Reading(**columns(Reading)) if has_gates else None
    whole = Mentions(first=first, clues=clues, **columns(Mentions))
    return Part(**{**columns(Part), "mentions": whole, "held": held, "gates": gates})
