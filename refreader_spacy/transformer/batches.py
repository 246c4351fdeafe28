"""Windows of many Docs, padded and put together for the transformer.

Shapes: N tokens of all Docs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs

from refreader_spacy.transformer.hub import Hub, Loaded
from refreader_spacy.transformer.pieces import (
    Ints,
    Window,
    pieces_of_text,
    pieces_of_tokens,
    rows_of,
    windows,
)

# Pieces that go through the transformer at once, padding included; on a CPU, what more
# would leave in memory is no longer in the cache when it is needed
MAX_PIECES = 4096
MAX_PIECES_ON_CPU = 1024


class Batch(NamedTuple):
    """Windows that go through the transformer together."""

    tokens: Ints  # places among the N tokens of all Docs
    inputs: ArgsKwargs


def batches(hub: Hub, loaded: Loaded, docs: Sequence[Doc]) -> Iterator[Batch]:
    """All windows of all Docs, those of similar length together."""
    cut = pieces_of_text if hub.lookahead else pieces_of_tokens
    found: list[Window] = []
    offset = 0
    for doc, pieces in zip(docs, cut(loaded.tokenizer, docs), strict=True):
        found += (
            window._replace(tokens=window.tokens + offset)
            for window in windows(pieces, hub.window, hub.stride, hub.lookahead)
        )
        offset += len(doc)
    group: list[Window] = []
    special = len(loaded.prefix) + len(loaded.suffix)
    at_most = MAX_PIECES_ON_CPU if _device(loaded).type == "cpu" else MAX_PIECES
    for window in sorted(found, key=lambda window: len(window.ids)):
        if group and (len(group) + 1) * (len(window.ids) + special) > at_most:
            yield _batch(loaded, group)
            group = []
        group.append(window)
    if group:
        yield _batch(loaded, group)


def _batch(loaded: Loaded, group: Sequence[Window]) -> Batch:
    prefix, suffix = loaded.prefix, loaded.suffix
    rows = [[*prefix, *window.ids, *suffix] for window in group]
    longest = max(len(row) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)  # masked, so any id does
    mask = torch.zeros_like(ids)
    first, stop = [], []
    for number, (row, window) in enumerate(zip(rows, group, strict=True)):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
        base = number * longest + len(prefix)
        first.append(base + window.first)
        stop.append(base + window.stop)
    places, starts = rows_of(np.concatenate(first), np.concatenate(stop))
    device = _device(loaded)
    arguments = (ids, mask, torch.from_numpy(places), torch.from_numpy(starts))
    inputs = ArgsKwargs(tuple(each.to(device) for each in arguments), {})
    return Batch(np.concatenate([window.tokens for window in group]), inputs)


def _device(loaded: Loaded) -> torch.device:
    device: torch.device = next(loaded.transformer.parameters()).device
    return device
