from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from thinc.api import Model
from typer.testing import CliRunner

from refreader_spacy.cli import app
from refreader_spacy.component import RefReader
from refreader_spacy.corpora.gap import GOLD_COLUMNS
from refreader_spacy.paper.decisions import Decisions
from refreader_spacy.protocol import Reading

ROWS = (
    "r-1\tAl met Bo when he left.\the\t15\tAl\t0\tTRUE\tBo\t7\tFALSE\t",
    "r-2\tAnn met Eve when she left.\tshe\t17\tAnn\t0\tTRUE\tEve\t8\tFALSE\t",
)
CARD = """\
Overall recall: 100.0 precision: 100.0 f1: 100.0
\t\ttp 2\tfp 0
\t\tfn 0\ttn 2
Masculine recall: 100.0 precision: 100.0 f1: 100.0
\t\ttp 1\tfp 0
\t\tfn 0\ttn 1
Feminine recall: 100.0 precision: 100.0 f1: 100.0
\t\ttp 1\tfp 0
\t\tfn 0\ttn 1
Bias (F/M): 1.00

"""
CLUSTERS = "Clusters f1: 100.0 masculine: 100.0 feminine: 100.0\n"
ALWAYS = "Everything TRUE f1: 66.7\n"

gap_module = import_module("refreader_spacy.cli.gap")  # not the command of that name


class FirstTokenReader:
    """Links the fifth token with the first, at a probability of 0.6."""

    n_cells, lookahead, needs_past = 1, False, False
    labels, schemes = ("",), ()

    def start(self):
        return Decisions(self.n_cells)

    def read(self, states, docs, *, gates=False, last=False):
        parts = []
        for state, doc in zip(states, docs, strict=True):
            update, overwrite = np.zeros((2, len(doc), 1), dtype=np.float32)
            overwrite[0], update[4] = 1, 0.6
            reading = Reading(update, overwrite, np.zeros_like(update))
            parts.append(replace(state.read(doc, reading, last=last), gates=reading))
        return parts


@Language.factory("first_token_reader")
def make_first_token_reader(nlp, name):
    attrs = {"reader": lambda model: FirstTokenReader(), "trained": True}
    model = Model("first_token_reader", lambda *_: None, attrs=attrs)
    return RefReader(nlp.vocab, model, name, threshold=0.5)


@pytest.fixture
def gold(tmp_path) -> Path:
    path = tmp_path / "gold.tsv"
    path.write_text("".join(f"{row}\n" for row in ("\t".join(GOLD_COLUMNS), *ROWS)))
    return path


@pytest.fixture
def pipeline(monkeypatch) -> Language:
    """What the command loads, whatever name it is given."""
    nlp = spacy.blank("en")
    nlp.add_pipe("first_token_reader")
    monkeypatch.setattr(gap_module, "load_pipeline", lambda name: nlp)
    return nlp


def run(*arguments: object):
    return CliRunner().invoke(app, ["gap", *map(str, arguments)])


def test_a_pipeline_gets_its_card_and_its_file(gold, pipeline, tmp_path):
    answers = tmp_path / "new" / "answers.tsv"
    result = run(gold, "-o", answers)
    assert (result.stdout, result.exit_code) == (CARD + CLUSTERS + ALWAYS, 0)
    assert answers.read_text() == "r-1\tTRUE\tFALSE\nr-2\tTRUE\tFALSE\n"
    assert run(gold, "--system", answers).stdout == CARD + ALWAYS


def test_the_threshold_may_be_another(gold, pipeline):
    strict = run(gold, "--threshold", 0.7).stdout
    assert "tp 0\tfp 0" in strict
    assert "Clusters f1: 0.0" in strict
    assert "tp 2\tfp 2" in run(gold, "--threshold", 0).stdout


def test_a_failed_run_leaves_the_old_file(gold, pipeline, tmp_path, monkeypatch):
    answers = tmp_path / "answers.tsv"
    answers.write_text("old")

    def full_disk(path, answers):
        path.write_text("half")
        raise OSError("No space left")

    monkeypatch.setattr(gap_module, "write_system", full_disk)
    result = run(gold, "-o", answers)
    assert (result.exit_code, result.stderr) == (1, "refreader: No space left\n")
    assert sorted(tmp_path.iterdir()) == [answers, gold]
    assert answers.read_text() == "old"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["missing.tsv"], "R270] There is no file missing.tsv"),
        (["GOLD", "--system", "missing.tsv"], "R270] There is no file missing.tsv"),
        (["GOLD", "--system", "GOLD"], "R102"),
        (["GOLD", "-m", "no_such_pipeline"], "no_such_pipeline"),
    ],
)
def test_an_error_is_one_line(gold, arguments, part):
    result = run(*(gold if each == "GOLD" else each for each in arguments))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert part in result.stderr


def test_a_pipeline_without_a_reader_is_refused(gold, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "pipeline")
    result = run(gold, "-m", tmp_path / "pipeline")
    assert result.exit_code == 1
    assert "R110" in result.stderr
    assert "sentencizer" in result.stderr


def test_a_system_file_needs_no_pipeline(gold):
    result = run(gold, "--system", gold, "-m", "pipeline")
    assert result.exit_code == 2
    assert "--system" in result.stderr
