"""A stream against the whole text: any way of cutting gives the same."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.training import Example

from refreader_spacy import protocol
from refreader_spacy.annotation.extensions import read_trace
from refreader_spacy.decoding import decoder as decode
from refreader_spacy.paper import inference
from refreader_spacy.streaming import stream as streams
from refreader_spacy.streaming.events import ClusterFinished, LinkMade
from refreader_spacy.streaming.stream import Stream

WORDS = st.sampled_from(
    ["Ann", " ", "she", "  ", "met", " ", "Bo", "-", "\n", ".", "'s", "Lee", "his", " "]
)
TEXTS = st.lists(WORDS, max_size=60).map("".join)
CUTS = st.lists(st.integers(0, 200), max_size=6)
with_fixtures = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def nlp(reader_nlp, monkeypatch):
    """With small blocks, so that short texts have several."""
    monkeypatch.setattr(streams, "TIDY", 8)
    monkeypatch.setattr(streams, "BLOCK", 5)
    pipe = reader_nlp.get_pipe("refreader")
    pipe.threshold, pipe.keep_singletons = 0.02, True
    return reader_nlp


def cut(text, cuts):
    stops = [0, *sorted(c % (len(text) + 1) for c in cuts), len(text)]
    return [text[a:b] for a, b in pairwise(stops)]


def assert_same(events, expected):
    """Probabilities may differ in the last digits: products are rounded by shape."""
    probabilities = [
        [event.probability for event in some if isinstance(event, LinkMade)]
        for some in (events, expected)
    ]
    np.testing.assert_allclose(*probabilities, atol=1e-5)
    assert [without_probability(event) for event in events] == [
        without_probability(event) for event in expected
    ]


def without_probability(event):
    return event._replace(probability=None) if isinstance(event, LinkMade) else event


def place(mention):
    return mention.start, mention.end, mention.start_char, mention.end_char


def seen_in_stream(events):
    """Clusters and links, as a user gathers them from events."""
    clusters = [
        [place(mention) for mention in event.mentions]
        for event in events
        if isinstance(event, ClusterFinished)
    ]
    links = [
        (place(event.antecedent), place(event.anaphor), event.probability)
        for event in events
        if isinstance(event, LinkMade)
    ]
    return sorted(clusters), links


def seen_on_doc(doc):
    return sorted(
        [place(span) for span in cluster] for cluster in doc._.coref_clusters
    ), [
        (place(x.antecedent), place(x.anaphor), x.probability)
        for x in doc._.coref_links
    ]


@with_fixtures
@given(TEXTS, CUTS)
def test_a_text_in_pieces_reads_like_the_whole(nlp, text, cuts):
    stream = nlp.get_pipe("refreader").stream()
    pieces = [e for piece in cut(text, cuts) for e in stream.feed(piece)]
    pieces += stream.close()
    clusters, links = seen_in_stream(pieces)
    expected_clusters, expected_links = seen_on_doc(nlp(text))
    assert clusters == expected_clusters
    assert [link[:2] for link in links] == [link[:2] for link in expected_links]
    np.testing.assert_allclose(
        [link[2] for link in links], [link[2] for link in expected_links], atol=1e-5
    )
    stream.reset()
    whole = stream.feed(text) + stream.close()
    assert_same(pieces, whole)


@with_fixtures
@given(TEXTS, CUTS)
def test_tokens_in_pieces_read_like_the_whole(nlp, text, cuts):
    doc = nlp.make_doc(text)
    stops = [0, *sorted(c % (len(doc) + 1) for c in cuts), len(doc)]
    stream = nlp.get_pipe("refreader").stream()
    pieces = [
        event
        for start, stop in pairwise(stops)
        for event in stream.feed(doc[start:stop])
    ]
    pieces += stream.close()
    stream.reset()
    whole = stream.feed(doc) + stream.close()
    assert_same(pieces, whole)


@with_fixtures
@given(TEXTS, CUTS, st.integers(0, 6))
def test_a_saved_stream_goes_on_where_it_stopped(nlp, text, cuts, stop):
    stream, events = nlp.get_pipe("refreader").stream(), []
    for number, piece in enumerate(cut(text, cuts)):
        if number == stop:
            again = Stream.from_bytes(nlp, stream.to_bytes())
            assert again.clusters == stream.clusters
            stream = again
        events += stream.feed(piece, meta=[number, {"speaker": None}])
    events += stream.close()
    straight = nlp.get_pipe("refreader").stream()
    expected = []
    for number, piece in enumerate(cut(text, cuts)):
        expected += straight.feed(piece, meta=[number, {"speaker": None}])
    expected += straight.close()
    assert events == expected


def test_a_long_doc_is_read_in_blocks_as_in_one_go(nlp, monkeypatch):
    text = "Ann met Bo Lee - Bo-Lee said she can't go. " * 40
    plain_torch = nlp.get_pipe("refreader").model.predict([nlp.make_doc(text)])
    monkeypatch.setattr(inference, "BLOCK", 50)
    monkeypatch.setattr(inference, "GROUP", 16 * 50)
    for n_docs in (1, 2, 10):
        docs = [nlp.make_doc(text)] * n_docs
        for reading in nlp.get_pipe("refreader").predict(docs):
            np.testing.assert_allclose(reading.update, plain_torch[0].update, atol=1e-5)


@pytest.fixture
def names_nlp(nlp):
    """With the package's reader, which is of names and has many cells."""
    nlp.remove_pipe("refreader")
    nlp.add_pipe("refreader")
    return nlp


