import json

import pytest
from hypothesis import given
from invented_documents import clusters, documents
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab

from refreader_spacy.corpora.document import GoldDocument, GoldMention, Turn
from refreader_spacy.corpora.gold_docs import MentionCounts, document_of, gold_doc


@pytest.fixture
def document() -> GoldDocument:
    document = GoldDocument(
        "doc", "gum", "bio", ["Ann", "and", "Bo", "Li", "left", ".", "They", "sang"]
    )
    document.spaces = [True, True, True, True, False, True, True, True]
    document.sentence_starts = [0, 6]
    document.add_mention("both", GoldMention(0, 4, 0, "person", True))
    document.add_mention("both", GoldMention(6, 7, 6, "person", True))
    document.add_mention("bo", GoldMention(2, 4, 2, "person", False))
    document.add_mention("ann", GoldMention(0, 1, 0, "person", False))
    document.split_antecedents = {"both": ["ann", "bo"]}
    document.add_turn(0, 8, "Cy")
    return document


def groups(doc: Doc) -> dict:
    """All that span groups say, as JSON can say it."""
    found = {
        key: [group.attrs, [(s.start, s.end, s.label_) for s in group]]
        for key, group in doc.spans.items()
    }
    return json.loads(json.dumps(found))


def test_each_entity_is_a_span_group(document):
    doc = gold_doc(document, Vocab())
    assert doc.text == "Ann and Bo Li left. They sang "
    assert [sent.text for sent in doc.sents] == ["Ann and Bo Li left.", "They sang"]
    assert groups(doc) == {
        "coref_clusters_1": [
            {
                "heads": [1, 6],
                "ontonotes": [True, True],
                "split_antecedents": ["coref_clusters_2", "coref_clusters_3"],
            },
            [[0, 4, "person"], [6, 7, "person"]],
        ],
        "coref_clusters_2": [
            {"heads": [0], "ontonotes": [False]},
            [[0, 1, "person"]],
        ],
        "coref_clusters_3": [
            {"heads": [3], "ontonotes": [False]},
            [[2, 4, "person"]],
        ],
        "speakers": [{}, [[0, 8, "Cy"]]],
        "annotation": [{"document": "doc", "genre": "bio"}, [[0, 8, "gum"]]],
    }


def test_heads_are_found_by_a_rule_where_none_is_given():
    document = GoldDocument("doc", "x", words=["the", "man", "of", "the", "house"])
    document.add_mention("1", GoldMention(0, 5))
    doc = gold_doc(document, Vocab())
    assert doc.spans["coref_clusters_1"].attrs == {"heads": [1]}
    doc = gold_doc(document, Vocab(), head_rule=lambda words, start, end: end - 1)
    assert doc.spans["coref_clusters_1"].attrs == {"heads": [4]}


def test_of_two_mentions_of_one_token_the_linked_one_is_kept():
    document = GoldDocument("doc", "x", words=["he", "said", "he"], n_skipped=3)
    document.add_mention("1", GoldMention(0, 1))
    document.add_mention("2", GoldMention(0, 1))
    document.add_mention("2", GoldMention(2, 3))
    counts = MentionCounts()
    doc = gold_doc(document, Vocab(), counts=counts)
    assert groups(doc)["coref_clusters_1"][1] == [[0, 1, ""], [2, 3, ""]]
    assert "coref_clusters_2" not in doc.spans
    assert counts == MentionCounts(documents=1, written=2, dropped=1, skipped=3)
    assert "2 mentions; 1 left out" in str(counts)


def test_for_scores_all_mentions_are_kept():
    document = GoldDocument("doc", "x", words=["he"])
    document.add_mention("1", GoldMention(0, 1))
    document.add_mention("2", GoldMention(0, 1))
    counts = MentionCounts()
    doc = gold_doc(document, Vocab(), keep_all=True, counts=counts)
    assert [g.attrs.get("heads") for g in doc.spans.values()] == [[0], [0], None]
    assert (counts.written, counts.dropped) == (2, 0)


def test_an_empty_document_is_a_doc():
    doc = gold_doc(GoldDocument("doc", "x"), Vocab())
    assert len(doc) == 0
    assert doc.spans["annotation"].attrs["document"] == "doc"
    assert document_of(doc).id == "doc"


def test_gold_survives_docbin_and_spacys_corpus(nlp, tmp_path, document):
    doc = gold_doc(document, nlp.vocab)
    DocBin(docs=[doc]).to_disk(tmp_path / "gold.spacy")
    (example,) = Corpus(tmp_path / "gold.spacy")(nlp)
    assert groups(example.reference) == groups(doc)
    assert [token.is_sent_start for token in example.reference] == [
        token.is_sent_start for token in doc
    ]
    assert not example.predicted.spans


def test_a_doc_says_what_the_document_said(nlp, document):
    again = document_of(gold_doc(document, nlp.vocab))
    assert (again.id, again.scheme, again.genre) == ("doc", "gum", "bio")
    assert (again.words, again.spaces) == (document.words, document.spaces)
    assert again.sentence_starts == document.sentence_starts
    assert again.turns == [Turn(0, 8, "Cy")]
    assert again.entities["coref_clusters_1"] == [
        GoldMention(0, 4, 1, "person", True),  # linked by "and"
        GoldMention(6, 7, 6, "person", True),
    ]
    assert again.split_antecedents == {
        "coref_clusters_1": ["coref_clusters_2", "coref_clusters_3"]
    }


def test_predicted_groups_need_no_gold(nlp):
    doc = nlp.make_doc("Ann said she left.")
    doc.spans["people_1"] = [doc[0:1], doc[2:3]]
    document = document_of(doc, "people")
    assert document.entities == {"people_1": [GoldMention(0, 1), GoldMention(2, 3)]}
    assert document.sentence_starts == [0]


@given(documents())
def test_mentions_with_a_token_left_for_them_are_kept(document):
    counts = MentionCounts()
    doc = gold_doc(document, Vocab(), counts=counts)
    if not counts.dropped:
        assert clusters(document_of(doc)) == clusters(document)
    assert counts.written + counts.dropped == sum(map(len, document.entities.values()))
    heads = [head for g in doc.spans.values() for head in g.attrs.get("heads", [])]
    assert len(heads) == len(set(heads)) == counts.written
