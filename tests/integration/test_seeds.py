"""An experiment several times: what is trained, scored, and left alone."""

import json
import os
import shutil
from pathlib import Path

import pytest
import spacy
from spacy.cli.init_config import fill_config
from spacy.tokens import DocBin
from typer.testing import CliRunner, Result

from refreader_spacy.cli import app


@pytest.fixture
def config(reader_nlp, examples, tmp_path, monkeypatch) -> str:
    """Of a training that is over after two steps."""
    monkeypatch.chdir(tmp_path)
    docs = [example.reference for example in examples]
    DocBin(docs=docs, store_user_data=True).to_disk("rows.spacy")
    config = reader_nlp.config.copy()
    config["paths"] |= {"train": "rows.spacy", "dev": "rows.spacy"}
    config["training"] |= {"max_steps": 2, "eval_frequency": 1}
    config.to_disk("first.cfg")
    fill_config(Path("small.cfg"), Path("first.cfg"))
    return "small.cfg"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def seeds(config: str, *more: object) -> Result:
    options = ("--row", "ours", "--n-seeds", 2, "--test", "rows.spacy")
    result = run("seeds", config, *options, *more)
    assert result.exit_code == 0, result.output
    return result


def changed(name: str) -> float:
    return Path("metrics", name).stat().st_mtime


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_each_seed_is_trained_and_scored_and_a_finished_one_left_alone(config):
    seeds(config, "--components.refreader.spans_prefix", "coref_clusters")
    for seed in (1, 2):
        scores = json.loads(Path(f"metrics/small_s{seed}.json").read_text())
        assert (scores["row"], scores["seed"]) == ("ours", seed)
        nlp = spacy.load(f"training/small/{seed}/model-best")
        assert nlp.get_pipe("refreader").threshold == pytest.approx(scores["threshold"])
    first, second = changed("small_s1.json"), changed("small_s2.json")
    os.utime("metrics/small_s2.json", (0, 0))  # older than what it was made from
    result = seeds(config)
    assert "small_s1.json is there already" in result.output
    assert changed("small_s1.json") == first
    assert changed("small_s2.json") > second


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_seeds_side_by_side_are_the_same_as_one_by_one(config):
    seeds(config, "--name", "one")
    result = seeds(config, "--name", "two", "--at-once", 2)
    for seed in (1, 2):
        one, two = (
            json.loads(Path(f"metrics/{name}_s{seed}.json").read_text())
            for name in ("one", "two")
        )
        assert one == two
        log = Path(f"training/two/{seed}/log.txt")
        assert str(log) in result.output
        assert "LOSS REFRE" in log.read_text()


def test_a_seed_that_fails_beside_others_is_an_error(config):
    options = ("--row", "ours", "--n-seeds", 2, "--test", "rows.spacy")
    broken = ("--paths.train", "none_{seed}.spacy", "--at-once", 2)
    result = run("seeds", config, *options, *broken)
    assert result.exit_code != 0
    assert not list(Path().glob("metrics/*.json"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_settings_may_have_the_seed_in_them(config):
    for seed in (1, 2):
        shutil.copy("rows.spacy", f"rows_{seed}.spacy")
    seeds(config, "--name", "own", "--paths.train", "rows_{seed}.spacy")
    for seed in (1, 2):
        trained = spacy.util.load_config(f"training/own/{seed}/model-best/config.cfg")
        assert trained["paths"]["train"] == f"rows_{seed}.spacy"
