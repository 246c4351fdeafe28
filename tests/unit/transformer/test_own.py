"""A transformer of the reader's own, as weights in the package have it."""

import numpy as np
import pytest
import spacy
from thinc.api import Config

pytest.importorskip("spacy_transformers")

from refreader_spacy.reader import packaged
from refreader_spacy.reader.packaged import build_packaged_reader_v1, write_packaged
from refreader_spacy.transformer import build_own_transformer_v1, build_transformer_v1

TEXT = "Ann Lee met Bo because she was late. Bo told Ann Lee that he can't stay."
CONFIG = """
[model]
@architectures = "refreader-spacy.EntityReader.v1"
width = 6
token_size = 8
hidden_size = 8
n_cells = 4

[model.tok2vec]
@architectures = "refreader-spacy.OwnTransformer.v1"
width = 6

[model.tok2vec.transformer]
@architectures = "refreader-spacy.Transformer.v1"
name = ""
layers = [1, 2]
window = 32
stride = 16
"""


@pytest.fixture(params=["bert"])
def name(request, tiny, tmp_path, monkeypatch) -> str:
    """Of weights in the package for a tiny transformer."""
    config = Config().from_str(CONFIG)["model"]
    config["tok2vec"]["transformer"]["name"] = str(tiny(request.param))
    config["tok2vec"]["transformer"]["lookahead"] = request.param == "bert"
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("refreader", config={"model": config})
    pipe.model.initialize(X=[nlp.make_doc(TEXT)])
    pipe.model.attrs["trained"] = True
    config["tok2vec"]["transformer"]["name"] = "nobody/has-this"
    folder = tmp_path / "weights" / "tiny"
    write_packaged(pipe.model, config, {"threshold": 0.3}, folder)
    monkeypatch.setattr(packaged, "files", lambda name: tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return "tiny"


def test_weights_of_the_package_find_their_transformer_in_a_folder(name, tiny):
    nlp = spacy.blank("en")
    model = build_packaged_reader_v1(name, transformer=str(tiny("bert")))
    long = nlp.make_doc(TEXT * 3)
    assert len(model.predict([nlp.make_doc(TEXT), nlp.make_doc(""), long])) == 3
    with pytest.raises(ValueError, match="R311"):  # another one
        build_packaged_reader_v1(name, transformer=str(tiny("roberta")))


def test_without_it_both_ways_out_are_told(name):
    with pytest.raises(ValueError, match=r"R025.*be online.*'transformer': 'FOLDER'"):
        build_packaged_reader_v1(name)


def test_a_part_of_a_doc_has_the_vectors_that_it_has_in_the_doc(tiny):
    transformer = build_transformer_v1(str(tiny("bert")), [1, 2], 32, 16)
    encoder = build_own_transformer_v1(transformer, width=6)
    doc = spacy.blank("en").make_doc(TEXT)
    encoder.initialize(X=[doc])
    whole, part = encoder.predict([doc, doc[3:7]])
    np.testing.assert_array_equal(whole[3:7], part)


def test_it_is_frozen(tiny):
    settings = {"trained_layers": 1, "save_weights": True}
    transformer = build_transformer_v1(str(tiny("bert")), [1, 2], 32, 16, **settings)
    with pytest.raises(ValueError, match="R339"):
        build_own_transformer_v1(transformer, width=6)


@pytest.mark.parametrize("name", ["llama"], indirect=True)
def test_weights_of_a_language_model_can_be_asked_for_surprisal(name, tiny):
    nlp = spacy.blank("en")
    settings = {
        "@architectures": "refreader-spacy.PackagedReader.v1",
        "name": name,
        "transformer": str(tiny("llama")),
    }
    plain = nlp.add_pipe("refreader", "plain", config={"model": settings})
    settings["surprisal"] = True
    asked = {"model": settings, "surprisal": True}
    nlp.add_pipe("refreader", config=asked)
    nlp.disable_pipe("plain")
    docs = list(nlp.pipe([TEXT, "", TEXT * 5]))
    for doc in docs:
        assert all(token._.surprisal > 0 for token in doc)
    (before,) = plain.model.predict([nlp.make_doc(TEXT)])
    (after,) = nlp.get_pipe("refreader").model.predict([nlp.make_doc(TEXT)])
    assert before.mentions.head.tolist() == after.mentions.head.tolist()


def test_weights_of_no_language_model_have_no_surprisal(name, tiny):
    with pytest.raises(ValueError, match=r"R027.*'en_smollm2'"):
        build_packaged_reader_v1(name, str(tiny("bert")), surprisal=True)
