"""What can't be done is said: what was expected, what was found, and what to do."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.vectors import Vectors

HASHES = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 8,
    "depth": 1,
    "embed_size": 50,
    "window_size": 1,
    "maxout_pieces": 1,
    "subword_features": False,
    "pretrained_vectors": None,
}
FIXED = {"@architectures": "refreader-spacy.FixedVectors.v1", "width": 8}


def add_reader(nlp: Language, tok2vec: dict, **settings) -> None:
    model = {
        "@architectures": "refreader-spacy.RefReader.v1",
        "tok2vec": tok2vec,
        "width": 8,
        "hidden_size": 8,
        "key_size": 4,
    }
    model.update({key: settings.pop(key) for key in set(model) & set(settings)})
    nlp.add_pipe("refreader", config={"model": model, **settings})


def give_vectors(nlp: Language, width: int) -> None:
    data = np.ones((2, width), dtype=np.float32)
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, data=data, keys=["Ann", "Bo"]
    )


@pytest.mark.parametrize("text", ["", "Ann", "  \n ", "\n", "...", "\u200b", "🙂"])
def test_texts_with_nothing_to_link_are_read(reader_nlp, text):
    pipe = reader_nlp.get_pipe("refreader")
    pipe.trace = pipe.keep_singletons = True
    for doc in (reader_nlp(text), *reader_nlp.pipe([text, text])):
        assert doc.text == doc._.resolved_text == text
        assert doc._.coref_links == []


def test_a_reader_that_was_never_trained(nlp):
    add_reader(nlp, HASHES)
    with pytest.raises(
        ValueError, match=r"R002.*'refreader'.*never trained.*`spacy train`"
    ):
        nlp("Ann met Bo.")


def test_a_width_that_does_not_fit_the_encoder(nlp, examples):
    add_reader(nlp, HASHES, width=96)
    with pytest.raises(
        ValueError,
        match=r"R001.*width 8, .*width 96.*width = 8",
    ):
        nlp.initialize(lambda: examples)


def test_a_width_that_does_not_fit_a_listener(nlp, examples):
    nlp.add_pipe("tok2vec", config={"model": HASHES})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 8}
    add_reader(nlp, {**listener, "upstream": "*"}, width=96)
    with pytest.raises(ValueError, match=r"R001.*width 8, .*width 96"):
        nlp.initialize(lambda: examples)


def test_no_vectors_when_training_starts(nlp, examples):
    add_reader(nlp, FIXED)
    with pytest.raises(
        ValueError, match=r"R003.*vocab has none.*\[initialize\] vectors"
    ):
        nlp.initialize(lambda: examples)


def test_no_vectors_when_reading(nlp, examples):
    give_vectors(nlp, width=8)
    add_reader(nlp, FIXED)
    nlp.initialize(lambda: examples)
    nlp.vocab.vectors = Vectors()
    with pytest.raises(ValueError, match=r"R003.*vocab has none"):
        nlp("Ann met Bo.")


def test_vectors_of_another_width(nlp, examples):
    give_vectors(nlp, width=5)
    add_reader(nlp, FIXED)
    with pytest.raises(ValueError, match=r"R004.*width 5, .*width 8.*width = 5"):
        nlp.initialize(lambda: examples)


def test_no_gold_clusters(nlp):
    add_reader(nlp, HASHES)
    doc = nlp.make_doc("Ann met Bo.")
    doc.spans["people_1"] = [doc[0:1]]
    bare = [Example(nlp.make_doc(doc.text), doc)]
    with pytest.raises(
        ValueError, match=r"R006.*first 1 .*'coref_clusters_1'.*GapCorpus"
    ):
        nlp.initialize(lambda: bare)


@pytest.mark.parametrize("threshold", [-0.5, 1.5])
def test_a_threshold_out_of_range(nlp, threshold):
    with pytest.raises(
        ValueError, match=rf"R007.*between 0 and 1.*'refreader'.*{threshold}"
    ):
        add_reader(nlp, HASHES, threshold=threshold)


def test_a_threshold_out_of_range_at_load(reader_nlp, tmp_path):
    reader_nlp.to_disk(tmp_path)
    override = {"components": {"refreader": {"threshold": 2.0}}}
    with pytest.raises(ValueError, match=r"R007.*2\.0"):
        spacy.load(tmp_path, config=override)


def test_weights_of_another_size(reader_nlp, tmp_path):
    reader_nlp.to_disk(tmp_path)
    override = {"components": {"refreader": {"model": {"hidden_size": 9}}}}
    with pytest.raises(ValueError, match=r"R005.*size mismatch.*config\.cfg"):
        spacy.load(tmp_path, config=override)


def test_a_packaged_reader_that_is_not_there(nlp):
    model = {"@architectures": "refreader-spacy.PackagedReader.v1", "name": "en_none"}
    with pytest.raises(ValueError, match=r"R012.*'en_none'"):
        nlp.add_pipe("refreader", config={"model": model})
