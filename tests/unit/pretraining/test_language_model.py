"""The reader as a language model: what is carried, what is not, what is unknown."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from spacy.vectors import Vectors
from torch import Tensor

from refreader_spacy.paper.network import PaperNetwork
from refreader_spacy.pretraining.blocks import Cutter
from refreader_spacy.pretraining.corpus import PlainText
from refreader_spacy.pretraining.language_model import (
    LanguageModel,
    Streams,
    output_layer,
)
from refreader_spacy.pretraining.vocabulary import UNKNOWN, learn_vocabulary
from refreader_spacy.reader.encoders import build_word_vectors_v1, give_rows, word_rows

STARTS = np.array([0, 11, 12, 19, 30])
N_WORDS = 20
TOKENS = np.random.default_rng(1).integers(0, N_WORDS, 30).astype(np.int32)


@pytest.fixture
def model() -> LanguageModel:
    torch.manual_seed(0)
    reader = PaperNetwork(
        width=6,
        hidden_size=16,
        key_size=4,
        n_cells=2,
        entity_half_life=4.0,
        word_half_life=30.0,
        memory_bias=0.0,
        dropout=0.0,
    )
    output = output_layer(16, N_WORDS, [5, 10])
    return LanguageModel(torch.randn(N_WORDS, 6), reader, output).eval()


def read(model: LanguageModel, n_streams: int, length: int) -> Tensor:
    """The log probability of each token, in the order of the text."""
    words = np.arange(N_WORDS)
    streams = Streams(model, n_streams, words, words, TOKENS)
    found = torch.zeros(len(TOKENS))
    for block in Cutter(n_streams, length)(STARTS, np.arange(4)):
        places, _ = block.packed()
        found[torch.from_numpy(places)] = streams.read(block).log_probability
    return found


@pytest.mark.parametrize(("n_streams", "length"), [(1, 1), (1, 4), (2, 3), (5, 7)])
def test_a_text_read_in_blocks_is_read_as_a_whole(model, n_streams, length):
    torch.testing.assert_close(read(model, n_streams, length), read(model, 4, 99))


def test_the_slow_way_gives_the_same(model):
    """Each article from its beginning, with nothing known before its first word."""
    found = read(model, 2, 3)
    for start, end in pairwise(STARTS):
        words = torch.from_numpy(TOKENS[start:end].astype(np.int64))
        packed = model.reader(model.embed(words), batch_sizes=[1] * len(words))
        before = torch.cat([model.reader.initial_hidden[None], packed.hidden[:-1]])
        expected = model.output.log_prob(before)[torch.arange(len(words)), words]
        torch.testing.assert_close(found[start:end], expected)


def test_what_a_word_is_doesnt_change_how_likely_earlier_ones_were(model, monkeypatch):
    before = read(model, 2, 3)
    monkeypatch.setitem(globals(), "TOKENS", TOKENS.copy())
    TOKENS[5] = (TOKENS[5] + 1) % N_WORDS
    after = read(model, 2, 3)
    changed = (before != after).nonzero().flatten().tolist()
    assert 5 in changed
    assert set(changed) <= set(range(5, 11))


def test_a_model_that_knows_nothing_has_as_many_choices_as_words(model):
    """With one group of words, all of them equally likely."""
    model.output = output_layer(16, N_WORDS, [N_WORDS - 1])
    for parameter in model.output.parameters():
        torch.nn.init.zeros_(parameter)
    perplexity = math.exp(-read(model, 2, 3).mean().item())
    assert perplexity == pytest.approx(N_WORDS)


def test_every_part_learns(model):
    model.train()
    words = np.arange(N_WORDS)
    streams = Streams(model, 2, words, words, TOKENS)
    first, second, *_ = Cutter(2, 4)(STARTS, np.arange(4))
    streams.read(first)
    (-streams.read(second).log_probability.mean()).backward()
    missing = {name for name, p in model.named_parameters() if p.grad is None}
    assert missing == set()
    assert model.reader.memory.value.weight.grad.abs().sum() > 0
    assert model.embed.weight.grad.to_dense()[0].abs().sum() == 0


def test_a_block_doesnt_learn_from_the_one_before(model):
    model.train()
    words = np.arange(N_WORDS)
    streams = Streams(model, 1, words, words, TOKENS)
    for block in Cutter(1, 4)(STARTS, np.arange(1)):
        streams.read(block)
        assert not any(field.requires_grad for field in streams.state)


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    data = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=np.float32)
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, data=data, keys=["Ann", "met", "Zoe"]
    )
    for word, like in (("Jane", "Ann"), ("Joan", "Ann"), ("saw", "met")):
        nlp.vocab.vectors.add(word, row=nlp.vocab.vectors.key2row[nlp.vocab[like].orth])
    return nlp


@pytest.fixture
def encoder(nlp):
    encoder = build_word_vectors_v1(width=2)
    encoder.initialize(X=[nlp.make_doc("Ann")])
    return encoder


def vectors_of(encoder, nlp, *words: str):
    return encoder.predict([Doc(nlp.vocab, words=list(words))])[0].tolist()


def test_words_of_the_vocabulary_no_longer_share_their_row(encoder, nlp):
    before = vectors_of(encoder, nlp, "Ann", "Jane", "Joan", "Zoe")
    give_rows(encoder, nlp.vocab, ["Ann", "Jane", "MET"])
    assert vectors_of(encoder, nlp, "Ann", "Jane", "Joan", "Zoe") == before
    ann, jane, joan, zoe, met, shouted = word_rows(
        encoder, Doc(nlp.vocab, words=["Ann", "Jane", "Joan", "Zoe", "met", "MET"])
    )
    assert len({ann, jane, zoe, met, shouted}) == 5
    assert joan == ann  # nobody asked for Joan, so she learns with Ann


def test_a_name_unseen_in_pretraining_learns_with_those_that_share_its_vector(
    encoder, nlp
):
    words, counts = ["met", "Ann", "Qxz"], np.array([5, 2, 1])
    learn_vocabulary(encoder, nlp.vocab, words, counts, n_words=2)
    table = encoder.get_param("E")
    (row,) = word_rows(encoder, Doc(nlp.vocab, words=["Ann"]))
    table[row] = [7, 7]
    assert vectors_of(encoder, nlp, "Joan", "saw") == [[7, 7], table[2].tolist()]


def test_a_word_without_a_vector_is_known_by_its_shape(encoder, nlp):
    words, counts = ["met", "Qxzzy", "1899"], np.array([5, 1, 1])
    learn_vocabulary(encoder, nlp.vocab, words, counts, n_words=1)
    name, other, year, mark = word_rows(
        encoder, Doc(nlp.vocab, words=["Qxzzy", "Wvvvw", "1999", "?!"])
    )
    assert name == other != year
    assert 0 not in (name, year)
    assert mark == 0


def test_an_encoder_with_rows_given_is_saved_with_them(encoder, nlp):
    give_rows(encoder, nlp.vocab, ["Jane", "Ann", "Xxxx"])
    again = build_word_vectors_v1(width=2)
    again.initialize(X=[nlp.make_doc("Ann")])
    again.from_bytes(encoder.to_bytes())
    doc = Doc(nlp.vocab, words=["Ann", "Jane", "Wxyz"])
    assert word_rows(again, doc).tolist() == word_rows(encoder, doc).tolist()
    assert 0 not in word_rows(again, doc)


def test_classes_go_by_frequency_and_the_rest_is_one(encoder, nlp):
    words, counts = ["Ann", "met", "Zoe", "Bo"], np.array([1, 5, 3, 0])
    vocabulary = learn_vocabulary(encoder, nlp.vocab, words, counts, n_words=2)
    doc = Doc(nlp.vocab, words=["met", "Zoe", "Ann", "Bo", "?"])
    assert vocabulary.classes(doc).tolist() == [1, 2, *[UNKNOWN] * 3]
    assert len(vocabulary) == 3


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("Ann met Bo.\n\nBo ran.\n\nAnn won.\n\n \n\nZoe sat.", "utf8")
    return path


def test_a_text_becomes_numbers_and_back(text, tmp_path, nlp):
    corpus = PlainText(text, tmp_path / "cache", held_out=1)(nlp)
    text = " ".join(corpus.words[token] for token in corpus.tokens)
    assert text == "Ann met Bo . Bo ran . Ann won . Zoe sat ."
    assert corpus.starts.tolist() == [0, 4, 7, 10, 13]
    assert isinstance(corpus.tokens, np.memmap)


def test_words_are_counted_where_they_are_learned_from(text, tmp_path, nlp):
    corpus = PlainText(text, tmp_path / "cache", held_out=1)(nlp)
    (held_out,) = corpus.held_out
    assert held_out not in corpus.learned_from
    assert len(corpus.learned_from) == 3
    n_tokens = np.diff(corpus.starts)
    assert corpus.counts().sum() == n_tokens.sum() - n_tokens[held_out]


def test_held_out_articles_are_spread_over_the_text(text, tmp_path, nlp):
    text.write_text("\n\n".join(["Ann won."] * 103))
    corpus = PlainText(text, tmp_path / "cache", held_out=10)(nlp)
    assert len(corpus.held_out) == 10
    assert np.diff(corpus.held_out).min() == 10


def test_a_text_is_tokenised_once_until_it_changes(text, tmp_path, nlp):
    corpus = PlainText(text, tmp_path / "cache", held_out=1)
    corpus(nlp)
    (tmp_path / "cache" / "mark").touch()
    corpus(nlp)
    assert (tmp_path / "cache" / "mark").exists()
    text.write_text("Bo ran off.\n\nAnn won.")
    assert len(corpus(nlp).starts) == 3
    assert not (tmp_path / "cache" / "mark").exists()
    nlp.tokenizer.add_special_case("off.", [{"ORTH": "off."}])
    assert len(corpus(nlp).tokens) == 6


@pytest.mark.parametrize("held_out", [0, 4, 9])
def test_some_articles_are_held_out_and_some_left(held_out, text, tmp_path, nlp):
    with pytest.raises(ValueError, match=rf"R324.*4 articles.*held_out is {held_out}"):
        PlainText(text, tmp_path / "cache", held_out)(nlp)
