"""What is kept when a pipeline is saved: weights, and settings whoever made them."""

import numpy as np
import pytest
import spacy
from spacy.cli.find_threshold import find_threshold
from spacy.language import Language
from spacy.tokens import DocBin

from refreader_spacy.batching import read_docs

TEXT = "Bo told Ann Lee that he was late."
SETTINGS = {
    "threshold": 0.9,
    "keep_singletons": True,
    "spans_prefix": "entities",
    "trace": True,
}
OVERRIDE = {"components": {"refreader": SETTINGS}}


@pytest.fixture
def saved(reader_nlp: Language, tmp_path):
    folder = tmp_path / "pipeline"
    reader_nlp.to_disk(folder)
    return folder


def update_gates(nlp: Language) -> np.ndarray:
    model = nlp.get_pipe("refreader").model
    (part,) = read_docs(model, [nlp.make_doc(TEXT)], gates=True)
    return part.gates.update


def settings_of(nlp: Language) -> dict:
    """As users see them; and spaCy's tools, which look in `cfg`, must see the same."""
    pipe = nlp.get_pipe("refreader")
    seen = {name: getattr(pipe, name) for name in SETTINGS}
    assert seen == {name: pipe.cfg[name] for name in SETTINGS}
    return seen


def change_settings(nlp: Language, settings: dict) -> None:
    for name, value in settings.items():
        setattr(nlp.get_pipe("refreader"), name, value)


def through_bytes(nlp: Language) -> Language:
    again = spacy.util.load_model_from_config(nlp.config)
    return again.from_bytes(nlp.to_bytes())


def test_settings_that_are_overridden_at_load_survive(saved, tmp_path):
    nlp = spacy.load(saved, config=OVERRIDE)
    assert settings_of(nlp) == SETTINGS
    nlp.to_disk(tmp_path / "again")
    assert settings_of(spacy.load(tmp_path / "again")) == SETTINGS


def test_settings_that_are_changed_at_run_time_survive(reader_nlp, tmp_path):
    change_settings(reader_nlp, SETTINGS)
    reader_nlp.to_disk(tmp_path / "changed")
    assert settings_of(spacy.load(tmp_path / "changed")) == SETTINGS
    assert settings_of(through_bytes(reader_nlp)) == SETTINGS


def test_an_override_wins_over_a_change_and_leaves_others_alone(reader_nlp, tmp_path):
    change_settings(reader_nlp, {"threshold": 0.3, "spans_prefix": "people"})
    reader_nlp.to_disk(tmp_path / "changed")
    override = {"components": {"refreader": {"threshold": 0.9}}}
    settings = settings_of(spacy.load(tmp_path / "changed", config=override))
    assert (settings["threshold"], settings["spans_prefix"]) == (0.9, "people")


def test_a_float_that_json_changes_is_not_an_override(saved, tmp_path):
    """What is saved as 0.3 is loaded as 0.30000000000000004."""
    override = {"components": {"refreader": {"threshold": 0.3}}}
    nlp = spacy.load(saved, config=override)
    change_settings(nlp, {"threshold": 0.5})
    nlp.to_disk(tmp_path / "changed")
    assert settings_of(spacy.load(tmp_path / "changed"))["threshold"] == 0.5


def test_weights_survive_to_the_bit(reader_nlp, saved):
    for again in (spacy.load(saved), through_bytes(reader_nlp)):
        np.testing.assert_array_equal(update_gates(again), update_gates(reader_nlp))


def test_a_sourced_pipe_reads_like_its_source(reader_nlp):
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader", source=reader_nlp)
    np.testing.assert_array_equal(update_gates(nlp), update_gates(reader_nlp))


def test_saving_twice_writes_the_same(reader_nlp, saved, tmp_path):
    spacy.load(saved).to_disk(tmp_path / "again")
    for name in ("config.cfg", "refreader/cfg"):
        assert (saved / name).read_text() == (tmp_path / "again" / name).read_text()
    weights = (folder / "refreader" / "model" for folder in (saved, tmp_path / "again"))
    first, second = (path.read_bytes() for path in weights)
    assert first == second


def test_spacys_search_for_a_threshold_works(saved, examples, tmp_path):
    DocBin(docs=[example.reference for example in examples]).to_disk(
        tmp_path / "dev.spacy"
    )
    best, score, scores = find_threshold(
        str(saved),
        tmp_path / "dev.spacy",
        pipe_name="refreader",
        threshold_key="threshold",
        scores_key="coref_f",
        n_trials=3,
    )
    assert list(scores) == [0, 0.5, 1]
    assert scores[best] == score == max(scores.values())
