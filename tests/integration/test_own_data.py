"""A stranger's path: documents of one's own, three commands, a trained pipeline."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli.debug_data import debug_data
from spacy.cli.evaluate import evaluate
from spacy.cli.find_threshold import find_threshold
from spacy.cli.package import package
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.training import Corpus
from spacy.vectors import Vectors
from typer.testing import CliRunner

from refreader_spacy.cli import app
from refreader_spacy.component import PACKAGED
from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.formats import write_documents

NAMES = ("Ann", "Bo", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal")
ANN_SHE = [[[0, 3]], [[10, 13]]]
ROOT = Path(__file__).parents[2]


def invented(number: int) -> GoldDocument:
    """One who is named, and a word for it that no other text uses so: "the glorp"."""
    name, other = NAMES[number % 8], NAMES[(number * 3 + 1) % 8]
    text = f"{name} saw {other} . Later the glorp met {other} . The glorp left ."
    document = GoldDocument(f"text {number}", "own", sentence_starts=[0, 4, 10])
    for word in text.split():
        document.add_word(word)
    document.spaces = [True] * len(document.words)
    for start, end in ((0, 1), (5, 7), (10, 12)):
        document.add_mention("a", GoldMention(start, end))
    for start in (2, 8):
        document.add_mention("b", GoldMention(start, start + 1))
    return document


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "documents" / "own.conll"
    path.parent.mkdir()
    write_documents(map(invented, range(30)), path, spacy.blank("en").vocab)
    return path.parent


def run(*args: str) -> str:
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    return result.output


# spaCy leaves the files open that it writes.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_three_commands_from_documents_to_a_package(documents, tmp_path, capsys):
    said = run("init-config", "config.cfg", "--data", "documents")
    assert "python -m spacy train config.cfg --output training" in said
    rate = "training.optimizer.learn_rate"  # there are only four steps
    quick = {f"{rate}.initial_rate": 0.001, f"{rate}.warmup_steps": 1}
    overrides = {"training.max_epochs": 4} | quick
    train(Path("config.cfg"), Path("training"), overrides=overrides)
    package(
        Path("training/model-best"), Path("training"), name="own", create_sdist=False
    )
    log = capsys.readouterr().out
    assert "COREF_F" in log

    (path,) = Path("training").glob("en_own-*/meta.json")
    meta = json.loads(path.read_text())
    performance = meta["performance"]
    assert not [name for name in performance if name.startswith("gap")]  # not scored
    assert meta["sources"][0]["name"] == f"refreader-spacy, weights {PACKAGED['name']}"
    assert meta["sources"][0]["license"]
    assert len(meta["sources"]) > 1  # the data, which have licences too
    nlp = spacy.load("training/model-best")
    assert nlp.config["initialize"]["components"]["refreader"]["weights"]
    assert nlp.config["training"]["eval_frequency"] == 1  # one batch is an epoch
    test = list(Corpus("corpus/test.spacy")(nlp))
    fresh = spacy.blank("en")
    fresh.add_pipe("refreader", config={"scheme": "gum"})
    before = fresh.evaluate(Corpus("corpus/test.spacy")(fresh))["coref_f"]
    after = nlp.evaluate(test)["coref_f"]
    assert after > before
    assert performance["coref_f"] > before

    # spaCy's own tools know what to do with all of it
    scores = evaluate("training/model-best", Path("corpus/test.spacy"), silent=True)
    assert scores["coref_f"] == pytest.approx(after)
    with pytest.raises(SystemExit):  # there are few documents, which it minds
        debug_data(Path("config.cfg"), silent=False)
    said = capsys.readouterr().out
    assert "Corpus is loadable" in said
    assert "Low number of examples" in said
    best, score, _ = find_threshold(
        "training/model-best",
        Path("corpus/dev.spacy"),
        pipe_name="refreader",
        threshold_key="threshold",
        scores_key="coref_f",
        n_trials=3,
        silent=True,
    )
    assert 0 <= best <= 1
    assert score > 0
    assert "CoNLL F1" in run("evaluate", "training/model-best", "corpus/test.spacy")


def test_data_of_any_format_train_what_is_read_and_scored(documents):
    """CRAFT's mentions have an output of the reader to themselves, which isn't read."""
    (documents / "own.conll").unlink()
    rows = [
        {"id": f"{n}", "text": "Ann left. She ran. A dog ran.", "clusters": [ANN_SHE]}
        for n in range(10)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (documents / "own.jsonl").write_text(text)
    said = run("init-config", "config.cfg", "--data", "documents")
    nlp = spacy.blank("en")
    config = spacy.util.load_config("config.cfg")
    for name in ("train", "dev", "test"):
        for doc in DocBin().from_disk(f"corpus/{name}.spacy").get_docs(nlp.vocab):
            (whole,) = doc.spans["annotation"]
            assert whole.label_ == config["components"]["refreader"]["scheme"]
            groups = [g for key, g in doc.spans.items() if "coref_clusters_" in key]
            texts = [[span.text for span in group] for group in groups]
            # Nothing is mentioned once there, so that the reader adds such mentions
            added = [["A dog"]] if name == "train" else []
            assert texts == [["Ann", "She"], *added]
    assert "have no mentions of what is mentioned once" in said


def test_without_data_the_command_to_train_has_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "--paths.train train.spacy" in run("init-config", "own.cfg")
    again = CliRunner().invoke(app, ["init-config", "own.cfg"])
    assert "R020" in again.output
    run("init-config", "own.cfg", "--force")


def test_fresh_weights_on_vectors_of_another_language(documents, tmp_path):
    nlp = spacy.blank("de")
    words = ["Ann", "saw", "the", "glorp"]
    data = np.eye(len(words), dtype=np.float32)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, keys=words)
    nlp.to_disk(tmp_path / "vectors")
    run("init-config", "own.cfg", "--data", "documents", "--vectors", "vectors")
    train(Path("own.cfg"), Path("training"), overrides={"training.max_steps": 1})
    assert spacy.load("training/model-best").lang == "de"


def test_vectors_that_are_none_are_refused(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "plain")
    args = [
        "init-config",
        str(tmp_path / "a.cfg"),
        "--vectors",
        str(tmp_path / "plain"),
    ]
    result = CliRunner().invoke(app, args)
    assert "R021" in result.output


def test_too_few_documents_are_refused(tmp_path):
    write_documents([invented(1)], tmp_path / "one.conll", spacy.blank("en").vocab)
    args = ["init-config", str(tmp_path / "a.cfg"), "--data", str(tmp_path)]
    assert "R359" in CliRunner().invoke(app, args).output


def test_weights_that_do_not_fit_are_refused(nlp, examples):
    model = {
        "@architectures": "refreader-spacy.EntityReader.v1",
        "width": 300,
        "hidden_size": 8,
        "tok2vec": {"@architectures": "refreader-spacy.WordVectors.v1", "width": 300},
    }
    pipe = nlp.add_pipe("refreader", config={"model": model})
    with pytest.raises(ValueError, match="R018"):
        pipe.initialize(lambda: examples, weights=PACKAGED["name"])
    with pytest.raises(ValueError, match="R012"):
        pipe.initialize(lambda: examples, weights="en_nothing")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_demo_project_packages_a_model_that_learned(tmp_path):
    """`spacy project run all` without assets: its best model isn't that of step 0."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "assets/demo", "configs", "project.yml"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "spacy", "project", "run", "all"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (meta,) = tmp_path.glob("packages/en_refreader_glove-*/meta.json")
    performance = json.loads(meta.read_text())["performance"]
    losses = [
        line.split()
        for line in done.stdout.splitlines()
        if line.strip()[:1].isdigit() and len(line.split()) > 4
    ]
    assert len(losses) > 5  # evaluated each epoch
    first = float(losses[0][-1])
    assert performance["gap_ap"] > first
