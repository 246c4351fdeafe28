from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from refreader_spacy.cli import app
from refreader_spacy.corpora.conll2012 import conll_doc, cut, read_conll

ROWS = """#begin document (a); part 000
a 0 0 Ann - (1)
a 0 1 told - -
a 0 2 the - (2
a 0 3 captain - (3)
a 0 4 of - -
a 0 5 Bob - 2)|(4)

a 0 0 She - (1)
a 0 1 left - -

#end document
#begin document (a); part 001
a 0 0 Cy - (1)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.v4_gold_conll"
    path.write_text(ROWS, "utf8")
    return path


def clusters(doc):
    return [[str(span) for span in group] for group in doc.spans.values()]


def test_parts_become_docs_with_entities_and_sentences(file):
    nlp = spacy.blank("en")
    first, second = (conll_doc(nlp, sentences) for sentences in read_conll(file))
    assert clusters(first) == [
        ["Ann", "She"],
        ["the captain of Bob"],
        ["captain"],
        ["Bob"],
    ]
    assert [sent.text for sent in first.sents] == [
        "Ann told the captain of Bob",
        "She left",
    ]
    assert clusters(second) == [["Cy"]]


def test_tabs_keep_empty_columns(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("a\t0\t0\tAnn\t_\t(7)\na\t0\t1\tsang\t_\t\n", "utf8")
    (sentences,) = read_conll(path)
    assert sentences[0].words == ["Ann", "sang"]
    assert sentences[0].mentions == [("7", 0, 1)]


def test_an_entity_twice_begun_ends_from_within(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("a 0 0 x - (1\na 0 1 y - (1)\na 0 2 z - 1)\n", "utf8")
    (sentences,) = read_conll(path)
    assert sorted(sentences[0].mentions) == [("1", 0, 3), ("1", 1, 2)]


def test_long_mentions_are_left_out(file):
    first, _ = read_conll(file)
    doc = conll_doc(spacy.blank("en"), first, longest=2)
    assert ["the captain of Bob"] not in clusters(doc)
    assert ["captain"] in clusters(doc)


@pytest.mark.parametrize(("n_tokens", "expected"), [(1, [6, 2]), (7, [6, 2]), (8, [8])])
def test_pieces_are_whole_sentences(file, n_tokens, expected):
    first, _ = read_conll(file)
    found = [sum(len(s.words) for s in piece) for piece in cut(first, n_tokens)]
    assert found == expected


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a 0 0 Ann - 1)", "R355.*line 1: '1\\)'"),
        ("a 0 0 Ann - (1", "R355.*line 1: '\\(1'"),
        ("a 0 0 Ann - 1", "R355.*'1'"),
        ("only text", "R354.*line 1.*'only text'"),
    ],
)
def test_broken_columns_are_a_clear_error(tmp_path, rows, message):
    path = tmp_path / "a.conll"
    path.write_text(rows, "utf8")
    with pytest.raises(ValueError, match=message):
        list(read_conll(path))


def test_the_command_converts_a_part_of_a_folder(tmp_path):
    for i in range(10):
        (tmp_path / f"{i}.conll").write_text(f"a 0 0 w{i} - (1)\n", "utf8")
    words = {}
    for part in ("train", "dev", "test", "all"):
        output = tmp_path / "out.spacy"
        result = CliRunner().invoke(
            app, ["convert", str(tmp_path), "-o", str(output), "--part", part]
        )
        assert result.exit_code == 0, result.output
        docs = DocBin().from_disk(output).get_docs(spacy.blank("en").vocab)
        words[part] = [doc[0].text for doc in docs]
    assert words["test"] == ["w0"]
    assert words["dev"] == ["w1"]
    assert words["train"] == [f"w{i}" for i in range(2, 10)]
    assert words["all"] == [f"w{i}" for i in range(10)]


def test_a_part_of_too_few_files_is_said(file, tmp_path):
    output = tmp_path / "o.spacy"
    result = CliRunner().invoke(
        app, ["convert", str(file), "-o", str(output), "--part", "train"]
    )
    assert result.exit_code == 1
    assert "R358" in result.output
    assert not output.exists()


@pytest.mark.parametrize(
    ("name", "code"), [("missing", "R357"), (".", "R356")], ids=["missing", "empty"]
)
def test_nothing_to_convert_is_said(tmp_path, name, code):
    result = CliRunner().invoke(
        app, ["convert", str(tmp_path / name), "-o", str(tmp_path / "o.spacy")]
    )
    assert result.exit_code == 1
    assert code in result.output
