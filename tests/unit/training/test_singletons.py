"""Single mentions that a reader adds, with one that is made by hand."""

from itertools import count

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.training.singletons import have_singletons, with_singletons

TEXT = "Ann lost the old key of her car . She found it ."
WORDS = TEXT.split()
NUMBERS = count()
KEY, CAR, HER, ANN = (2, 5, 4), (6, 8, 7), (6, 7, 6), (0, 1, 0)


def annotated() -> GoldDocument:
    """Ann, her and She; the whole key, and it."""
    document = GoldDocument("a", "own", words=WORDS, spaces=[True] * len(WORDS))
    for start in (0, 6, 9):
        document.add_mention("ann", GoldMention(start, start + 1))
    for start, end in ((2, 8), (11, 12)):
        document.add_mention("key", GoldMention(start, end))
    return document


def finding(*mentions: tuple[int, int, int], together: bool = False) -> Language:
    """A pipeline that finds these: start, end and head; each alone, or in a cluster."""
    nlp = spacy.blank("en")
    name = f"found_{next(NUMBERS)}"  # spaCy keeps the first component of a name

    @Language.component(name)
    def find(doc: Doc) -> Doc:
        groups = [mentions] if together else [(mention,) for mention in mentions]
        for number, group in enumerate(groups, start=1):
            spans = [Span(doc, start, end) for start, end, _ in group]
            attrs = {"heads": [head for _, _, head in group]}
            key = f"coref_clusters_{number}"
            doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)
        return doc

    nlp.add_pipe(name)
    return nlp


def test_only_what_is_not_annotated_is_added():
    document = annotated()
    # "the old key" begins as the annotated one does, and has its head
    found = with_singletons(document, finding(ANN, KEY, CAR, HER))
    added = [e for name, e in found.entities.items() if name not in document.entities]
    assert added == []


def test_what_begins_as_a_mention_but_has_another_head_is_added():
    document = annotated()
    del document.entities["key"]
    found = with_singletons(document, finding(ANN, KEY, CAR))
    added = [e for name, e in found.entities.items() if name not in document.entities]
    assert [[(m.start, m.end, m.head) for m in e] for e in added] == [[KEY], [CAR]]
    assert {*document.entities} == {"ann"}  # itself, it stays as it is


def test_one_single_mention_anywhere_is_enough_to_know_that_they_are_annotated():
    document = annotated()
    assert not have_singletons([document, document])
    document.add_mention("car", GoldMention(6, 8))
    assert have_singletons([annotated(), document])


def test_what_somebody_is_said_to_be_goes_to_them_but_is_not_ontonotes():
    words = ["Ann", "is", "a", "doctor", ".", "She", "saw", "a", "doctor", "."]
    document = GoldDocument("a", "own", words=words, spaces=[True] * len(words))
    for start in (0, 5):
        mention = GoldMention(start, start + 1, start, in_ontonotes=True)
        document.add_mention("ann", mention)
    nlp = finding(ANN, (2, 4, 3), (7, 9, 8), together=True)
    found = with_singletons(document, nlp).entities
    assert [m[:3] + m[4:] for m in found.pop("ann")] == [
        (0, 1, 0, True),
        (2, 4, 3, False),
        (5, 6, 5, True),
    ]
    (rest,) = found.values()
    assert [(m.start, m.end) for m in rest] == [(7, 9)]
    assert len(document.entities["ann"]) == 2  # the document stays as it was
