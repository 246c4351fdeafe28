"""Single mentions that a reader adds, with one that is made by hand."""

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.training.singletons import have_singletons, with_singletons

TEXT = "Ann lost the old key of her car . She found it ."
WORDS = TEXT.split()
KEY, CAR, HER, ANN = (2, 5, 4), (6, 8, 7), (6, 7, 6), (0, 1, 0)


def annotated() -> GoldDocument:
    """Ann, her and She; the whole key, and it."""
    document = GoldDocument("a", "own", words=WORDS, spaces=[True] * len(WORDS))
    for start in (0, 6, 9):
        document.add_mention("ann", GoldMention(start, start + 1))
    for start, end in ((2, 8), (11, 12)):
        document.add_mention("key", GoldMention(start, end))
    return document


def finding(*mentions: tuple[int, int, int]) -> Language:
    """A pipeline that finds these: start, end and head."""
    nlp = spacy.blank("en")

    @Language.component("found_by_hand")
    def find(doc: Doc) -> Doc:
        for number, (start, end, head) in enumerate(mentions, start=1):
            key = f"coref_clusters_{number}"
            spans, attrs = [Span(doc, start, end)], {"heads": [head]}
            doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)
        return doc

    nlp.add_pipe("found_by_hand")
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
