"""Mentions of what is mentioned once, for texts whose annotation leaves them out.

Where all mentions in training have another one of the same entity, a reader learns to
see few mentions, and to link nearly all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.gold_docs import document_of
from refreader_spacy.lang.en.phrases import COPULAS


def have_singletons(documents: Sequence[GoldDocument]) -> bool:
    """Is anything annotated that is mentioned once?"""
    return any(
        len(e) == 1 for document in documents for e in document.entities.values()
    )


def with_singletons(document: GoldDocument, nlp: Language) -> GoldDocument:
    """The document with what a pipeline takes for mentions, each an entity of its own.

    What begins or ends with an annotated mention that has its head is that mention with
    another edge, and left out. What somebody is said to be, as in "Ann is a doctor", is
    put to the entity that the pipeline takes it for: GUM has it there, OntoNotes not.
    """
    doc = nlp(Doc(nlp.vocab, words=document.words, spaces=document.spaces))
    by_edge: dict[tuple[str, int], set[int]] = {}  # the tokens of annotated mentions
    for start, end in document.mention_spans():
        for edge in (("start", start), ("end", end)):
            by_edge.setdefault(edge, set()).update(range(start, end))
    entity_at = {(m.start, m.end): e for e, ms in document.entities.items() for m in ms}
    found = {entity: [*mentions] for entity, mentions in document.entities.items()}
    for mentions in document_of(doc).entities.values():
        known = {entity_at.get((m.start, m.end)) for m in mentions} - {None}
        for m in mentions:
            edges = (("start", m.start), ("end", m.end))
            if any(m.head in by_edge.get(edge, ()) for edge in edges):
                continue
            before = document.words[m.start - 1].lower() if m.start else ""
            if len(known) == 1 and before in COPULAS:
                (entity,) = known
                found[str(entity)].append(m._replace(in_ontonotes=False))
            else:
                found[f"single {m.start} {m.end}"] = [m]
    for entity_mentions in found.values():
        entity_mentions.sort(key=lambda m: (m.start, -m.end))
    return replace(document, entities=found)
