"""How unexpected words are to a causal transformer, and that vectors stay the same."""

import math

import numpy as np
import pytest
import spacy
import torch

pytest.importorskip("spacy_transformers")
from transformers import AutoModelForCausalLM, AutoTokenizer

from refreader_spacy.transformer import build_transformer_v1

TEXTS = ["Zoë's naïve café", "Ann can't stay, Bo said.", "", "Late"]
kinds = pytest.mark.parametrize("kind", ["gpt2", "llama"])


def started(folder, layers=(1, 2), **settings):
    model = build_transformer_v1(
        str(folder), list(layers), window=32, stride=16, lookahead=False, **settings
    )
    model.initialize()
    return model


def data_of(model, texts):
    nlp = spacy.blank("en")
    return model.predict([nlp(text) for text in texts]).doc_data


def vectors_of(model, texts):
    return [data.model_output.last_hidden_state for data in data_of(model, texts)]


@kinds
def test_a_words_surprisal_is_the_sum_of_its_pieces(kind, tiny):
    """By the library's own loss, of one piece after another."""
    tokenizer = AutoTokenizer.from_pretrained(tiny(kind))
    whole = AutoModelForCausalLM.from_pretrained(tiny(kind)).eval()
    model = started(tiny(kind), surprisal=True)
    for text, data in zip(TEXTS, data_of(model, TEXTS), strict=True):
        doc = spacy.blank("en")(text)
        seen, expected = [tokenizer.bos_token_id], []
        for token in doc:
            space = doc[token.i - 1].whitespace_ if token.i else ""
            bits = 0.0
            for piece in tokenizer.encode(space + token.text, add_special_tokens=False):
                with torch.no_grad():
                    scores = whole(torch.tensor([seen])).logits[0, -1]
                bits -= scores.log_softmax(-1)[piece].item() / math.log(2)
                seen.append(piece)
            expected.append(bits)
        np.testing.assert_allclose(data.surprisal, expected, rtol=1e-3)


@kinds
@pytest.mark.parametrize("layers", [[1, 2], [3]])
def test_surprisal_leaves_vectors_and_fingerprints_as_they_are(kind, layers, tiny):
    plain, predicting = (
        started(tiny(kind), layers, surprisal=surprisal) for surprisal in (False, True)
    )
    assert plain.shims[0].fingerprint == predicting.shims[0].fingerprint
    assert all(data.surprisal is None for data in data_of(plain, TEXTS))
    for a, b in zip(
        vectors_of(plain, TEXTS), vectors_of(predicting, TEXTS), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@kinds
def test_a_long_text_is_predicted_in_windows(kind, tiny):
    """Each word counts, after at least as many pieces as windows overlap by."""
    model = started(tiny(kind), surprisal=True)
    (data,) = data_of(model, ["Ann Lee met Bo. " * 20])
    assert (data.surprisal > 0).all()


@kinds
def test_saved_weights_may_predict_words(kind, tiny):
    options = {"window": 32, "stride": 16, "lookahead": False, "save_weights": True}
    model = started(tiny(kind), surprisal=True, save_weights=True)
    data = model.to_bytes()
    for surprisal in (True, False):
        again = build_transformer_v1(
            "nowhere", [1, 2], surprisal=surprisal, **options
        ).from_bytes(data)
        pairs = zip(data_of(model, TEXTS), data_of(again, TEXTS), strict=True)
        for a, b in pairs:
            np.testing.assert_array_equal(
                a.model_output.last_hidden_state, b.model_output.last_hidden_state
            )
            if surprisal:
                np.testing.assert_array_equal(a.surprisal, b.surprisal)
    bare = started(tiny(kind), save_weights=True).to_bytes()
    with pytest.raises(ValueError, match=r"R317.*nowhere.*surprisal = false"):
        build_transformer_v1("nowhere", [1, 2], surprisal=True, **options).from_bytes(
            bare
        )
