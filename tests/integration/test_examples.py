"""The scripts in examples/: each runs as its docstring says."""

import json
import runpy
import sys
from pathlib import Path

import networkx as nx
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = (
    "In 1934 Ruth Calder opened a school by the harbour. She led the school until her "
    "death. Her brother Martin Calder never saw it, but he paid for it.\n"
)
TRANSCRIPT = (
    "Anna: I told Leo that I was late.\n"
    "Ben: And what did he say?\n"
    "Anna: He just laughed at me.\n"
)
# The script, its further arguments, and a line that it prints
EXPECTED = {
    "chunk_and_resolve": ([], '"text": "In 1934 Ruth Calder opened a school'),
    "cluster_to_graph": (["graph.graphml"], "Ruth Calder -- Martin Calder: 3"),
    "character_network": ([], "Martin Calder\t9\t0.000"),
    "transcript": ([], "Ben: he -> Leo"),
    "token_table": (["tokens.csv"], "pronoun"),
}


def test_every_example_has_its_case():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TRANSCRIPT if name == "transcript" else TEXT * 3)
    arguments, expected = EXPECTED[name]
    monkeypatch.setattr(sys, "argv", [name, "text.txt", *arguments])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert expected in printed
    for written in arguments:
        assert Path(written).stat().st_size


def test_chunks_are_parts_of_the_text_and_all_of_it(tmp_path, monkeypatch, capsys):
    path = tmp_path / "text.txt"
    path.write_text(TEXT * 8)
    monkeypatch.setattr(sys, "argv", ["chunk_and_resolve", str(path)])
    script = EXAMPLES / "chunk_and_resolve.py"
    runpy.run_path(str(script), run_name="__main__")
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(found) > 1
    pieces = [path.read_text()[each["start"] : each["end"]] for each in found]
    assert "".join("".join(pieces).split()) == "".join(path.read_text().split())
    assert "Ruth Calder led" in found[0]["text"]


def test_a_graph_can_be_read_back(tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["cluster_to_graph", "text.txt", "graph.graphml"])
    runpy.run_path(str(EXAMPLES / "cluster_to_graph.py"), run_name="__main__")
    labels = nx.read_graphml("graph.graphml").nodes(data="label")
    assert {"Ruth Calder", "Martin Calder"} <= {label for _, label in labels}
