"""A stream against the whole text: any way of cutting gives the same."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spacy.training import Example

from refreader_spacy.streaming import stream as streams
from refreader_spacy.streaming.events import ClusterFinished, LinkMade
from refreader_spacy.streaming.stream import Stream

WORDS = st.sampled_from(
    ["Ann", " ", "she", "  ", "met", " ", "Bo", "-", "\n", ".", "'s", "Lee", "his", " "]
)
TEXTS = st.lists(WORDS, max_size=60).map("".join)
CUTS = st.lists(st.integers(0, 200), max_size=6)
with_fixtures = settings(
    max_examples=40,
)


@pytest.fixture
def nlp(reader_nlp, monkeypatch):
    """With small blocks, so that short texts have several."""
    monkeypatch.setattr(streams, "BLOCK", 5)
    pipe = reader_nlp.get_pipe("refreader")
    pipe.threshold, pipe.keep_singletons = 0.0, True
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


def clusters_in_stream(events):
    """Clusters as a user gathers them from events: one may go, and be found again."""
    found = {}
    for event in events:
        if isinstance(event, ClusterFinished):
            found.setdefault(event.entity, []).extend(map(place, event.mentions))
    return sorted(map(sorted, found.values()))


def clusters_on_doc(doc):
    return sorted(
        sorted(place(span) for span in cluster) for cluster in doc._.coref_clusters
    )


@with_fixtures
@given(TEXTS, CUTS)
@example("AnnAnn sheAnn Ann", [])  # a cluster whose only mention is another's too
def test_a_text_in_pieces_reads_like_the_whole(nlp, text, cuts):
    stream = nlp.get_pipe("refreader").stream()
    pieces = [e for piece in cut(text, cuts) for e in stream.feed(piece)]
    pieces += stream.close()
    assert clusters_in_stream(pieces) == clusters_on_doc(nlp(text))
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


def test_what_was_learned_is_used_at_once(nlp, examples):
    pipe = nlp.get_pipe("refreader")
    docs = [example.reference.copy() for example in examples]
    before = [part.mentions.probability for part in pipe.predict(docs)]
    stream = pipe.stream()
    events = stream.feed(docs[0]) + stream.close()
    nlp.update([Example(nlp.make_doc(e.text), e.reference) for e in examples])
    after = [part.mentions.probability for part in pipe.predict(docs)]
    assert before[0].tolist() != after[0].tolist()
    stream.reset()
    assert stream.feed(docs[0]) + stream.close() != events
