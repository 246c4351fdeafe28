import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vectors import Vectors
from spacy.vocab import Vocab

from refreader_spacy.model.encoders import build_fixed_vectors_v1

TABLE = {"Ann": [3.0, 0.0], "met": [0.0, 4.0], "Bo": [-3.0, -4.0]}


@pytest.fixture
def vocab() -> Vocab:
    vocab = spacy.blank("en").vocab
    data = np.array(list(TABLE.values()), dtype=np.float32)
    vocab.vectors = Vectors(strings=vocab.strings, data=data, keys=list(TABLE))
    return vocab


def test_tokens_get_their_vectors_at_unit_deviation(vocab):
    doc = Doc(vocab, words=["Bo", "met", "Ann"])
    model = build_fixed_vectors_v1(width=2)
    model.initialize(X=[doc])
    (vectors,) = model.predict([doc])
    expected = [TABLE["Bo"], TABLE["met"], TABLE["Ann"]]
    np.testing.assert_allclose(
        vectors, expected / np.std(list(TABLE.values())), rtol=1e-6
    )


def test_the_scale_is_kept_with_the_model(vocab):
    doc = Doc(vocab, words=["Ann"])
    model = build_fixed_vectors_v1(width=2)
    model.initialize(X=[doc])
    again = build_fixed_vectors_v1(width=2).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(again.predict([doc])[0], model.predict([doc])[0])
    assert again.attrs["scale"] != 1


def test_an_unknown_word_has_the_vector_zero(vocab):
    model = build_fixed_vectors_v1(width=2)
    (vectors,) = model.predict([Doc(vocab, words=["Zoe", "Ann"])])
    assert vectors.tolist() == [[0, 0], [3, 0]]


def test_an_empty_doc_has_no_vectors(vocab):
    model = build_fixed_vectors_v1(width=2)
    full, empty = model.predict([Doc(vocab, words=["Bo"]), Doc(vocab)])
    assert (full.shape, empty.shape) == ((1, 2), (0, 2))


def test_training_leaves_the_table_alone(vocab):
    before = vocab.vectors.data.copy()
    model = build_fixed_vectors_v1(width=2)
    vectors, backprop = model.begin_update([Doc(vocab, words=["Ann", "Zoe"])])
    vectors[0] += 1
    assert backprop([np.ones_like(vectors[0])]) == []
    np.testing.assert_array_equal(vocab.vectors.data, before)
    assert list(model.param_names) == []


@pytest.mark.parametrize("words", [[], ["Ann"]])
def test_a_doc_without_vectors_is_refused(words):
    with pytest.raises(ValueError, match=r"R003.*fixed_vectors.*vocab has none"):
        build_fixed_vectors_v1(width=2).predict([Doc(Vocab(), words=words)])


def test_vectors_of_another_width_are_refused(vocab):
    model = build_fixed_vectors_v1(width=300)
    with pytest.raises(ValueError, match=r"R004.*width 2, .*width 300.*to 2\."):
        model.initialize(X=[Doc(vocab, words=["Ann"])])
