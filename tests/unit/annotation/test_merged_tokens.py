import numpy as np
import pytest
import spacy
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Span

from refreader_spacy.annotation.extensions import read_trace
from refreader_spacy.annotation.merged_tokens import has_merged_tokens, in_words

TEXTS = [
    "Anna Smith lost her key near New York. She found it again.",
    "Acme Robotics opened a factory in Oslo. The company said that it would hire 200 "
    "people. Maria Lopez told reporters that she was proud.",
    "Maria Lopez met Anna Smith in New York. Lopez told Smith that her mother left.",
    "Ngozi Okafor-Lind left. She wept, and Okafor-Lind lost her key.",
    "",
]
PATTERNS = [
    {"label": "PERSON", "pattern": "Anna Smith"},
    {"label": "PERSON", "pattern": "Maria Lopez"},
    {"label": "ORG", "pattern": "Acme Robotics", "id": "Q1"},
    {"label": "GPE", "pattern": "New York"},
    {"label": "PERSON", "pattern": "Ngozi Okafor-Lind"},
    {"label": "PERSON", "pattern": "Okafor-Lind"},
]


def pipeline(*names, **settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    for name in names:
        nlp.add_pipe(name, config=settings if name == "refreader" else {})
    return nlp


def merge(doc, *spans):
    with doc.retokenize() as retokenizer:
        for start, end in spans:
            retokenizer.merge(doc[start:end])
    return doc


def texts(doc):
    return [[span.text for span in cluster] for cluster in doc._.coref_clusters]


def seen(doc):
    spans = [s for cluster in doc._.coref_clusters for s in cluster]
    links = [(a.text, b.text, p) for a, b, p in doc._.coref_links]
    return texts(doc), [(s.label_, s.kb_id_) for s in spans], links, doc._.resolved_text


@pytest.mark.parametrize("text", TEXTS)
def test_entities_merged_before_the_reader_change_nothing(text):
    doc = pipeline("merge_entities", "refreader")(text)
    assert seen(doc) == seen(pipeline("refreader")(text))
    assert seen(doc) == seen(pipeline("refreader", "merge_entities")(text))


def test_a_merged_doc_may_be_read_again():
    nlp = pipeline("merge_entities", "refreader")
    doc = nlp(TEXTS[1])
    before = seen(doc)
    assert before[0]
    assert seen(nlp.get_pipe("refreader")(doc)) == before


def test_a_pronoun_inside_a_merged_token_is_dropped_with_a_warning():
    nlp = pipeline("refreader")
    doc = merge(nlp.make_doc("Anna Smith lost her key. She wept."), (3, 5))
    with pytest.warns(UserWarning, match=r"1 mention\(s\) are parts of tokens"):
        assert texts(nlp(doc)) == [["Anna Smith", "She"]]


def test_the_trace_has_a_row_for_each_token():
    doc = pipeline("merge_entities", "refreader", trace=True)(TEXTS[0])
    words = pipeline("refreader", trace=True)(TEXTS[0])
    merged, plain = read_trace(doc), read_trace(words)
    assert len(merged) == len(doc) == len(words) - 2
    np.testing.assert_array_equal(merged.update[0], plain.update[:2].max(axis=0))
    np.testing.assert_array_equal(merged.salience[0], plain.salience[1])
    np.testing.assert_array_equal(merged.overwrite[2], plain.overwrite[3])


def test_words_keep_entities_and_speakers():
    nlp = spacy.blank("en")
    doc = nlp("Anna: I met Maria Lopez's aunt.\n")
    doc.ents = [Span(doc, 4, 6, label="PERSON", kb_id="Q7")]
    doc.spans["speakers"] = [Span(doc, 2, 9, label="Anna")]
    doc.spans["speaker_labels"] = [Span(doc, 0, 2, label="Anna")]
    assert not has_merged_tokens(doc)
    assert in_words(doc, nlp.tokenizer) is doc
    words = [token.text for token in doc]
    merge(doc, (4, 8))
    split = in_words(doc, nlp.tokenizer)
    assert [token.text for token in split] == words
    assert split.text == doc.text
    assert [(ent.text, ent.kb_id_) for ent in split.ents] == [
        ("Maria Lopez's aunt", "Q7")
    ]
    (turn,) = split.spans["speakers"]
    assert (turn.text, turn.label_) == ("I met Maria Lopez's aunt.", "Anna")
    assert split.spans["speaker_labels"][0].text == "Anna:"


def test_a_token_that_the_tokenizer_makes_stays():
    nlp = spacy.blank("en")
    doc = merge(nlp("New York grew"), (0, 2))
    assert len(in_words(doc, lambda text: doc[0:1].as_doc())) == 2


def test_speakers_survive_a_merge():
    nlp = pipeline("refreader")
    text = "I met Maria Lopez. I liked her."
    expected = "Anna met Maria Lopez. Anna liked Maria Lopez."
    for merge_first in (True, False):
        doc = nlp.make_doc(text)
        doc.spans["speakers"] = [Span(doc, 0, len(doc), label="Anna")]
        doc = nlp(merge(doc, (2, 4))) if merge_first else merge(nlp(doc), (2, 4))
        assert doc._.resolved_text == expected
    doc = nlp.make_doc("New York grew")
    doc.spans["speakers"] = [Span(doc, 0, len(doc), label="Anna")]
    assert merge(doc, (0, 2))._.resolved_text == "New York grew"


def test_a_listener_cant_read_words():
    nlp = pipeline("merge_entities", "refreader")
    listener = Tok2VecListener("tok2vec", width=4)
    nlp.get_pipe("refreader").model.layers[0].layers.append(listener)
    with pytest.warns(UserWarning, match=r"R903.*merge_entities"):
        nlp(TEXTS[0])


def test_a_merged_token_is_found_in_every_block(monkeypatch):
    monkeypatch.setattr("refreader_spacy.annotation.merged_tokens.BLOCK", 2)
    doc = spacy.blank("en")("She met Anna Smith.")
    assert not has_merged_tokens(doc)
    merge(doc, (2, 4))
    assert has_merged_tokens(doc)
