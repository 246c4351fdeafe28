import warnings

import pytest
import spacy
import srsly
from marked import marked
from spacy.pipeline import merge_entities
from spacy.tokens import Doc, Span


def texts(doc):
    return [[span.text for span in cluster] for cluster in doc._.coref_clusters]


def merge(doc, *spans):
    with doc.retokenize() as retokenizer:
        for start, end in spans:
            retokenizer.merge(doc[start:end])
    return doc


@pytest.fixture
def doc():
    doc = marked(
        "[a:Captain Ahab] told [b:Tom] [a:he] saw [c:[b:his] dog]. [c:It] bit."
    )
    doc.spans["coref_clusters_1"].attrs["links"] = [[0, 1, 0.75]]
    return doc


@pytest.mark.parametrize("seen_before", [False, True])
def test_clusters_are_right_after_a_merge(doc, seen_before):
    expected = texts(doc) if seen_before else None
    merge(doc, (0, 2))
    assert texts(doc) == [["Captain Ahab", "he"], ["Tom", "his"], ["his dog", "It"]]
    assert expected in (None, texts(doc))
    assert [span.text for span in doc.spans["coref_clusters_1"]] == [
        "Captain Ahab",
        "he",
    ]
    (link,) = doc._.coref_links
    assert (link.antecedent.text, link.anaphor.text, link[2]) == (
        "Captain Ahab",
        "he",
        0.75,
    )
    assert [span.text for span in doc[2]._.coref_clusters[0]] == ["Tom", "his"]
    assert texts(Doc.from_docs([doc])) == texts(doc)


def test_clusters_are_read_without_serialising_them(doc, monkeypatch):
    # which searches all installed packages, at each group of each Doc
    monkeypatch.setattr(srsly, "msgpack_loads", None)
    assert texts(doc) == [["Captain Ahab", "he"], ["Tom", "his"], ["his dog", "It"]]


def test_entities_merged_after_the_reader_keep_their_clusters(doc):
    doc.ents = [Span(doc, 0, 2, label="PERSON"), Span(doc, 3, 4, label="PERSON")]
    merge_entities(doc)
    assert texts(doc)[0] == ["Captain Ahab", "he"]


def test_a_name_that_got_its_title_is_still_a_mention():
    doc = merge(marked("Captain [a:Ahab] said [a:he] left."), (0, 2))
    assert texts(doc) == [["Captain Ahab", "he"]]


def test_a_pronoun_inside_a_merged_token_is_dropped_with_a_warning(doc):
    merge(doc, (6, 8))
    with pytest.warns(
        UserWarning, match=r"1 mention\(s\).*leave out merge_noun_chunks"
    ):
        found = texts(doc)
    assert found == [["Captain Ahab", "he"], ["his dog", "It"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert doc._.resolved_text.endswith("His dog bit.")


def test_clusters_are_right_after_a_split():
    doc = marked("[a:LosAngeles] grew. [a:It] shone.")
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[0], ["Los", "Angeles"], heads=[(doc[0], 1), doc[0]])
    assert [[(s.start, s.end) for s in c] for c in doc._.coref_clusters] == [
        [(0, 2), (4, 5)]
    ]


def test_tokens_merged_before_the_reader_are_words_like_others():
    doc = merge(marked("Captain Ahab said he left. His hat fell."), (0, 2))
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[2:3], doc[5:6]]
    assert doc._.resolved_text == (
        "Captain Ahab said Captain Ahab left. Captain Ahab's hat fell."
    )


def test_a_merged_noun_phrase_is_no_name():
    doc = merge(marked("A tall man came. I saw him."), (0, 3))
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[5:6]]
    assert doc._.resolved_text == "A tall man came. I saw the tall man."


@pytest.mark.parametrize("reads_first", [True, False])
def test_entities_may_be_merged_after_the_reader(reads_first):
    """As it is in a pipeline: what was read is a span to the Doc's last token."""
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader", config={"threshold": 0.0})
    doc = nlp("Anna Smith lost her key near New York")
    before = texts(doc) if reads_first else [["Anna Smith", "her"]]
    doc.ents = [Span(doc, 0, 2, label="PERSON"), Span(doc, 6, 8, label="GPE")]
    doc = merge_entities(doc)
    assert len(doc) == 6
    assert texts(doc) == before == [["Anna Smith", "her"]]
    assert doc._.resolved_text == "Anna Smith lost Anna Smith's key near New York"
