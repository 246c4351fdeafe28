"""Learning through the pipe, down into whatever encodes the tokens."""

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example
from spacy.vectors import Vectors
from thinc.api import Adam, fix_random_seed

from refreader_spacy.batching import read_docs

CNN = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 8,
    "depth": 1,
    "embed_size": 100,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
    "pretrained_vectors": None,
}
TOK2VEC = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 8,
        "attrs": ["NORM", "SHAPE"],
        "rows": [100, 50],
        "include_static_vectors": False,
    },
    "encode": {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": 8,
        "window_size": 1,
        "maxout_pieces": 2,
        "depth": 1,
    },
}
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 8, "upstream": "*"}
FIXED = {"@architectures": "refreader-spacy.FixedVectors.v1", "width": 8}
WORDS = {"@architectures": "refreader-spacy.WordVectors.v1", "width": 8}


def make_nlp(tok2vec, examples):
    """A reader over this encoder, in a pipeline of its own with the examples' vocab."""
    fix_random_seed(0)
    nlp = spacy.blank("en", vocab=examples[0].predicted.vocab)
    if tok2vec is LISTENER:
        nlp.add_pipe("tok2vec", config={"model": CNN})
    model = {
        "@architectures": "refreader-spacy.RefReader.v1",
        "tok2vec": tok2vec,
        "width": 8,
        "hidden_size": 8,
        "key_size": 4,
        "dropout": 0.0,
    }
    nlp.add_pipe("refreader", config={"model": model, "threshold": 0.5})
    nlp.initialize(lambda: examples)
    return nlp


def give_vectors(nlp):
    words = sorted(lexeme.text for lexeme in nlp.vocab)
    data = np.random.default_rng(0).standard_normal((len(words), 8), dtype=np.float32)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, keys=words)


def parameters(model):
    return {
        (node.name, name): node.get_param(name).copy()
        for node in model.walk()
        for name in node.param_names
        if node.has_param(name)
    }


@pytest.mark.parametrize(
    "tok2vec",
    [
        pytest.param(CNN, id="cnn"),
        pytest.param(TOK2VEC, id="tok2vec"),
        pytest.param(LISTENER, id="listener"),
        pytest.param(WORDS, id="words"),
    ],
)
def test_an_encoder_below_learns(nlp, examples, tok2vec):
    give_vectors(nlp)
    nlp = make_nlp(tok2vec, examples)
    name = "tok2vec" if tok2vec is LISTENER else "refreader"
    encoder = nlp.get_pipe(name).model
    encoder = encoder if tok2vec is LISTENER else encoder.layers[0]
    before = parameters(encoder)
    assert before
    for _ in range(2):  # a pipe's step comes before the next pipe's gradient
        nlp.update(examples, sgd=Adam(0.01))
    after = parameters(encoder)
    changed = [key for key in before if not np.array_equal(before[key], after[key])]
    assert changed == list(before)


def test_fixed_vectors_stay_as_they_are(nlp, examples):
    give_vectors(nlp)
    before = nlp.vocab.vectors.data.copy()
    nlp = make_nlp(FIXED, examples)
    first = nlp.update(examples, sgd=Adam(0.01))["refreader"]
    for _ in range(10):
        losses = nlp.update(examples, sgd=Adam(0.01))
    assert losses["refreader"] < first
    np.testing.assert_array_equal(nlp.vocab.vectors.data, before)


def texts_of(clusters):
    return [[span.text for span in cluster] for cluster in clusters]


def test_two_docs_are_learned_saved_and_loaded(paper_nlp, examples, tmp_path):
    optimizer = Adam(0.02)
    for _ in range(80):
        paper_nlp.update(examples, sgd=optimizer)
    paper_nlp.get_pipe("refreader").threshold = 0.5
    paper_nlp.to_disk(tmp_path)
    from_disk = spacy.load(tmp_path)
    from_bytes = spacy.util.load_model_from_config(paper_nlp.config)
    from_bytes.from_bytes(paper_nlp.to_bytes())
    gold = [[["Ann Lee", "she"]], [["Bo", "he"]]]
    for nlp in (paper_nlp, from_disk, from_bytes):
        docs = [nlp(example.reference.text) for example in examples]
        assert [texts_of(doc._.coref_clusters) for doc in docs] == gold
    links = [nlp(examples[0].text)._.coref_links for nlp in (paper_nlp, from_disk)]
    assert links[0][0].probability == links[1][0].probability > 0.5


def test_docs_of_any_length_may_be_in_a_batch(paper_nlp, examples):
    bare = [
        Example(paper_nlp.make_doc(text), paper_nlp.make_doc(text))
        for text in ("", "Ann", "  \n ")
    ]
    alone = paper_nlp.update(bare, sgd=Adam(0.01))["refreader"]
    together = paper_nlp.update([*bare, *examples], sgd=Adam(0.01))["refreader"]
    assert np.isfinite([alone, together]).all()


def test_a_seed_gives_the_same_weights(nlp, examples):
    one, other = (make_nlp(CNN, examples) for _ in range(2))
    for nlp in (one, other):
        fix_random_seed(1)
        nlp.update(examples, sgd=Adam(0.01))
    docs = [example.predicted for example in examples]
    models = [nlp.get_pipe("refreader").model for nlp in (one, other)]
    first, second = (read_docs(model, docs, gates=True) for model in models)
    for part, again in zip(first, second, strict=True):
        np.testing.assert_array_equal(part.gates.update, again.gates.update)


def test_averaged_weights_are_used_for_a_while(paper_nlp, examples):
    """Thinc's torch models ignore the optimizer's averages; ours must not."""
    optimizer = Adam(0.1, use_averages=True)
    for _ in range(3):
        paper_nlp.update(examples, sgd=optimizer)
    model = paper_nlp.get_pipe("refreader").model
    module = model.shims[0]._model
    latest = {name: p.detach().clone() for name, p in module.named_parameters()}
    with paper_nlp.use_params(optimizer.averages):
        averaged = {name: p.detach().clone() for name, p in module.named_parameters()}
    assert any(not torch.equal(latest[name], averaged[name]) for name in latest)
    for name, p in module.named_parameters():
        torch.testing.assert_close(p, latest[name])
