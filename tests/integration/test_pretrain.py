"""Learning from plain text, through the front door: `refreader pretrain` and after."""

import math
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from click.testing import Result
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.util import load_config
from typer.testing import CliRunner

from refreader_spacy.batching import read_docs
from refreader_spacy.cli import app
from refreader_spacy.cli.corpus import add_demo_vectors
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples
from refreader_spacy.pretraining.surprisal import surprisals

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "configs" / "lm.cfg"
NAMES = ["Ann", "Bo", "Cleo", "Dan", "Quxie", "Vlorp"]
VERBS = ["met", "saw", "thanked", "paid"]
KILLED = """
import os, signal, sys
from refreader_spacy.cli import app
from refreader_spacy.pretraining.run import Run
save = Run.save
def save_and_die(self):
    save(self)
    os.kill(os.getpid(), signal.SIGKILL)
Run.save = save_and_die
app(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of forty articles, vectors, and one run of pretraining on them."""
    folder = tmp_path_factory.mktemp("pretraining")
    rng = random.Random(0)
    articles = []
    for _ in range(40):
        a, b = rng.sample(NAMES, 2)
        sentences = [
            f"{a} {rng.choice(VERBS)} {b} and {b} {rng.choice(VERBS)} {a}."
            for _ in range(rng.randint(1, 6))
        ]
        articles.append(f"= {a} =\n{' '.join(sentences)}\n")
    (folder / "text.txt").write_text("\n".join(articles), "utf8")
    nlp = spacy.blank("en")
    add_demo_vectors(nlp)
    nlp.to_disk(folder / "vectors")
    result = run(folder, "lm")
    assert result.exit_code == 0, result.output
    return folder


def arguments(folder: Path, output: str, **overrides: Any) -> list[str]:
    """Of the command, with the sizes of a toy."""
    settings = {
        "paths.raw_text": folder / "text.txt",
        "paths.vectors": folder / "vectors",
        "corpora.pretrain.cache": folder / "cache",
        "corpora.pretrain.held_out": 4,
        "components.refreader.model.hidden_size": 16,
        "components.refreader.model.key_size": 4,
        "pretraining.max_epochs": 12,
        "pretraining.n_save_every": 3,
        "pretraining.batcher.n_streams": 4,
        "pretraining.batcher.length": 8,
        "pretraining.objective.n_words": 12,
        "pretraining.objective.cutoffs": "[4, 8]",
        "pretraining.objective.eval_frequency": 10,
        "pretraining.objective.patience": 0,
        "pretraining.optimizer.learn_rate.initial_rate": 0.01,
        "pretraining.optimizer.learn_rate.warmup_steps": 2,
        **{name.replace("__", "."): value for name, value in overrides.items()},
    }
    given = [f"--{name}={value}" for name, value in settings.items()]
    return ["pretrain", str(CONFIG), str(folder / output), *given]


def run(folder: Path, output: str, *options: str, **overrides: Any) -> Result:
    return CliRunner().invoke(app, [*arguments(folder, output, **overrides), *options])


def log(folder: Path, output: str) -> list[dict[str, float]]:
    return list(srsly.read_jsonl(folder / output / "log.jsonl"))


def reader_of(nlp: spacy.language.Language) -> dict[str, Any]:
    return nlp.get_pipe("refreader").model.shims[0]._model.state_dict()


def test_it_learns_what_comes_next(folder: Path):
    measured = [entry["perplexity"] for entry in log(folder, "lm")]
    assert measured[0] > measured[-1]
    assert measured[-1] < 5  # of thirteen words, less than half are ever possible


def test_where_writing_costs_less_is_written(folder: Path):
    written = {}
    for name, cost in {"free": 0, "costly": 3}.items():
        result = run(folder, name, pretraining__objective__writing_cost=cost)
        assert result.exit_code == 0, result.output
        nlp = spacy.load(folder / name / "model-best")
        doc = nlp.make_doc("Ann met Bo and Bo saw Ann.")
        (part,) = read_docs(nlp.get_pipe("refreader").model, [doc], gates=True)
        written[name] = (part.gates.update + part.gates.overwrite).sum()
    assert written["costly"] < written["free"] / 4


def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(folder: Path):
    command = [sys.executable, "-c", KILLED, *arguments(folder, "killed")]
    process = subprocess.run(command, stdout=subprocess.DEVNULL)
    assert process.returncode == -signal.SIGKILL
    assert (folder / "killed" / "checkpoint.pt").exists()
    left = folder / "killed" / ".checkpoint.pt-left"  # by a kill while it was written
    left.mkdir()
    done = [entry["step"] for entry in log(folder, "lm")]
    result = run(folder, "killed", "--resume")
    assert "goes on after" in result.output
    assert not left.exists()
    assert [entry["step"] for entry in log(folder, "killed")] == done
    for ours, theirs in zip(log(folder, "killed"), log(folder, "lm"), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6)
    ours, theirs = (
        reader_of(spacy.load(folder / name / "model-best")) for name in ("killed", "lm")
    )
    for name, tensor in ours.items():
        np.testing.assert_allclose(tensor, theirs[name], atol=1e-6, err_msg=name)


