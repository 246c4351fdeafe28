"""`refreader score` and `refreader evaluate`, through the front door."""

import json
from pathlib import Path

import pytest
from spacy.cli.evaluate import evaluate
from spacy.language import Language
from spacy.tokens import DocBin, SpanGroup
from spacy.training import Example
from typer.testing import CliRunner, Result

from refreader_spacy.cli import app
from refreader_spacy.cli.score import read_docs
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples

WORDS = ["The", "firm", "hired", "Ann", ".", "She", "thanked", "it", "."]
KEY = ["(1", "1)", "-", "(2)", "-", "(2)", "-", "(1)", "-"]
WITHOUT_IT = ["-", "(1)", "-", "(2)", "-", "(2)", "-", "-", "-"]


def write_conll(path: Path, *documents: list[str], words: list[str] = WORDS) -> Path:
    lines = []
    for number, column in enumerate(documents):
        lines.append(f"#begin document (d); part {number:03}")
        for i, (word, coref) in enumerate(zip(words, column, strict=True)):
            lines.append(f"d {number} {i} {word} - {coref}")
        lines += ["", "#end document"]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_conllu(path: Path, column: list[str]) -> Path:
    lines = ["# newdoc id = d", "# global.Entity = eid"]
    for i, (word, coref) in enumerate(zip(WORDS, column, strict=True), start=1):
        misc = "_" if coref == "-" else f"Entity={coref}"
        lines.append(f"{i}\t{word}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
    path.write_text("\n".join(lines) + "\n\n")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def scores(*arguments: object) -> dict[str, float]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["scores"]


def test_two_files_are_compared(tmp_path):
    """One of two entities was found: MUC 1/2 and 1, B³ 2/4 and 1, CEAFe 1/2 and 1."""
    key = write_conll(tmp_path / "key.conll", KEY)
    response = write_conll(tmp_path / "response.conll", WITHOUT_IT)
    found = scores("score", key, response)
    assert found["coref_f"] == pytest.approx(2 / 3)
    assert (found["coref_mention_r"], found["coref_mention_p"]) == (0.5, 1)
    assert found["coref_per_anaphor"]["she"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    assert found["coref_per_anaphor"]["it"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    table = run("score", key, response).stdout
    assert "CoNLL F1" in table
    assert "66.7" in table


def test_singletons_count_when_asked_for(tmp_path):
    """`firm` alone has the head of `The firm`."""
    key = write_conll(tmp_path / "key.conll", KEY)
    response = write_conll(tmp_path / "response.conll", WITHOUT_IT)
    found = scores("score", key, response, "--singletons")
    assert found["coref_mention_p"] == pytest.approx(2 / 3)
    assert found["coref_head_mention_p"] == 1
    assert found["coref_head_mention_r"] == 3 / 4


def test_formats_make_no_difference(tmp_path, nlp):
    conll = write_conll(tmp_path / "key.v4_gold_conll", KEY)
    conllu = write_conllu(tmp_path / "key.conllu", KEY)
    DocBin(docs=read_docs(nlp, conll)).to_disk(tmp_path / "key.spacy")
    response = write_conll(tmp_path / "response.conll", WITHOUT_IT)
    expected = scores("score", conll, response)
    assert scores("score", conllu, response) == expected
    assert scores("score", tmp_path / "key.spacy", response) == expected


def test_documents_without_words_do_not_count(tmp_path, nlp):
    conll = write_conll(tmp_path / "key.conll", KEY)
    docs = [nlp(""), *read_docs(nlp, conll)]
    DocBin(docs=docs).to_disk(tmp_path / "key.spacy")
    assert scores("score", tmp_path / "key.spacy", conll)["coref_f"] == 1


def test_folders_are_compared_file_by_file(tmp_path):
    for folder, columns in (("key", [KEY, KEY]), ("response", [KEY, WITHOUT_IT])):
        (tmp_path / folder).mkdir()
        for name, column in zip(("a.conll", "b.conll"), columns, strict=True):
            write_conll(tmp_path / folder / name, column)
    found = scores("score", tmp_path / "key", tmp_path / "response")
    assert (found["coref_mention_r"], found["coref_mention_p"]) == (6 / 8, 1)


@pytest.mark.parametrize(
    ("response", "part"),
    [
        ({"documents": [KEY, KEY]}, "R113"),
        ({"documents": [["-"]], "words": ["Ann"]}, "R112"),
    ],
)
def test_other_documents_are_refused(tmp_path, response, part):
    key = write_conll(tmp_path / "key.conll", KEY)
    documents = response.pop("documents")
    other = write_conll(tmp_path / "other.conll", *documents, **response)
    result = run("score", key, other)
    assert (result.exit_code, result.stdout) == (1, "")
    assert part in result.stderr
    assert "R414" in run("score", key, tmp_path / "missing.conll").stderr


@pytest.fixture
def pipeline(reader_nlp: Language, tmp_path: Path) -> Path:
    reader_nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def write_docs(path: Path, examples: list[Example]) -> Path:
    DocBin(docs=[example.reference for example in examples]).to_disk(path)
    return path


def test_a_pipeline_is_scored_by_kind_of_text(pipeline, examples, tmp_path):
    for example, genre in zip(examples, ("news", "letter"), strict=True):
        doc = example.reference
        group = SpanGroup(doc, spans=[doc[:]], attrs={"genre": genre})
        doc.spans["annotation"] = group
    gold = write_docs(tmp_path / "gold.spacy", examples)
    output = tmp_path / "metrics" / "scores.json"
    result = run("evaluate", pipeline, gold, "-o", output, "--singletons")
    assert result.exit_code == 0, result.output
    assert "CoNLL F1 by kind of text" in result.stdout
    assert "everything TRUE" not in result.stdout
    written = json.loads(output.read_text())
    assert written["row"] == str(pipeline)
    assert (written["n_docs"], written["singletons"]) == (2, True)
    assert written["genres"].keys() == {"news", "letter"}
    assert "gap_f" not in written["scores"]
    again = run("evaluate", pipeline, gold, "--singletons", "--json")
    assert json.loads(again.stdout) == written


def test_gap_is_scored_as_before(pipeline, gap_file, nlp, tmp_path):
    gold = write_docs(tmp_path / "gold.spacy", [*gap_examples(read_gap(gap_file), nlp)])
    output = tmp_path / "scores.json"
    result = run("evaluate", pipeline, gold, "--row", "coref only", "-o", output)
    assert result.exit_code == 0, result.output
    assert "CoNLL" not in result.stdout
    assert "gap_clusters_f" in result.stdout
    written = json.loads(output.read_text())
    assert written["row"] == "coref only"
    assert 0 < written["everything_true"] < 1
    assert {"gap_f", "gap_ap", "gap_clusters_f"} <= written["scores"].keys()


def test_spacy_evaluate_has_the_same_scores(pipeline, examples, tmp_path):
    """Its table knows spaCy's own components only; --per-component writes all."""
    gold = write_docs(tmp_path / "gold.spacy", examples)
    evaluate(str(pipeline), gold, tmp_path / "all.json", per_component=True)
    found = json.loads((tmp_path / "all.json").read_text())["refreader"]
    ours = scores("evaluate", pipeline, gold)
    assert {name: found[name] for name in ours} == ours
