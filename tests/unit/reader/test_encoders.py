import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vectors import Vectors
from spacy.vocab import Vocab

from refreader_spacy.reader.encoders import (
    build_fixed_vectors_v1,
    build_word_vectors_v1,
)

TABLE = {"Ann": [3.0, 0.0], "met": [0.0, 4.0], "Bo": [-3.0, -4.0]}
SCALE = 1 / np.std(list(TABLE.values()))
both = pytest.mark.parametrize("build", [build_fixed_vectors_v1, build_word_vectors_v1])


@pytest.fixture
def vocab() -> Vocab:
    vocab = spacy.blank("en").vocab
    data = np.array(list(TABLE.values()), dtype=np.float32)
    vocab.vectors = Vectors(strings=vocab.strings, data=data, keys=list(TABLE))
    return vocab


def initialized(build, vocab, **settings):
    model = build(width=2, **settings)
    model.initialize(X=[Doc(vocab, words=["Ann"])])
    return model


@both
def test_tokens_get_their_vectors_at_unit_deviation(build, vocab):
    model = initialized(build, vocab)
    (vectors,) = model.predict([Doc(vocab, words=["Bo", "met", "Ann"])])
    expected = np.array([TABLE["Bo"], TABLE["met"], TABLE["Ann"]]) * SCALE
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
    assert vectors.dtype == np.float32


@both
def test_a_word_is_looked_up_in_lower_case_too(build, vocab):
    """The word itself comes first: a table may tell Bo from bo."""
    model = initialized(build, vocab)
    (vectors,) = model.predict([Doc(vocab, words=["MET", "Ann", "ann"])])
    expected = np.array([TABLE["met"], TABLE["Ann"], [0, 0]]) * SCALE
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)


@both
def test_an_unknown_word_has_the_vector_zero(build, vocab):
    (vectors,) = initialized(build, vocab).predict([Doc(vocab, words=["Zoe", "Ann"])])
    assert vectors[0].tolist() == [0, 0]
    assert vectors[1].any()


@both
def test_an_empty_doc_has_no_vectors(build, vocab):
    docs = [Doc(vocab, words=["Bo"]), Doc(vocab)]
    full, empty = initialized(build, vocab).predict(docs)
    assert (full.shape, empty.shape) == ((1, 2), (0, 2))


@both
def test_a_part_of_a_doc_has_the_docs_vectors(build, vocab):
    model = initialized(build, vocab)
    doc = Doc(vocab, words=["Bo", "met", "Ann", "Zoe"])
    (whole,), (part,) = model.predict([doc]), model.predict([doc[1:3]])
    np.testing.assert_array_equal(part, whole[1:3])


@both
def test_a_saved_encoder_gives_the_same(build, vocab):
    model = initialized(build, vocab)
    again = build(width=2).from_bytes(model.to_bytes())
    docs = [Doc(vocab, words=["Bo", "Zoe", "met"])]
    np.testing.assert_array_equal(again.predict(docs)[0], model.predict(docs)[0])


def test_a_table_of_its_own_needs_none_in_the_pipeline(vocab):
    model = initialized(build_word_vectors_v1, vocab)
    (vectors,) = model.predict([Doc(Vocab(), words=["Ann"])])
    np.testing.assert_allclose(vectors[0], np.array(TABLE["Ann"]) * SCALE, rtol=1e-6)


def test_a_table_of_its_own_learns_the_words_it_saw(vocab):
    model = initialized(build_word_vectors_v1, vocab)
    docs = [Doc(vocab, words=["Ann", "Zoe", "Ann"]), Doc(vocab), Doc(vocab, ["Bo"])]
    vectors, backprop = model.begin_update(docs)
    assert backprop([np.ones_like(each) for each in vectors]) == []
    # Unknown words, Ann, met, Bo
    assert model.get_grad("E").tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_a_table_of_its_own_learns_nothing_if_told_so(vocab):
    model = initialized(build_word_vectors_v1, vocab, learn=False)
    vectors, backprop = model.begin_update([Doc(vocab, words=["Ann"])])
    backprop(vectors)
    assert not model.has_grad("E")


def test_whether_it_learns_is_not_loaded_with_the_weights(vocab):
    saved = initialized(build_word_vectors_v1, vocab, learn=True).to_bytes()
    model = build_word_vectors_v1(width=2, learn=False).from_bytes(saved)
    vectors, backprop = model.begin_update([Doc(vocab, words=["Ann"])])
    backprop(vectors)
    assert not model.has_grad("E")


def test_training_leaves_the_pipelines_table_alone(vocab):
    before = vocab.vectors.data.copy()
    model = initialized(build_fixed_vectors_v1, vocab)
    vectors, backprop = model.begin_update([Doc(vocab, words=["Ann", "Zoe"])])
    vectors[0] += 1
    assert backprop([np.ones_like(vectors[0])]) == []
    np.testing.assert_array_equal(vocab.vectors.data, before)
    assert list(model.param_names) == []


@pytest.mark.parametrize("words", [[], ["Ann"]])
def test_a_doc_without_vectors_is_refused(words):
    with pytest.raises(ValueError, match=r"R003.*fixed_vectors.*vocab has none"):
        build_fixed_vectors_v1(width=2).predict([Doc(Vocab(), words=words)])


@both
def test_vectors_of_another_width_are_refused(build, vocab):
    model = build(width=300)
    with pytest.raises(ValueError, match=r"R004.*width 2, .*width 300.*width = 2"):
        model.initialize(X=[Doc(vocab, words=["Ann"])])