@pytest.mark.parametrize("reader", ["nlp", "names_nlp"])
def test_a_long_doc_has_the_clusters_of_its_trace(reader, request, monkeypatch):
    # What a decoder may still remember depends on how often it tidies up
    monkeypatch.setattr(protocol, "BLOCK", 50)
    monkeypatch.setattr(inference, "BLOCK", 50)
    monkeypatch.setattr(decode, "TIDY", 100)
    nlp = request.getfixturevalue(reader)
    pipe = nlp.get_pipe("refreader")
    text = "Ann met Bo Lee - Bo-Lee said she can't go. He saw Cy, her son. " * 40
    untraced = nlp(text)
    (reading,) = pipe.predict([untraced])
    pipe.trace = True
    traced = nlp(text)
    assert seen_on_doc(untraced) == seen_on_doc(traced)
    assert len(untraced._.coref_links) > 40
    for gate in ("update", "overwrite", "salience"):
        kept = getattr(read_trace(traced), gate)
        np.testing.assert_array_equal(getattr(reading, gate), kept)


def test_gates_of_a_long_doc_are_never_all_in_memory(names_nlp, monkeypatch):
    monkeypatch.setattr(inference, "BLOCK", 100)
    doc = names_nlp.make_doc("The sea was calm, and it was cold. " * 2000)
    pipe = names_nlp.get_pipe("refreader")
    (reading,) = pipe.predict([doc])
    tracemalloc.start()
    pipe.set_annotations([doc], [reading])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gates = reading.update, reading.overwrite, reading.salience
    assert peak < sum(gate.nbytes for gate in gates) / 2


def test_what_was_learned_is_used_at_once(nlp, examples):
    pipe = nlp.get_pipe("refreader")
    docs = [example.reference.copy() for example in examples] * 5
    before = pipe.predict(docs)
    nlp.update([Example(nlp.make_doc(e.text), e.reference) for e in examples])
    after, expected = pipe.predict(docs), pipe.model.predict(docs)
    assert not np.allclose(before[0].overwrite, after[0].overwrite, atol=1e-6)
    for reading, plainly in zip(after, expected, strict=True):
        np.testing.assert_allclose(reading.overwrite, plainly.overwrite, atol=1e-5)
