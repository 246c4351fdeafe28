"""The table and what fills it: rules, comparisons, stored scores."""

import json
from importlib import import_module
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner, Result

from refreader_spacy.cli import app
from refreader_spacy.cli.baseline import load_parser
from refreader_spacy.corpora.gap import GOLD_COLUMNS

ROWS = (
    "r-1\tAl met Bo when he left.\the\t15\tAl\t0\tTRUE\tBo\t7\tFALSE\t/wiki/Bo_Ray",
    "r-2\tAnn met Eve when she left.\tshe\t17\tAnn\t0\tTRUE\tEve\t8\tFALSE\t",
)


@Language.component("grammar_of_six_words")
def parse(doc: Doc) -> Doc:
    """As a parser would: `Al met Bo when he left.`"""
    deps = ("nsubj", "ROOT", "dobj", "advmod", "nsubj", "advcl", "punct")
    for token, head, dep in zip(doc, (1, 1, 1, 5, 5, 1, 1), deps, strict=True):
        token.head, token.dep_ = doc[head], dep
    return doc


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with two rows to test on; a parser that knows them."""
    nlp = spacy.blank("en")
    nlp.add_pipe("grammar_of_six_words")
    module = import_module("refreader_spacy.cli.baseline")
    monkeypatch.setattr(module, "load_parser", lambda name: nlp)
    monkeypatch.chdir(tmp_path)
    lines = ("\t".join(GOLD_COLUMNS), *ROWS)
    Path("gap-test.tsv").write_text("".join(f"{line}\n" for line in lines))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def scores(name: str, row: str, f1: float, corpus: str = "gap") -> None:
    Path("metrics").mkdir(exist_ok=True)
    parts = {"gap_masc_f": f1 + 0.01, "gap_fem_f": f1 - 0.01, "gap_bias": 0.954}
    result = {"row": row, "corpus": corpus, "scores": {**parts, "gap_f": f1}}
    Path("metrics", name).write_text(json.dumps(result))


def lines() -> list[str]:
    """The tables."""
    return run("table").stdout.splitlines()


def test_ours_are_beside_the_papers() -> None:
    scores("glove_s1.json", "coref only", 0.66)
    expected = (
        "| coref only | 67.0 | 65.0 | 0.95 | **66.0** | 69.6 | 68.1 | 0.98 | 68.9 |"
    )
    assert expected in lines()


def test_seeds_are_averaged() -> None:
    for seed, f1 in enumerate((0.65, 0.66, 0.67)):
        scores(f"glove_s{seed}.json", "coref only", f1)
    (line,) = (line for line in lines() if line.startswith("| coref only"))
    assert line.startswith("| coref only (3 seeds) | 67.0 ± 1.0 | 65.0 ± 1.0 | 0.95 |")
    assert "| **66.0 ± 1.0** |" in line


def test_equal_seeds_are_said_not_to_differ() -> None:
    for seed in range(2):
        scores(f"glove_s{seed}.json", "coref only", 0.66)
    assert any("| coref only (2 seeds) | 67.0 ± 0.0 |" in line for line in lines())


def test_what_was_not_measured_is_said_to_be() -> None:
    scores("glove_s1.json", "coref only", 0.66)
    assert (
        "| LM + coref |  |  |  | not measured | 72.8 | 71.4 | 0.98 | 72.1 |" in lines()
    )


def test_rows_are_in_the_papers_order_and_ours_follow() -> None:
    scores("a.json", "our own", 0.7)
    scores("b.json", "another", 0.7)
    scores("c.json", "LM + coref", 0.7)
    names = [line.split(" | ")[0].removeprefix("| ") for line in lines()[2:]]
    assert names == [
        *("everything TRUE", "Parallelism", "Parallelism+URL", "LM only"),
        *("coref only", "LM + coref", "LM + coref, 4 cells"),
        *("LM + coref, pairs of texts", "coref + transformer", "another", "our own"),
    ]


def test_only_gap_is_in_the_table() -> None:
    scores("a.json", "coref only", 0.9, corpus="demo")
    Path("metrics", "speed.json").write_text("{}")
    assert "R010" in run("table").stderr


def test_rules_fill_their_rows() -> None:
    for rule in ("everything-true", "parallelism", "parallelism-url"):
        command = (
            "baseline",
            rule,
            "gap-test.tsv",
            "--metrics",
            f"metrics/{rule}.json",
        )
        assert run(*command).exit_code == 0
    assert [line.split(" | ")[:5] for line in lines()[2:5]] == [
        ["| everything TRUE", "66.7", "66.7", "1.00", "**66.7**"],
        ["| Parallelism", "100.0", "100.0", "1.00", "**100.0**"],
        ["| Parallelism+URL", "0.0", "100.0", "", "**50.0**"],
    ]


def test_a_rule_gives_its_card_and_its_answers() -> None:
    result = run("baseline", "parallelism-url", "gap-test.tsv", "-o", "new/answers.tsv")
    assert "Overall recall: 50.0 precision: 50.0 f1: 50.0" in result.stdout
    assert Path("new/answers.tsv").read_text() == "r-1\tFALSE\tTRUE\nr-2\tTRUE\tFALSE\n"


def test_rules_on_other_rows_stay_out_of_the_table() -> None:
    Path("gap-test.tsv").rename("gap-validation.tsv")
    command = ("baseline", "everything-true", "gap-validation.tsv", "--metrics")
    run(*command, "metrics/validation.json")
    assert "R010" in run("table").stderr


def test_a_missing_parser_is_named() -> None:
    with pytest.raises(ValueError, match=r"R350.*'no_such_parser'.*spacy download"):
        load_parser("no_such_parser")


def test_a_gain_has_an_interval() -> None:
    Path("old").mkdir()
    Path("old", "s1.tsv").write_text("r-1\tFALSE\tTRUE\nr-2\tFALSE\tTRUE\n")
    Path("old", "s2.tsv").write_text("r-1\tTRUE\tFALSE\nr-2\tFALSE\tTRUE\n")
    Path("new.tsv").write_text("r-1\tTRUE\tFALSE\nr-2\tTRUE\tFALSE\n")
    assert run("compare", "gap-test.tsv", "old", "new.tsv").stdout.splitlines()[:2] == [
        "old: F1 25.0 (mean of 2 runs)",
        "new.tsv: F1 100.0",
    ]
    gain = run("compare", "gap-test.tsv", "old", "new.tsv").stdout.splitlines()[2]
    assert gain.startswith("gain: +75.0, 95 % interval +50.0 to +100.0; above 0 in 100")


@pytest.mark.parametrize(
    ("old", "parts"),
    [
        ("r-1\tTRUE\tTRUE\n", ["R352", "answers.tsv", "r-2"]),
        ("r-1\tTRUE\tTRUE\nr-2\tTRUE\tTRUE\nr-3\tTRUE\tTRUE\n", ["R352", "r-3"]),
        (None, ["R353", "folder"]),
    ],
)
def test_answers_to_other_rows_are_not_compared(
    old: str | None, parts: list[str]
) -> None:
    Path("folder").mkdir()
    path = Path("folder") if old is None else Path("answers.tsv")
    if old:
        path.write_text(old)
    result = run("compare", "gap-test.tsv", path, path)
    assert result.exit_code == 1
    for part in parts:
        assert part in result.stderr


def test_clusters_have_a_line_for_each_corpus_averaged_over_seeds() -> None:
    scores("glove_s1.json", "coref only", 0.66)
    for seed, f1 in enumerate((0.55, 0.57)):
        result = {
            "row": "OntoGUM dev",
            "corpus": "ontogum",
            "singletons": False,
            "scores": {"coref_f": f1, "coref_head_f": 0.6},
        }
        Path("metrics", f"general_s{seed}.json").write_text(json.dumps(result))
    expected = "| OntoGUM dev (2 seeds) | no | 56.0 ± 1.4 | 60.0 ± 0.0 |  |  |  |  |"
    assert expected in lines()


def test_rows_of_one_set_of_texts_are_beside_each_other() -> None:
    scores("glove_s1.json", "coref only", 0.66)
    for name, row in (("a", "GUM, one"), ("b", "LitBank, one"), ("c", "GUM, other")):
        result = {"row": row, "singletons": False, "scores": {"coref_f": 0.5}}
        Path("metrics", f"{name}.json").write_text(json.dumps(result))
    names = [line.split(" | ")[0].removeprefix("| ") for line in lines()[-3:]]
    assert names == ["GUM, one", "GUM, other", "LitBank, one"]
