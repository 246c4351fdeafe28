"""The public corpora, where they lie beside the repository."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.formats import read_documents
from refreader_spacy.corpora.gold_docs import MentionCounts, gold_doc
from refreader_spacy.corpora.ontonotes import mark_ontonotes
from refreader_spacy.corpora.splits import Part, annotated_files, part_of


def documents(nlp, folder: Path, part: Part = Part.ALL) -> Iterator[GoldDocument]:
    for file in part_of(annotated_files([folder]), part):
        yield from read_documents(file, nlp)


@pytest.mark.parametrize(
    ("folder", "part", "n_documents", "n_tokens", "n_mentions"),
    [
        ("gum/dev", Part.ALL, 30, 28119, 7897),
        ("ontogum/dev", Part.ALL, 30, 28119, 3818),
        ("litbank", Part.DEV, 10, 20816, 3010),
    ],
)
def test_nothing_is_lost(data, nlp, folder, part, n_documents, n_tokens, n_mentions):
    counts = MentionCounts()
    docs = [
        gold_doc(document, nlp.vocab, counts=counts)
        for document in documents(nlp, data / folder, part)
    ]
    assert len(docs) == n_documents
    assert sum(map(len, docs)) == n_tokens
    assert counts.written + counts.dropped + counts.skipped == n_mentions
    assert counts.dropped <= 1


def test_text_is_put_together_as_it_was_written(data, nlp):
    path = data / "gum" / "dev" / "GUM_interview_cyclone.conllu"
    lines = path.read_text("utf8").splitlines()
    texts = [line.removeprefix("# text = ") for line in lines if "# text = " in line]
    (document,) = read_documents(path, nlp)
    doc = gold_doc(document, nlp.vocab)
    assert [sentence.text for sentence in doc.sents] == texts
    assert document.genre == "interview"
    assert {turn.speaker for turn in document.turns} >= {"Wikinews", "Titley"}


def test_most_of_what_ontonotes_has_is_marked(data, nlp):
    marks = [
        mention.in_ontonotes
        for document in documents(nlp, data / "gum" / "dev")
        for members in mark_ontonotes(document, data / "ontogum").entities.values()
        for mention in members
    ]
    # Two entities may have one span: 3,688 of OntoNotes' spans are in GUM
    assert 3688 <= sum(mark is True for mark in marks) <= 3700
    assert None not in marks
