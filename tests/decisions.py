"""What a reader decided, made by hand, and the clusters in it."""

from dataclasses import replace

import numpy as np

from refreader_spacy.decoding.clusters import decode_clusters
from refreader_spacy.protocol import Clues, Mentions, Part

LABELS = ("", "person", "place")
PERSON, PLACE = 1, 2

# "Ann 's mother saw Ann . She left": two people, one mention inside another
NESTED = [
    (0, 0, 1, 0, True, 0.9, 1, 0.9),
    (2, 0, 3, 1, True, 0.9, 1, 0.9),
    (4, 4, 5, 0, False, 0.8, 1, 0.9),
    (6, 6, 7, 1, False, 0.4, 1, 0.9),
]


def part_of(rows, first=0, closed=None, held=None):
    """rows: (head, start, end, entity, is_new, probability, label, scheme)."""
    head, start, end, entity, is_new, probability, label, scheme = (
        zip(*rows, strict=True) if rows else [()] * 8
    )
    mentions = Mentions(
        first,
        np.array(head, np.int64),
        np.array(start, np.int64),
        np.array(entity, np.int64),
        np.array(is_new, bool),
        np.array(probability, np.float32),
        np.array(label, np.int64),
        np.array(scheme, np.float32).reshape(len(head), 1),
    )
    numbers = np.arange(first, first + len(head))
    held = np.array(sorted({*entity}) if held is None else held, np.int64)
    return Part(mentions, numbers, np.array(end, np.int64), held)


def decode(part, threshold, **settings):
    return list(decode_clusters(part, threshold, labels=LABELS, **settings))


def spans(clusters):
    return [[(m.start, m.end) for m in cluster.mentions] for cluster in clusters]


def with_clues(rows, **clues):
    """A part whose mentions have these clues; those that aren't given are nothing."""
    part = part_of(rows)
    nothing = {"name": 0, "is_name": False, "gender": 0, "person": 0, "lost": -1}
    columns = {k: clues.get(k, [v] * len(rows)) for k, v in nothing.items()}
    columns["words"] = clues.get("words", [[name] for name in columns["name"]])
    found = Clues(**{k: np.array(v) for k, v in columns.items()})
    return replace(part, mentions=replace(part.mentions, clues=found))


def heads_in(rows):
    return [(head, head, head + 1, *rest, 1, 0.9) for head, *rest in rows]


def named_parts(entities, names, lost, words=None, p=0.9):
    """Mentions one after the other, with entities and names; 0 is a pronoun."""
    seen: set[int] = set()
    rows = []
    for i, entity in enumerate(entities):
        rows.append((i, entity, entity not in seen, p))
        seen.add(entity)
    clues = {"name": names, "is_name": [name > 0 for name in names], "lost": lost}
    return with_clues(heads_in(rows), **clues, **({"words": words} if words else {}))
