"""The paper's reader behind the protocol: parts, states, and states that were saved."""

import numpy as np
import pytest
import spacy
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed

from refreader_spacy import batching
from refreader_spacy.batching import joined, read_docs
from refreader_spacy.paper.architecture import build_refreader_v1
from refreader_spacy.protocol import reader_of

VOCAB = spacy.blank("en").vocab
WORDS = ["Ann", "Lee", "met", "Bo", ",", "who", "she", "liked", ".", "He", "ran"]


def forward(model, docs, is_train):
    """A word's vector is drawn by its letters."""
    table = np.random.default_rng(0).normal(size=(256, 3)).astype(np.float32)
    return [
        table[[hash_of(token.text) for token in doc]].reshape(-1, 3) for doc in docs
    ], lambda d: []


def hash_of(word):
    return sum(map(ord, word)) % 256


@pytest.fixture(scope="module")
def model() -> Model:
    """Its gates are wide open, so that there is something to decide."""
    fix_random_seed(3)
    attrs = {"lookahead": False, "takes_spans": True}
    encoder = Model("encoder", forward, dims={"nO": 3}, attrs=attrs)
    model = build_refreader_v1(encoder, 3, hidden_size=4, key_size=2, n_cells=3)
    for weight in model.shims[0]._model.parameters():
        weight.data *= 10
    model.shims[0]._model.memory.link_bias.data += 4
    model.shims[0].changed()
    return model


def assert_parts_equal(found, wanted):
    for name in ("head", "start", "entity", "is_new", "label"):
        one, other = (getattr(part.mentions, name) for part in (found, wanted))
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(
        found.mentions.probability, wanted.mentions.probability, atol=1e-5
    )
    np.testing.assert_array_equal(found.ends, wanted.ends)
    np.testing.assert_array_equal(found.held, wanted.held)


TEXT = [WORDS[i] for i in np.random.default_rng(0).integers(0, len(WORDS), 60)]


def test_there_is_something_to_decide(model):
    (part,) = read_docs(model, [Doc(VOCAB, words=TEXT)])
    assert 10 < len(part.mentions) < 60
    assert part.mentions.is_new.any()
    assert not part.mentions.is_new.all()
    assert part.gates is None


@pytest.mark.parametrize("cuts", [[0], [1, 2, 30], [*range(60)]])
def test_pieces_read_like_a_whole(model, cuts):
    doc = Doc(VOCAB, words=TEXT)
    (whole,) = read_docs(model, [doc], gates=True)
    reader = reader_of(model)
    state = reader.start()
    parts = [
        reader.read([state], [doc[start:stop]], gates=True, last=stop == 60)[0]
        for start, stop in zip([0, *cuts], [*cuts, 60], strict=True)
    ]
    found = joined(parts)
    assert_parts_equal(found, whole)
    np.testing.assert_allclose(found.gates.update, whole.gates.update, atol=1e-5)


def test_long_docs_are_read_in_blocks(model, monkeypatch):
    doc = Doc(VOCAB, words=TEXT)
    (whole,) = read_docs(model, [doc])
    monkeypatch.setattr(batching, "BLOCK", 7)
    (blocks,) = read_docs(model, [doc])
    assert_parts_equal(blocks, whole)


def test_documents_side_by_side_are_decided_like_each_alone(model):
    docs = [Doc(VOCAB, words=TEXT[:n]) for n in (5, 0, 60, 1)]
    for doc, part in zip(docs, read_docs(model, docs), strict=True):
        assert_parts_equal(part, read_docs(model, [doc])[0])


def test_prediction_gives_decisions(model):
    docs = [Doc(VOCAB, words=TEXT)]
    assert_parts_equal(model.predict(docs)[0], read_docs(model, docs)[0])


@settings(max_examples=20)
@given(st.integers(0, 60))
def test_a_saved_state_goes_on_where_it_was(model, cut):
    doc = Doc(VOCAB, words=TEXT)
    reader = reader_of(model)
    state = reader.start()
    reader.read([state], [doc[:cut]])
    data = srsly.msgpack_dumps(reader.to_saved(state))
    again = reader.from_saved(srsly.msgpack_loads(data))
    expected = reader.read([state], [doc[cut:]], last=True)[0]
    assert_parts_equal(reader.read([again], [doc[cut:]], last=True)[0], expected)


def saved_state(model):
    """After a few tokens, of which the last is in a mention."""
    reader = reader_of(model)
    state = reader.start()
    for token in Doc(VOCAB, words=TEXT):
        reader.read([state], [token.doc[token.i : token.i + 1]])
        if token.i > 5 and state.decisions.open is not None:
            break
    return reader, srsly.msgpack_loads(srsly.msgpack_dumps(reader.to_saved(state)))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("hidden", lambda x: x[:-1]),
        ("hidden", lambda x: x.astype(np.float64)),
        ("keys", lambda x: x * np.nan),
        ("values", lambda x: x[None]),
        ("salience", lambda x: x - 5),
        ("salience", lambda x: x.tolist()),
        ("shares", lambda x: x - 5),
        ("holders", lambda x: x + 1000),
        ("holders", lambda x: x - 100),
        ("n_tokens", lambda x: -1),
        ("n_entities", lambda x: 0),
        ("n_mentions", lambda x: 1.5),
    ],
    ids=range(12),
)
def test_a_state_that_was_changed_is_refused(model, name, change):
    reader, saved = saved_state(model)
    reader.from_saved(saved)
    saved[name] = change(saved[name])
    with pytest.raises(ValueError, match="R257"):
        reader.from_saved(saved)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("start", -1),
        ("start", 10**6),
        ("end", 0),
        ("cell", 3),
        ("new", float("nan")),
        ("kept", np.ones(2, np.float32)),
        ("links", np.full(3, np.inf, np.float32)),
    ],
)
def test_an_open_mention_that_was_changed_is_refused(model, name, value):
    reader, saved = saved_state(model)
    saved["open"][name] = value
    with pytest.raises(ValueError, match="R257"):
        reader.from_saved(saved)
