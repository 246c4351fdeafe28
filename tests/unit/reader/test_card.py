import json
from importlib.resources import files

import pytest
import spacy

from refreader_spacy.component import PACKAGED
from refreader_spacy.reader.card import fill_meta

CARD = {
    "name": "en_tiny",
    "description": "Reads.",
    "author": "Ann",
    "license": "CC0",
    "url": "https://example.org",
    "data": [{"name": "Letters", "license": "MIT"}],
    "scores": {"F1": 50.0, "by year": [50.0]},
}


def test_a_blank_pipeline_says_what_its_weights_say():
    meta = spacy.blank("en").meta
    fill_meta(meta, CARD)
    assert meta["name"] == "refreader_tiny"
    for name in ("description", "author", "license", "url"):
        assert meta[name] == CARD[name]
    weights, letters = meta["sources"]
    assert weights["license"] == "CC0"
    assert letters == CARD["data"][0]
    assert meta["performance"] == {"F1": 0.5}
    before = dict(meta)
    fill_meta(meta, CARD)
    assert meta == before


def test_what_a_pipeline_says_of_itself_stays():
    meta = spacy.blank("en").meta
    meta |= {"name": "mine", "license": "MIT", "sources": ["Me"]}
    meta["performance"] = {"tag_acc": 0.9}
    fill_meta(meta, CARD)
    assert (meta["name"], meta["license"]) == ("mine", "MIT")
    assert meta["sources"][0] == "Me"
    assert meta["sources"][1]["license"] == "CC0"
    assert meta["performance"] == {"F1": 0.5, "tag_acc": 0.9}


def test_a_saved_pipeline_has_a_full_meta(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader")
    nlp.to_disk(tmp_path)
    meta = json.loads((tmp_path / "meta.json").read_text("utf8"))
    for name in ("description", "author", "license", "url", "sources", "performance"):
        assert meta[name], name
    assert "person" in meta["labels"]["refreader"]
    again = spacy.load(tmp_path).meta
    assert again.pop("performance") == pytest.approx(nlp.meta["performance"])
    assert again == {k: v for k, v in nlp.meta.items() if k != "performance"}


def test_the_card_in_the_package_is_complete():
    name = PACKAGED["name"]
    text = (files("refreader_spacy") / "weights" / name / "card.json").read_text("utf8")
    card = json.loads(text)
    assert card["name"] == name
    assert card["limits"]
    assert 0 < card["threshold"] < 1
    for source in card["data"]:
        assert source["name"]
        assert source["license"]
    scores = card["scores"]
    percent = {name: scores[name] for name in scores if " to " not in name}
    assert len(percent) > 10
    assert all(0 <= score <= 100 for score in percent.values())
