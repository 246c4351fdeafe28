import csv
import sys
from xml.etree import ElementTree

import pytest
from marked import NLP, marked
from typer.testing import CliRunner

from refreader_spacy.cli import app

STORY = "[a:Ahab] met [b:Mary]. [a:He] sang. [b:She] slept. [a:Ahab] left [b:her]."


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command with a pipeline that knows one story."""
    command = sys.modules["refreader_spacy.cli.characters"]
    nlp = type(NLP)()
    nlp.max_length = 10
    nlp.make_doc = lambda text: marked(STORY)
    monkeypatch.setattr(command, "load_pipeline", lambda model: nlp)
    monkeypatch.setattr(command, "find_reader", lambda nlp: None)
    book = tmp_path / "book.txt"
    book.write_text(marked(STORY).text, "utf8")

    def run(*arguments):
        found = CliRunner().invoke(app, ["characters", str(book), *map(str, arguments)])
        assert found.exit_code == 0, found.output
        return found.stdout

    return run


def test_a_table_of_characters_is_printed(run):
    ahab, mary = csv.DictReader(run("--minimum", 2).splitlines())
    assert (ahab["name"], ahab["mentions"], ahab["called"]) == ("Ahab", "3", "Ahab (2)")
    assert (mary["name"], mary["pronoun"], mary["with"]) == ("Mary", "she", "Ahab (5)")
    assert (ahab["first"], ahab["first_percent"]) == ("0", "0.0")


def test_files_are_written_in_the_format_of_their_names(run, tmp_path):
    paths = [tmp_path / f"book.{end}" for end in ("csv", "gexf", "svg", "html", "png")]
    run("--minimum", 1, *(part for path in paths for part in ("-o", path)))
    table, network, svg, html, png = [path.read_bytes() for path in paths]
    assert table.startswith(b"number,name,type,mentions")
    assert ElementTree.fromstring(network)[0].attrib["defaultedgetype"] == "undirected"
    assert b"Ahab" in ElementTree.tostring(ElementTree.fromstring(svg))
    assert b"<svg" in html
    assert png.startswith(b"\x89PNG")


def test_nobody_is_found_in_a_text_without_people(run):
    assert run("--minimum", 100).count("\n") == 1


def test_a_file_of_another_kind_is_refused(run, tmp_path):
    book = tmp_path / "book.txt"
    found = CliRunner().invoke(app, ["characters", str(book), "-o", "x.doc"])
    assert found.exit_code == 1
    assert ".gexf" in found.stderr