def test_a_run_that_is_over_stays_as_it_is(folder: Path):
    before = log(folder, "lm")
    result = run(folder, "lm", "--resume")
    assert result.exit_code == 0
    assert f"lowest perplexity {min(e['perplexity'] for e in before):.1f}" in (
        result.output
    )
    assert log(folder, "lm") == before


def test_a_run_ends_when_nothing_is_gained(folder: Path):
    """With a learning rate next to nothing, no measure is better than by chance."""
    run(
        folder,
        "stuck",
        pretraining__optimizer__learn_rate__initial_rate=1e-12,
        pretraining__objective__patience=2,
        pretraining__objective__eval_frequency=1,
    )
    measured = [entry["perplexity"] for entry in log(folder, "stuck")]
    assert len(measured) - 1 - measured.index(min(measured)) == 2
    assert len(measured) < log(folder, "lm")[-1]["step"]


def test_the_text_alone_is_measured_as_in_the_run(folder: Path, tmp_path: Path):
    """The same articles that were held out, from a file, with the saved pipeline."""
    articles = (folder / "text.txt").read_text("utf8").split("\n\n")
    held_out = tmp_path / "held_out.txt"
    held_out.write_text("\n\n".join(articles[5::10]), "utf8")
    model = str(folder / "lm" / "model-best")
    result = CliRunner().invoke(app, ["perplexity", str(held_out), "-m", model])
    assert result.exit_code == 0, result.output
    best = min(entry["perplexity"] for entry in log(folder, "lm"))
    found = float(result.output.split()[1])
    assert found == pytest.approx(best, rel=5e-3)  # the output layer is kept as halves


def test_surprisal_is_there_when_asked_for_and_survives(folder: Path):
    nlp = spacy.load(folder / "lm" / "model-best")
    text = "Ann met Bo and Bo saw Ann."
    assert nlp(text)[0]._.surprisal is None
    nlp.get_pipe("refreader").surprisal = True
    docs = list(nlp.pipe([text, "", "Bo", text]))
    doc = docs[0]
    bits = [token._.surprisal for token in doc]
    assert all(bit >= 0 for bit in bits)
    assert bits == [token._.surprisal for token in docs[-1]]
    assert bits == pytest.approx([token._.surprisal for token in nlp(text)], abs=1e-4)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [token._.surprisal for token in again] == bits
    odd = nlp("Ann met and and Bo saw Ann.")
    assert odd[3]._.surprisal > bits[4]


def test_surprisal_of_a_long_text_is_that_of_its_blocks_read_on(folder: Path):
    nlp = spacy.load(folder / "lm" / "model-best")
    model = nlp.get_pipe("refreader").model
    long = nlp.make_doc("Ann met Bo and Bo saw Ann . " * 70)
    start = nlp.make_doc("Ann met Bo and Bo saw Ann . " * 10)
    (whole,), _ = surprisals(model, [[long]])
    (part,), _ = surprisals(model, [[start]])
    assert len(whole) > 512
    np.testing.assert_allclose(whole[: len(part)], part, atol=1e-4)
    (joined,), _ = surprisals(model, [[long[:100].as_doc(), long[100:].as_doc()]])
    np.testing.assert_allclose(joined, whole, atol=1e-4)


def to_train(folder: Path, tmp_path: Path, start: str, **settings: Any) -> Language:
    """A pipeline as training begins with it, from a run of pretraining."""
    rows = read_gap(ROOT / "assets" / "demo" / "demo-development.tsv")[:4]
    docs = [example.reference for example in gap_examples(rows, spacy.blank("en"))]
    DocBin(docs=docs).to_disk(tmp_path / "four.spacy")
    config = load_config(
        CONFIG,
        overrides={
            "paths.train": str(tmp_path / "four.spacy"),
            "paths.vectors": str(folder / "vectors"),
            "paths.source": str(folder / start / "model-best"),
            "components.refreader.model.hidden_size": 16,
            "components.refreader.model.key_size": 4,
            **settings,
        },
    )
    return init_nlp(config)


def test_training_starts_from_what_was_learned(folder: Path, tmp_path: Path):
    pretrained = spacy.load(folder / "lm" / "model-best")
    nlp = to_train(folder, tmp_path, "lm", **{"initialize.after_init.memory": True})
    for name, tensor in reader_of(nlp).items():
        np.testing.assert_array_equal(tensor, reader_of(pretrained)[name])
    doc = nlp.make_doc("Ann met Quxie in 1999.")
    ours, theirs = (
        each.get_pipe("refreader").model.layers[0].predict([doc])[0]
        for each in (nlp, pretrained)
    )
    np.testing.assert_array_equal(ours, theirs)
    nlp.get_pipe("refreader").surprisal = True  # the output layer has come along
    assert nlp("Ann met Bo.")[1]._.surprisal > 0


