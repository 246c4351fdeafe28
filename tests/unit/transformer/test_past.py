"""A text in parts under a causal transformer: as if it were whole."""

from itertools import pairwise

import numpy as np
import pytest
import spacy
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

pytest.importorskip("spacy_transformers")
from spacy_transformers.pipeline_component import install_extensions

from refreader_spacy.transformer import build_transformer_v1

LONG = "x" * 90  # more pieces than a window has
TEXT = (
    'He said: "I left."  She\n\nnodded… Zoë\'s naïve café. Ann Lee met Bo, because '
    f"she was late. Bo can't stay. {LONG} Ann told Bo that he was late, and he was not."
)


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def model(request, tiny):
    install_extensions()
    model = build_transformer_v1(
        str(tiny(request.param)), [1, 2], window=24, stride=16, lookahead=False
    )
    model.initialize()
    return model


def docs_in_parts(text: str, cuts: set[int]) -> list[Doc]:
    """A Doc cut before these tokens; spaces between parts are kept."""
    doc = spacy.blank("en")(text)
    places = [0, *sorted(cut for cut in cuts if 0 < cut < len(doc)), len(doc)]
    return [doc[a:b].as_doc() for a, b in pairwise(places)]


def vectors_on(doc: Doc) -> np.ndarray:
    return doc._.trf_data.model_output.last_hidden_state


def whole(model, text: str) -> np.ndarray:
    (data,) = model.predict([spacy.blank("en")(text)]).doc_data
    return data.model_output.last_hidden_state


@given(cuts=st.sets(st.integers(1, 50)))
@settings(max_examples=25)
def test_parts_have_the_vectors_of_the_whole(model, cuts):
    past = model.attrs["past"](model)
    parts = docs_in_parts(TEXT, cuts)
    for part in parts:
        past.read(part)
    found = np.concatenate([vectors_on(part) for part in parts])
    np.testing.assert_allclose(found, whole(model, TEXT), atol=5e-3)


def test_what_is_kept_is_bounded_by_the_window(model):
    past = model.attrs["past"](model)
    (part,) = docs_in_parts(TEXT, set())
    sizes = []
    for _ in range(3):
        past.read(part)
        sizes.append(past.cache.get_seq_length() - len(past.loaded.prefix))
    assert max(sizes) <= 24
    assert len(past.ids) <= 24


def test_each_piece_is_read_once_within_a_window(model, monkeypatch):
    past = model.attrs["past"](model)
    network = model.shims[0]._model
    sizes = []
    go_on = network.go_on

    def counted(ids, *others):
        sizes.append(ids.shape[1])
        return go_on(ids, *others)

    monkeypatch.setattr(network, "go_on", counted)
    for part in docs_in_parts("Ann Lee met Bo .", set(range(5))):
        past.read(part)
    n_special = len(past.loaded.prefix)
    assert sum(sizes) == len(past.ids) + n_special
    assert len(sizes) == 5


@given(cut=st.integers(0, 40))
@settings(max_examples=15)
def test_a_saved_past_goes_on_as_if_nothing_had_happened(model, cut):
    first, *rest = docs_in_parts(TEXT, {cut})
    past = model.attrs["past"](model)
    if rest:
        past.read(first)
    saved = srsly.msgpack_loads(srsly.msgpack_dumps(past.to_saved()))
    again = model.attrs["past"](model)
    again.restore(saved)
    last = (rest or [first])[0]
    again.read(last)
    expected = whole(model, TEXT)[-len(last) :]
    np.testing.assert_allclose(vectors_on(last), expected, atol=5e-3)


def test_an_empty_part_changes_nothing(model):
    past = model.attrs["past"](model)
    before = past.to_saved()
    empty = Doc(spacy.blank("en").vocab)
    past.read(empty)
    assert past.to_saved() == before
    assert vectors_on(empty).shape == (0, 16)


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "of another"},
        {"n_pieces": 3},
        {"n_pieces": -1},
        {"window": 1},
        {"ids": [10**6] * 5},
        {"ids": [-1] * 5},
        {"ids": [1.0] * 5},
        {"space": "x"},
    ],
)
def test_what_another_transformer_kept_is_refused(model, change):
    past = model.attrs["past"](model)
    saved = {**past.to_saved(), "n_pieces": 5, "ids": [5] * 5}
    past.restore(saved)
    with pytest.raises(ValueError, match=r"R257.*past"):
        past.restore({**saved, **change})
