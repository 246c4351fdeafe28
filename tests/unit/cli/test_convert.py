from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner, Result

from refreader_spacy.cli import app
from refreader_spacy.component import PACKAGED

CONLLU = """\
# newdoc id = {id}
# global.Entity = eid-etype-head-other
# meta::genre = {genre}
1	Ann	_	PROPN	_	_	2	_	_	Entity=(e1-person-1-)
2	sang	_	VERB	_	_	0	_	_	Entity=(e2-event-1-)
"""


def convert(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["convert", *map(str, args)])


def docs(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


@pytest.fixture
def gum(tmp_path: Path) -> Path:
    folder = tmp_path / "gum"
    folder.mkdir()
    for id, genre in (("GUM_a", "news"), ("GUM_b", "fiction")):
        (folder / f"{id}.conllu").write_text(CONLLU.format(id=id, genre=genre), "utf8")
    return folder


def test_a_part_of_a_folder(tmp_path):
    for i in range(10):
        (tmp_path / f"{i}.conll").write_text(f"a 0 0 w{i} - (1)\n", "utf8")
    words = {}
    output = tmp_path / "out.spacy"
    for part in ("train", "dev", "test", "all"):
        result = convert(
            tmp_path, "-o", output, "--part", part, "--format", "conll2012"
        )
        assert result.exit_code == 0, result.output
        words[part] = [doc[0].text for doc in docs(output)]
    assert words["test"] == ["w0"]
    assert words["dev"] == ["w1"]
    assert words["train"] == [f"w{i}" for i in range(2, 10)]
    assert words["all"] == [f"w{i}" for i in range(10)]


def test_gold_docs_with_their_scheme_and_marks(gum, tmp_path):
    other = tmp_path / "onto" / "GUM_a.conllu"
    other.parent.mkdir()
    text = CONLLU.format(id="GUM_a", genre="news")
    other.write_text(text.replace("Entity=(e2-event-1-)", "_"), "utf8")
    output = tmp_path / "out.spacy"
    result = convert(gum, "-o", output, "--scheme", "gum", "--ontonotes", other.parent)
    assert "2 documents of 2 files, 4 mentions" in result.output
    first, second = docs(output)
    assert first.spans["annotation"][0].label_ == "gum"
    assert first.spans["coref_clusters_1"].attrs == {"heads": [0], "ontonotes": [True]}
    assert first.spans["coref_clusters_2"].attrs == {"heads": [1], "ontonotes": [False]}
    assert second.spans["coref_clusters_1"].attrs == {"heads": [0]}


def test_documents_by_list_and_genre(gum, tmp_path):
    (tmp_path / "list.txt").write_text("GUM_b\n")
    output = tmp_path / "out.spacy"
    convert(gum, "-o", output, "--documents", tmp_path / "list.txt")
    assert [doc.spans["annotation"].attrs["document"] for doc in docs(output)] == [
        "GUM_b"
    ]
    convert(gum, "-o", output, "--without-genre", "fiction", "--without-genre", "bio")
    assert [doc.spans["annotation"].attrs["document"] for doc in docs(output)] == [
        "GUM_a"
    ]


def test_there_and_back(gum, tmp_path):
    packed, text = tmp_path / "a.spacy", tmp_path / "a.conllu"
    assert convert(gum, "-o", packed).exit_code == 0
    assert convert(packed, "-o", text).exit_code == 0
    assert convert(text, "-o", tmp_path / "b.spacy").exit_code == 0
    for before, after in zip(docs(packed), docs(tmp_path / "b.spacy"), strict=True):
        assert before.text == after.text
        assert list(before.spans) == list(after.spans)


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("missing", [], "R414"),
        (".", [], "R415"),
        ("a.conll", ["--part", "train"], "R358"),
        ("a.conll", ["--format", "corefud"], "R401"),
        ("a.conll", ["--without-genre", "x", "--documents", "LIST"], "R417"),
        ("a.conll", ["-o", "a.txt"], "R227"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(tmp_path, name, args, code):
    (tmp_path / "list").write_text("nothing")
    if name == "a.conll":
        (tmp_path / name).write_text("a 0 0 w - (1)\n")
    args = [str(tmp_path / "list") if arg == "LIST" else arg for arg in args]
    output = tmp_path / "out.spacy"
    result = convert(tmp_path / name, "-o", output, *args)
    assert result.exit_code == 1
    assert code in result.output
    assert not output.exists()


def test_gap_becomes_training_data(tmp_path, gap_file):
    result = convert(gap_file, "-o", tmp_path / "gap.spacy")
    assert result.exit_code == 0, result.output
    found = docs(tmp_path / "gap.spacy")
    assert len(found) == 6
    assert all(2 <= len(doc.spans) - 1 <= 3 for doc in found)  # beside `annotation`


def test_single_mentions_are_added_by_weights_of_the_package(tmp_path):
    text = tmp_path / "notes.marked.txt"
    text.write_text("[p1 Ann] lost a key in the park. [p1 She] was sad.", "utf8")
    plain, more = tmp_path / "plain.conllu", tmp_path / "more.spacy"
    assert convert(text, "-o", plain).exit_code == 0
    result = convert(text, "-o", more, "--singletons", PACKAGED["name"])
    assert result.exit_code == 0, result.output
    (doc,) = docs(more)
    clusters = [[span.text for span in group] for group in doc.spans.values()]
    assert clusters[0] == ["Ann", "She"]
    assert ["the park"] in clusters
    assert plain.read_text("utf8").count("Entity=") == 2