def test_the_memory_can_be_switched_off(folder: Path, tmp_path: Path):
    """What the reader then knows of a text is in its hidden state alone."""
    result = run(
        folder,
        "off",
        components__refreader__model__memory_bias=-1000,
        components__refreader__model__tolerance=1,
        pretraining__max_epochs=1,
    )
    assert result.exit_code == 0, result.output
    nlp = spacy.load(folder / "off" / "model-best")
    model = nlp.get_pipe("refreader").model
    doc = nlp.make_doc("Ann met Bo and Bo saw Ann.")
    (before,), _ = surprisals(model, [[doc]])
    reader_of(nlp)["memory.value.weight"].mul_(3)
    (after,), _ = surprisals(model, [[doc]])
    np.testing.assert_array_equal(after, before)

    old, new = reader_of(nlp), reader_of(to_train(folder, tmp_path, "off"))
    for name in ("recurrence.weight_ih", "recurrence.weight_hh", "initial_hidden"):
        np.testing.assert_array_equal(new[name], old[name])
    np.testing.assert_array_equal(
        new["pre_input.weight"], old["recurrence.weight_ih"][2 * 16 :]
    )
    assert new["importance.bias"] == -2.0  # it begins anew
    assert new["memory.value.weight"].abs().max() < old["memory.value.weight"].max()


@pytest.mark.parametrize(
    ("options", "overrides", "message"),
    [
        ((), {}, "R329"),
        (("--resume",), {"training__seed": 5}, "R328"),
        (("--resume",), {"pretraining__batcher__length": 5}, "R328"),
    ],
)
def test_another_run_leaves_the_first_alone(
    folder: Path, options: tuple[str, ...], overrides: dict[str, Any], message: str
):
    before = (folder / "lm" / "checkpoint.pt").read_bytes()
    result = run(folder, "lm", *options, **overrides)
    assert result.exit_code == 1
    assert message in result.output
    assert (folder / "lm" / "checkpoint.pt").read_bytes() == before


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"paths__raw_text": "none.txt"}, "R321"),
        ({"corpora__pretrain__held_out": 40}, "R324"),
        ({"pretraining__optimizer__learn_rate__total_steps": 9}, "R327"),
        ({"pretraining__corpus": "corpora.train"}, "R325"),
        (
            {
                "components__refreader__model__tok2vec": '{"@architectures": '
                '"refreader-spacy.FixedVectors.v1", "width": 300}'
            },
            "R326",
        ),
    ],
)
def test_what_cant_be_learned_is_said_first(
    folder: Path, tmp_path: Path, overrides: dict[str, Any], message: str
):
    result = run(folder, "refused", **overrides)
    assert result.exit_code == 1
    assert message in result.output
    assert not (folder / "refused").exists()


def test_a_config_without_pretraining_is_refused(folder: Path):
    glove = str(ROOT / "configs" / "glove.cfg")
    result = CliRunner().invoke(app, ["pretrain", glove, str(folder / "refused")])
    assert result.exit_code == 1
    assert "R325" in result.output


def test_spacy_pretrain_says_where_to_go():
    config = load_config(CONFIG).interpolate()["pretraining"]["objective"]
    objective = spacy.registry.resolve({"objective": config})["objective"]
    with pytest.raises(ValueError, match=r"R331.*refreader pretrain"):
        objective(spacy.blank("en").vocab, None)


def test_weights_without_an_output_layer_predict_no_words(
    folder: Path, paper_nlp: Language, tmp_path: Path
):
    paper_nlp.to_disk(tmp_path)
    text = str(folder / "text.txt")
    result = CliRunner().invoke(app, ["perplexity", text, "-m", str(tmp_path)])
    assert result.exit_code == 1
    assert "R330" in result.output
    paper_nlp.get_pipe("refreader").surprisal = True
    with pytest.raises(ValueError, match=r"R330.*'refreader'.*output layer"):
        paper_nlp("Ann met Bo.")


def test_a_text_without_words_has_no_perplexity(folder: Path, tmp_path: Path):
    (tmp_path / "empty.txt").touch()
    model = str(folder / "lm" / "model-best")
    result = CliRunner().invoke(
        app, ["perplexity", str(tmp_path / "empty.txt"), "-m", model]
    )
    assert result.exit_code == 1
    assert "R332" in result.output


def test_perplexity_and_bits_agree(folder: Path):
    model = str(folder / "lm" / "model-best")
    result = CliRunner().invoke(
        app, ["perplexity", str(folder / "text.txt"), "-m", model]
    )
    _, perplexity, _, _, _, bits, *_ = result.output.split()
    assert float(perplexity) == pytest.approx(2 ** float(bits), rel=1e-2)
    assert math.isfinite(float(perplexity))
    assert "in 40 articles" in result.output
