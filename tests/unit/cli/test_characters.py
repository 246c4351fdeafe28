import csv
import sys
from xml.etree import ElementTree

import pytest
from marked import NLP, marked
from typer.testing import CliRunner

from refreader_spacy.annotation.characters import Character, Together, characters
from refreader_spacy.cli import app
from refreader_spacy.cli.characters import companions

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

    def run(*arguments, all_output=False):
        found = CliRunner().invoke(app, ["characters", str(book), *map(str, arguments)])
        assert found.exit_code == 0, found.output
        return found.output if all_output else found.stdout

    return run


def test_a_table_of_characters_is_printed(run):
    ahab, mary = csv.DictReader(run("--minimum", 2).splitlines())
    assert (ahab["name"], ahab["mentions"], ahab["called"]) == ("Ahab", "3", "Ahab (2)")
    assert (mary["name"], mary["pronoun"], mary["with"]) == ("Mary", "she", "Ahab (5)")
    assert (ahab["first"], ahab["first_percent"]) == ("0", "0.0")


def test_it_says_so_if_nobody_is_mentioned_often_enough(run):
    assert "lower --minimum" in run(all_output=True)
    assert "lower --minimum" not in run("--minimum", 2, all_output=True)


def test_files_are_written_in_the_format_of_their_names(run, tmp_path):
    paths = [tmp_path / f"book.{end}" for end in ("csv", "gexf", "svg", "html", "png")]
    run("--minimum", 1, *(part for path in paths for part in ("-o", path)))
    table, network, svg, html, png = [path.read_bytes() for path in paths]
    assert table.startswith(b"number,name,type,mentions")
    assert ElementTree.fromstring(network)[0].attrib["defaultedgetype"] == "undirected"
    assert b"Ahab" in ElementTree.tostring(ElementTree.fromstring(svg))
    assert b"<svg" in html
    assert png.startswith(b"\x89PNG")


def test_companions_of_the_same_name_are_counted_together():
    people = [
        Character(number, name, "", {}, 9, 0, "", [], 0, 0)
        for number, name in enumerate(["Ahab", "the mate", "Pip", "the mate"], start=1)
    ]
    pairs = [Together(1, 2, 5), Together(1, 3, 6), Together(1, 4, 2)]
    assert list(companions(people, pairs)[1].items()) == [("the mate", 7), ("Pip", 6)]


def test_a_terminal_shows_the_most_mentioned(run, monkeypatch):
    command = sys.modules["refreader_spacy.cli.characters"]
    monkeypatch.setattr(command, "ROWS", 1)
    people = [
        person for _, person in zip("ab", characters(marked(STORY)), strict=False)
    ]
    assert command.table(people, [], 100).row_count == 1


def test_nobody_is_found_in_a_text_without_people(run):
    assert run("--minimum", 100).count("\n") == 1


def test_a_file_of_another_kind_is_refused(run, tmp_path):
    book = tmp_path / "book.txt"
    found = CliRunner().invoke(app, ["characters", str(book), "-o", "x.doc"])
    assert found.exit_code == 1
    assert ".gexf" in found.stderr
