"""The pipe through the front door: texts alone, in batches, in processes, stored."""

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from refreader_spacy.annotation.extensions import read_trace

TEXTS = [
    "",
    "Ann",
    "Bo told Ann Lee that he was late.",
    "  \n ",
    "She met Bo. He left.",
]
WORDS = st.lists(st.sampled_from(["Ann", "met", "Bo", ".", "she", "\n", "zzz"]))
PEOPLE = ["Mary", "Jones", "John", "Bo", "met", "and", "said", "'s", ",", "."]
PEOPLE += ["she", "her", "he", "his", "him"]
with_fixtures = settings(
    max_examples=25,
)


@pytest.fixture
def nlp(reader_nlp: Language) -> Language:
    """With settings at which even a reader that never learned finds clusters."""
    pipe = reader_nlp.get_pipe("refreader")
    pipe.threshold, pipe.trace = 0.0, True
    return reader_nlp


def gates(doc: Doc) -> np.ndarray:
    reading = read_trace(doc)
    return np.stack([reading.update, reading.overwrite, reading.salience])


def seen(doc: Doc) -> tuple:
    """What a user reads off a Doc, in a form that can be compared across Docs."""
    clusters = [
        [(span.start, span.end) for span in cluster] for cluster in doc._.coref_clusters
    ]
    links = [
        (link.antecedent.start, link.anaphor.start, round(link.probability, 4))
        for link in doc._.coref_links
    ]
    return clusters, links, doc._.resolved_text


def test_an_untaught_reader_finds_clusters(nlp):
    """Otherwise what follows would compare nothing with nothing."""
    clusters, links, _ = seen(nlp(TEXTS[2]))
    assert clusters
    assert links


@with_fixtures
@given(WORDS, st.data())
def test_a_prefix_reads_like_the_whole(nlp, words, data):
    assert_prefix(nlp, words, data)


@pytest.fixture(scope="module")
def packaged() -> Language:
    """With the weights that come with the package."""
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader", config={"trace": True})
    return nlp


@given(st.lists(st.sampled_from(PEOPLE), max_size=40), st.data())
def test_a_prefix_reads_like_the_whole_with_the_packages_weights(packaged, words, data):
    assert_prefix(packaged, words, data)


def assert_prefix(nlp: Language, words: list[str], data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(words)))
    whole = gates(nlp(Doc(nlp.vocab, words=words)))
    prefix = gates(nlp(Doc(nlp.vocab, words=words[:stop])))
    np.testing.assert_allclose(prefix, whole[:, :stop], rtol=1e-5, atol=1e-6)


@with_fixtures
@given(st.lists(WORDS, max_size=5), st.integers(1, 5))
def test_a_doc_reads_the_same_alone_and_in_any_batch(nlp, texts, batch_size):
    texts = [[], ["Ann"], *texts]
    docs = (Doc(nlp.vocab, words=words) for words in texts)
    for words, doc in zip(texts, nlp.pipe(docs, batch_size=batch_size), strict=True):
        alone = nlp(Doc(nlp.vocab, words=words))
        np.testing.assert_allclose(gates(doc), gates(alone), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_saturated_gates_are_never_nan(nlp, examples, scale):
    """Weights so large that gates are exactly 0 or 1, read and trained on."""
    (shim,) = [shim for x in nlp.get_pipe("refreader").model.walk() for shim in x.shims]
    for weight in shim._model.parameters():
        weight.data.mul_(scale)
    for doc in nlp.pipe(TEXTS):
        assert np.isfinite(gates(doc)).all()
    assert np.isin(gates(nlp(" ".join(TEXTS)))[1], [0, 1]).any()
    losses = nlp.update(examples, sgd=nlp.create_optimizer())
    assert np.isfinite(losses["refreader"])
    assert all(weight.isfinite().all() for weight in shim._model.parameters())
    for doc in nlp.pipe(TEXTS):
        assert np.isfinite(gates(doc)).all()


def to_bytes_and_back(doc):
    return Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())


def through_doc_bin(doc):
    data = DocBin(docs=[doc]).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))


def through_doc_bin_with_user_data(doc):
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))


@pytest.mark.parametrize(
    "round_trip", [to_bytes_and_back, through_doc_bin, through_doc_bin_with_user_data]
)
def test_a_round_trip_changes_nothing(nlp, round_trip):
    for doc in nlp.pipe(TEXTS):
        again = round_trip(doc)
        assert seen(again) == seen(doc)
        np.testing.assert_array_equal(gates(again), gates(doc))


def test_two_processes_change_nothing(nlp):
    alone = [seen(doc) for doc in nlp.pipe(TEXTS)]
    assert [seen(doc) for doc in nlp.pipe(TEXTS, n_process=2, batch_size=2)] == alone


def test_joined_docs_keep_their_clusters(nlp):
    docs = [nlp(TEXTS[2]), nlp(TEXTS[4])]
    joined = Doc.from_docs(docs)
    texts = [
        [[span.text for span in cluster] for cluster in doc._.coref_clusters]
        for doc in (joined, *docs)
    ]
    assert texts[0] == texts[1] + texts[2]


def test_reading_a_doc_again_changes_nothing(nlp):
    doc = nlp(TEXTS[2])
    before = seen(doc)
    assert seen(nlp(doc)) == before


def test_other_pipes_may_stand_before_and_after(nlp):
    alone = seen(nlp(TEXTS[4]))
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("merge_entities", last=True)
    assert seen(nlp(TEXTS[4])) == alone
