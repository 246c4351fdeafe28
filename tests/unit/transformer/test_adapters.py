"""Low-rank additions to a transformer's weights."""

import numpy as np
import pytest
import spacy
import torch

pytest.importorskip("spacy_transformers")

from spacy.util import registry
from thinc.api import Adam

from refreader_spacy.cli.weights import with_own_transformer
from refreader_spacy.transformer import build_transformer_v1
from refreader_spacy.transformer.adapters import AdaptedLinear, add_adapters

TEXT = "Ann Lee met Bo because she was late. Bo told Ann Lee that he can't stay."


def adapted(folder, rank=2, trained_layers=1, **settings):
    model = build_transformer_v1(
        str(folder),
        [1, 2],
        32,
        16,
        trained_layers=trained_layers,
        adapter_rank=rank,
        **settings,
    )
    model.initialize()
    return model


def vectors_of(model) -> np.ndarray:
    doc = spacy.blank("en").make_doc(TEXT)
    (data,) = model.predict([doc]).doc_data
    return np.array(data.model_output.last_hidden_state)


def learn(model) -> None:
    """Make the last value of each vector larger and the one before smaller.

    Not all alike: the last thing that a layer does is to take the mean away.
    """
    doc = spacy.blank("en").make_doc(TEXT)
    result, backprop = model.begin_update([doc])
    (data,) = result.doc_data
    gradient = np.zeros_like(data.model_output[0])
    gradient[..., -1], gradient[..., -2] = -1, 1
    backprop(result.unsplit_by_doc([[gradient]]))
    for shim in model.shims:
        shim.finish_update(Adam(0.1))


def test_additions_change_nothing_at_first(tiny):
    plain = build_transformer_v1(str(tiny("bert")), [1, 2], 32, 16)
    plain.initialize()
    np.testing.assert_allclose(
        vectors_of(adapted(tiny("bert"))), vectors_of(plain), atol=5e-3
    )


@pytest.mark.parametrize("kind", ["bert", "roberta", "llama"])
def test_only_additions_to_the_highest_layers_learn(kind, tiny):
    causal = {"lookahead": False} if kind == "llama" else {}
    model = adapted(tiny(kind), **causal)
    transformer = model.shims[0]._model.transformer
    before = {k: v.clone() for k, v in transformer.state_dict().items()}
    learn(model)
    after = transformer.state_dict()
    changed = {k for k, v in before.items() if not torch.equal(v, after[k])}
    assert changed
    assert all(name.endswith(".up") and ".1." in name for name in changed)


def test_they_are_saved_without_the_transformer(tiny):
    model = adapted(tiny("bert"))
    learn(model)
    saved = model.to_bytes()
    loaded = adapted(tiny("bert"))
    assert not np.array_equal(vectors_of(loaded), vectors_of(model))
    loaded.from_bytes(saved)
    np.testing.assert_array_equal(vectors_of(loaded), vectors_of(model))
    whole = adapted(tiny("bert"), save_weights=True)
    assert len(saved) < len(whole.to_bytes()) / 2


def test_additions_of_another_rank_are_refused(tiny):
    saved = adapted(tiny("bert"), rank=3).to_bytes()
    with pytest.raises(ValueError, match=r"R337.*adapter_rank"):
        adapted(tiny("bert")).from_bytes(saved)


@pytest.mark.parametrize(("rank", "layers"), [(-1, 1), (4, 0)])
def test_a_rank_without_layers_is_refused(rank, layers, tiny):
    with pytest.raises(ValueError, match="R338"):
        adapted(tiny("bert"), rank=rank, trained_layers=layers)


def test_layers_that_are_not_linear_are_refused(tiny):
    with pytest.raises(ValueError, match=r"R336.*adapter_rank = 0"):
        adapted(tiny("gpt2"), lookahead=False)


def test_the_addition_is_a_product():
    layers = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(3, 5)))
    base = layers[0][0]
    add_adapters(layers, ["0"], 2)
    found = layers[0][0]
    assert isinstance(found, AdaptedLinear)
    torch.nn.init.normal_(found.up)
    x = torch.randn(4, 3)
    expected = base(x) + x @ (found.up @ found.down).T
    torch.testing.assert_close(found(x), expected)


def test_packaged_weights_have_them_too(tiny, examples):
    nlp = spacy.blank("en")
    transformer = {
        "@architectures": "refreader-spacy.Transformer.v1",
        "name": str(tiny("bert")),
        "layers": [1, 2],
        "window": 32,
        "stride": 16,
        "trained_layers": 1,
        "adapter_rank": 2,
    }
    encoder = {"@architectures": "refreader-spacy.TransformerLayers.v1", "width": 8}
    reader = {
        "@architectures": "refreader-spacy.EntityReader.v1",
        "tok2vec": encoder,
        "width": 8,
        "token_size": 8,
        "hidden_size": 8,
    }
    nlp.add_pipe("transformer", config={"model": transformer})
    nlp.add_pipe("refreader", config={"model": reader})
    nlp.initialize(lambda: examples)
    plain, _ = with_own_transformer(nlp, "refreader")
    learn(nlp.get_pipe("transformer").model)
    own, config = with_own_transformer(nlp, "refreader")
    loaded = registry.resolve({"model": config})["model"].from_bytes(own.to_bytes())
    doc = nlp(TEXT)
    (expected,) = nlp.get_pipe("refreader").model.layers[0].predict([doc])
    (found,) = loaded.layers[0].predict([nlp.make_doc(TEXT)])
    np.testing.assert_allclose(found, expected, atol=5e-3)
    (before,) = plain.layers[0].predict([nlp.make_doc(TEXT)])
    assert not np.allclose(before, expected, atol=5e-2)


def test_words_are_as_unexpected_as_they_were_without_them(tiny):
    model = adapted(tiny("llama"), lookahead=False, surprisal=True)
    doc = spacy.blank("en").make_doc(TEXT)
    before = model.predict([doc]).doc_data[0]
    learn(model)
    after = model.predict([doc]).doc_data[0]
    np.testing.assert_array_equal(after.surprisal, before.surprisal)
    vectors = [
        np.array(data.model_output.last_hidden_state) for data in (before, after)
    ]
    assert not np.allclose(*vectors, atol=5e-2)
