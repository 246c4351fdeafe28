"""Words that are forgotten again, and whose are not."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from spacy.lang.en import English
from spacy.vectors import Vectors

from refreader_spacy.streaming import transient_vocab
from refreader_spacy.streaming.transient_vocab import TransientVocabs


@pytest.fixture
def vocabs(nlp) -> TransientVocabs:
    return TransientVocabs(nlp.vocab)


@pytest.mark.parametrize("piece", ["Ann told Bo ", ["Ann", "told", "Bo"]])
def test_docs_that_are_made_while_a_stream_reads_keep_their_words(reader_nlp, piece):
    """As another thread makes them."""
    stream = reader_nlp.get_pipe("refreader").stream()
    read = stream._read
    docs = []

    def interrupted(doc, metas):
        docs.append(reader_nlp("Zoetrope12 left Zoetrope34"))
        return read(doc, metas)

    stream._read = interrupted
    stream.feed(piece)
    stream.close()
    assert [token.text for token in docs[0]] == ["Zoetrope12", "left", "Zoetrope34"]


def test_new_words_are_forgotten(reader_nlp):
    stream = reader_nlp.get_pipe("refreader").stream()
    n_strings = len(reader_nlp.vocab.strings)
    stream.feed("Zoetrope12 left. ")
    stream.feed(["Zoetrope34", "left"])
    stream.close()
    assert len(reader_nlp.vocab.strings) == n_strings


def test_a_vocab_that_many_words_went_through_is_replaced(nlp, vocabs, monkeypatch):
    """Its tables grow with all words that were ever in it."""
    used = []
    for n_strings in (1000, 1000, 1, 1000):
        monkeypatch.setattr(transient_vocab, "MAX_STRINGS", n_strings)
        with vocabs.zone(nlp.tokenizer) as words:
            words.tokenizer(f"Zoetrope{len(used)} left")
            used.append(words.vocab)
    assert used[0] is used[1] is used[2]
    assert used[2] is not used[3]


def test_tokens_are_those_of_the_pipeline(nlp, vocabs):
    """Of its tokenizer as it is now, with the same attributes and vectors."""
    text = "Ann's gonna see Dr. Lee, e.g. at http://a.b/c (10km); gimme!"
    nlp.vocab.vectors = Vectors(data=np.ones((1, 3), np.float32), keys=["Ann"])
    for _ in range(2):
        with vocabs.zone(nlp.tokenizer) as words:
            own, expected = words.tokenizer(text), nlp.tokenizer(text)
            for name in ("text", "whitespace_", "norm_", "shape_", "is_stop", "rank"):
                found = [getattr(token, name) for token in own]
                assert found == [getattr(token, name) for token in expected]
            assert (own[0].vector == expected[0].vector).all()
        nlp.tokenizer.add_special_case("gimme", [{"ORTH": "gim"}, {"ORTH": "me"}])
    assert nlp.vocab.vectors.strings is nlp.vocab.strings


def test_a_copy_is_used_again_and_by_one_at_a_time(nlp, vocabs):
    with vocabs.zone(nlp.tokenizer) as first, vocabs.zone(nlp.tokenizer) as second:
        assert first.vocab is not second.vocab
    with vocabs.zone(nlp.tokenizer) as third:
        assert third.vocab in (first.vocab, second.vocab)


def test_another_tokenizer_keeps_words_where_there_are_other_threads(nlp, vocabs):
    def n_new() -> int:
        before = len(nlp.vocab.strings)
        with vocabs.zone(lambda text: nlp.tokenizer(text)) as words:
            assert words.vocab is nlp.vocab
            words.tokenizer(f"Zoetrope{before}")
        return len(nlp.vocab.strings) - before

    with ThreadPoolExecutor(1) as other:
        assert other.submit(n_new).result() > 0


def test_a_pipe_with_streams_can_be_pickled(reader_nlp):
    reader_nlp.get_pipe("refreader").stream().feed("Ann told Bo ")
    vocabs = pickle.loads(pickle.dumps(TransientVocabs(English().vocab)))
    assert not vocabs._idle
