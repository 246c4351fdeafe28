"""The project file: what weasel, the README and the data beside us make of it."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import spacy
import typer
from spacy.tokens import DocBin
from typer.testing import CliRunner, Result
from weasel.util import get_checksum, load_project_config

from refreader_spacy.cli.assets import assets
from refreader_spacy.cli.corpus import corpus

ROOT = Path(__file__).parents[2]
COMMITTED = ("assets/demo", "assets/everyday")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh clone, as far as the project's first steps need it."""
    shutil.copy(ROOT / "project.yml", tmp_path)
    shutil.copytree(ROOT / "assets" / "demo", tmp_path / "assets" / "demo")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def project() -> dict[str, Any]:
    return dict(load_project_config(ROOT))


def run(*args: str | Path) -> Result:
    app = typer.Typer()
    app.command()(assets)
    app.command()(corpus)
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_commands_call_spacy_and_refreader_only() -> None:
    for command in project()["commands"]:
        assert command["help"]
        for line in command["script"]:
            assert shlex.split(line)[:2] == ["python", "-m"]
            assert shlex.split(line)[2] in ("spacy", "refreader_spacy")


def test_configs_exist() -> None:
    words = [
        word
        for command in project()["commands"]
        for line in command["script"]
        for word in shlex.split(line)
        if word.endswith(".cfg")
    ]
    assert words
    assert [word for word in words if not (ROOT / word).is_file()] == []


def test_steps_of_a_workflow_find_what_they_need() -> None:
    commands = {command["name"]: command for command in project()["commands"]}
    for steps in project()["workflows"].values():
        made = {*project()["directories"], *COMMITTED}
        for step in steps:
            for dep in commands[step].get("deps", []):
                assert dep in made or dep.startswith("configs/")
            for outputs in ("outputs", "outputs_no_cache"):
                made.update(commands[step].get(outputs, []))


def test_every_asset_has_its_checksum_or_repository() -> None:
    for asset in project()["assets"]:
        assert asset["dest"].startswith("assets/")
        address = asset.get("git", {}).get("repo") or asset.get("url")
        assert asset.get("checksum") or "git" in asset
        assert address is None or address.startswith("https://")
        assert asset.get("extra") or asset["url"]


def test_without_assets_the_corpus_is_the_demo_and_says_so(clone: Path) -> None:
    result = run("corpus")
    assert result.exit_code == 0, result.exception
    assert "DEMO" in result.stdout
    assert json.loads((clone / "corpus" / "source.json").read_text()) == {
        "corpus": "demo"
    }
    nlp = spacy.load(clone / "corpus" / "vectors")
    assert nlp.vocab.vectors.shape[1] == 300
    docs = list(DocBin().from_disk(clone / "corpus" / "dev.spacy").get_docs(nlp.vocab))
    assert len(docs) == 20
    assert all(token.has_vector for doc in docs for token in doc)
    assert all("gap_pronoun" in doc.spans for doc in docs)


def test_making_the_corpus_twice_changes_nothing(clone: Path) -> None:
    run("corpus")
    before = get_checksum(clone / "corpus")
    run("corpus")
    assert get_checksum(clone / "corpus") == before


def test_with_a_part_of_the_assets_nothing_is_written(clone: Path) -> None:
    (clone / "assets" / "gap").mkdir()
    (clone / "assets" / "gap" / "gap-test.tsv").touch()
    result = run("corpus")
    assert isinstance(result.exception, ValueError)
    assert "R182" in str(result.exception)
    assert "gap-development.tsv" in str(result.exception)
    assert not (clone / "corpus").exists()


def test_assets_come_from_a_folder_once(clone: Path, data: Path) -> None:
    first, second = run("assets", "--from", data), run("assets", "--from", data)
    assert first.stdout.count("copied") == 11
    assert second.stdout.count("already in place") == 11
    for asset in project()["assets"]:
        if asset["dest"].startswith("assets/gap/"):
            assert get_checksum(clone / asset["dest"]) == asset["checksum"]
    assert "assets/gap/gap-test.tsv: already in place" in run("assets").stdout


def test_a_damaged_asset_is_refused(clone: Path) -> None:
    mirror = clone / "mirror" / "gap" / "gap-development.tsv"
    mirror.parent.mkdir(parents=True)
    mirror.write_text("ID\tText")
    result = run("assets", "--from", clone / "mirror")
    assert "R180" in str(result.exception)
    assert str(mirror) in str(result.exception)
    assert list((clone / "assets" / "gap").iterdir()) == []


def test_a_folder_without_assets_is_refused(clone: Path) -> None:
    result = run("assets", "--from", clone)
    assert "R181" in str(result.exception)
    assert str(clone / "gap" / "gap-development.tsv") in str(result.exception)


def test_folders_that_are_still_empty_are_not_in_place(clone: Path) -> None:
    for folder in project()["directories"]:  # as `spacy project run` makes them
        (clone / folder).mkdir(parents=True, exist_ok=True)
    result = run("assets")
    assert result.exit_code == 0, result.exception
    assert "assets/litbank: not in place" in result.stdout
