"""What both readers' models check."""

import math

import pytest
import spacy

from refreader_spacy.reader.loss import LossWeights
from refreader_spacy.reader.model import loss_weights_of

TOK2VEC = {
    "@architectures": "spacy.MultiHashEmbed.v2",
    "width": 8,
    "attrs": ["NORM"],
    "rows": [200],
    "include_static_vectors": False,
}


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("EntityReader", "n_cells", 0),
        ("EntityReader", "token_size", -1),
        ("EntityReader", "dropout", 1.0),
        ("EntityReader", "word_dropout", -0.1),
        ("EntityReader", "noise", 2.0),
        ("RefReader", "n_cells", 0),
        ("RefReader", "key_size", 0),
        ("RefReader", "dropout", -1.0),
        ("RefReader", "tolerance", 1.5),
        ("RefReader", "entity_half_life", 0.0),
        ("RefReader", "word_half_life", -3.0),
    ],
)
def test_numbers_of_an_architecture_are_checked(kind, name, value):
    model = {
        "@architectures": f"refreader-spacy.{kind}.v1",
        "tok2vec": TOK2VEC,
        "width": 8,
        name: value,
    }
    with pytest.raises(ValueError, match=rf"R0(15|23).*{name}.*model\.{name}"):
        spacy.blank("en").add_pipe("refreader", config={"model": model})


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_loss_weights_are_checked(weight):
    name = next(iter(vars(LossWeights())))
    with pytest.raises(ValueError, match=rf"R023.*loss_weights\.{name}"):
        loss_weights_of(LossWeights, {name: weight})
