"""CoNLL-U with coreference in its last column, as CorefUD has it: written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote

from refreader_spacy.corpora.brackets import bracketed
from refreader_spacy.corpora.document import (
    GoldDocument,
    GoldMention,
    without_white_space,
)

FIELDS = "eid-etype-head-other"


def corefud_lines(documents: Iterable[GoldDocument]) -> Iterator[str]:
    """The documents, without lemmas, tags and dependencies.

    Entities have numbers that are unique in the file, as CorefUD's tools expect. Tokens
    of white space only are left out, as a form can't be empty.
    """
    n_entities = 0
    for document in map(without_white_space, documents):
        names = {e: f"e{n_entities + n}" for n, e in enumerate(document.entities, 1)}
        n_entities += len(names)
        yield f"# newdoc id = {' '.join(document.id.split())}"
        yield f"# global.Entity = {FIELDS}"
        if document.genre:
            yield f"# meta::genre = {document.genre}"
        yield from _sentences(document, names)


def _sentences(document: GoldDocument, names: dict[str, str]) -> Iterator[str]:
    entities, splits = _entities(document, names), _splits(document, names)
    speakers = {
        token: turn.speaker
        for turn in document.turns
        for token in range(turn.start, turn.end)
    }
    for number, (start, end) in enumerate(document.sentences(), start=1):
        yield f"# sent_id = {' '.join(document.id.split())}-{number}"
        if start in speakers:
            yield f"# speaker = {' '.join(speakers[start].split())}"
        words = [" ".join(word.split()) for word in document.words[start:end]]
        spaces = document.spaces[start:end] or [True] * len(words)
        text = "".join(
            word + " " * space for word, space in zip(words, spaces, strict=True)
        )
        yield f"# text = {text.strip()}"
        for i, (word, space) in enumerate(zip(words, spaces, strict=True)):
            misc = [
                *([f"Entity={entities[start + i]}"] if start + i in entities else []),
                *([] if space else ["SpaceAfter=No"]),
                *([f"SplitAnte={splits[start + i]}"] if start + i in splits else []),
            ]
            columns = [str(i + 1), word, *"_______", "|".join(misc) or "_"]
            yield "\t".join(columns)
        yield ""


def _entities(document: GoldDocument, names: dict[str, str]) -> dict[int, str]:
    """The value of Entity= at each token that has one."""
    opened, closed, alone = bracketed(document)

    def opening(entity: str, mention: GoldMention) -> str:
        head = "" if mention.head is None else str(mention.head - mention.start + 1)
        label = quote(mention.label, safe="").replace("-", "%2D")
        return f"({names[entity]}-{label}-{head}-"

    found = {}
    for token in {*opened, *closed, *alone}:
        parts = [
            *(f"{names[entity]})" for entity, _ in closed[token]),
            *(opening(entity, mention) for entity, mention in opened[token]),
            *(f"{opening(entity, mention)})" for entity, mention in alone[token]),
        ]
        found[token] = "".join(parts)
    return found


def _splits(document: GoldDocument, names: dict[str, str]) -> dict[int, str]:
    """The value of SplitAnte= at the first mention of an entity that others make up."""
    found: dict[int, list[str]] = {}
    for entity, parts in document.split_antecedents.items():
        if entity in names:
            first = min(mention.start for mention in document.entities[entity])
            pairs = [f"{names[p]}<{names[entity]}" for p in parts if p in names]
            found.setdefault(first, []).extend(pairs)
    return {token: ",".join(pairs) for token, pairs in found.items() if pairs}
