import csv
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from typer.main import get_command
from typer.testing import CliRunner

import refreader_spacy
from refreader_spacy.bulk.worker import START_METHOD
from refreader_spacy.cli import app
from refreader_spacy.cli.pipeline import load_pipeline
from refreader_spacy.component import RefReader
from refreader_spacy.corpora.formats import read_documents
from refreader_spacy.protocol import Mentions, Part, Reading

TEXT = "Ann lost her key."
RECORD = {
    "id": "a.txt",
    "text": TEXT,
    "clusters": [[[0, 3, "Ann"], [9, 12, "her"]]],
    "links": [
        {"antecedent": [0, 3, "Ann"], "anaphor": [9, 12, "her"], "probability": 0.75}
    ],
    "resolved_text": "Ann lost Ann's key.",
}


class HerReader(RefReader):
    """Finds that "her" is the first token, at a probability of 0.75."""

    reader = SimpleNamespace(labels=("",), schemes=(), n_cells=1, lookahead=False)

    def predict(self, docs):
        return [self.part(doc) for doc in docs]

    def part(self, doc):
        update, overwrite = np.zeros((2, len(doc), 1), dtype=np.float32)
        heads = [0] if len(doc) else []
        heads += [t.i for t in doc[1:] if t.lower_ == "her"]
        overwrite[heads[:1]], update[heads[1:]] = 1, 0.75
        n = len(heads)
        mentions = Mentions(
            first=0,
            head=np.array(heads, np.int64),
            start=np.array(heads, np.int64),
            entity=np.zeros(n, np.int64),
            is_new=np.arange(n) == 0,
            probability=np.full(n, 0.75, np.float32),
            label=np.zeros(n, np.int64),
            schemes=np.zeros((n, 0), np.float32),
        )
        ends = np.array(heads, np.int64) + 1
        gates = Reading(update, overwrite, np.zeros_like(update))
        return Part(mentions, np.arange(n), ends, np.zeros(1, np.int64), gates)


@Language.factory("her_reader")
def make_her_reader(nlp, name):
    return HerReader(nlp.vocab, None, name, threshold=0.5)


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch) -> Path:
    """Commands run in an empty folder, with a reader that needs no weights."""
    nlp = spacy.blank("en")
    nlp.add_pipe("her_reader")
    for name in ("annotate", "render", "sample"):
        module = f"refreader_spacy.cli.{name}"
        monkeypatch.setattr(sys.modules[module], "load_pipeline", lambda *_, **__: nlp)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object, given: str | None = None):
    command = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, command, input=given, catch_exceptions=False)


def records(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def ids(path: str) -> list[str]:
    return [record["id"] for record in records(Path(path).read_text("utf8"))]


def test_a_file_is_a_text():
    Path("a.txt").write_text(TEXT)
    result = run("annotate", "a.txt")
    assert (records(result.stdout), result.exit_code) == ([RECORD], 0)
    assert result.stderr == ""


def test_lines_are_texts():
    result = run("annotate", "-", "--lines", given=f"{TEXT}\n\n  \r\nBob\r\n")
    assert [(r["id"], r["text"]) for r in records(result.stdout)] == [
        ("stdin:1", TEXT),
        ("stdin:4", "Bob"),
    ]


def test_json_lines_keep_their_ids():
    lines = [{"text": TEXT, "id": 7}, {"text": "Émile 👩‍🚀"}]
    Path("in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    found = records(run("annotate", "in.jsonl").stdout)
    assert [(r["id"], r["text"]) for r in found] == [
        (7, TEXT),
        ("in.jsonl:2", "Émile 👩‍🚀"),
    ]
    piped = run("annotate", "-", "--jsonl", given=Path("in.jsonl").read_text())
    assert [r["id"] for r in records(piped.stdout)] == [7, "stdin:2"]


def test_a_docbin_has_clusters_and_ids():
    Path("a.txt").write_text(TEXT)
    run("annotate", "a.txt", "-o", "new/out.spacy")
    (doc,) = DocBin().from_disk("new/out.spacy").get_docs(spacy.blank("en").vocab)
    assert [[str(m) for m in cluster] for cluster in doc._.coref_clusters] == [
        ["Ann", "her"]
    ]
    assert doc.user_data["id"] == "a.txt"


def test_processes_change_nothing():
    Path("in.txt").write_text(f"{TEXT}\n" * 10)
    one = run("annotate", "in.txt", "--lines", "--batch-size", 2)
    two = run("annotate", "in.txt", "--lines", "--batch-size", 2, "-n", 2)
    assert (one.stdout, two.exit_code) == (two.stdout, 0)
    for n, name in ((1, "one.spacy"), (2, "two.spacy")):
        options = ("--lines", "--batch-size", 2, "-n", n, "-o", name)
        run("annotate", "in.txt", *options)
    assert Path("one.spacy").read_bytes() == Path("two.spacy").read_bytes()


@pytest.mark.parametrize("rows", ["mentions", "tokens"])
def test_tables_are_written_as_csv(rows):
    Path("in.jsonl").write_text(json.dumps({"text": TEXT, "id": 7}))
    run("annotate", "in.jsonl", "-o", "out.csv", "--format", rows)
    found = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))
    assert {row["doc"] for row in found} == {"7"}
    texts = [row["text"] for row in found]
    assert texts == (
        ["Ann", "her"] if rows == "mentions" else [*TEXT[:-1].split(), "."]
    )
    if rows == "tokens":
        assert all(row["update"] and row["overwrite"] for row in found)


@pytest.mark.parametrize("name", ["out.conll", "out.conllu"])
def test_annotated_corpora_are_written_with_entities_of_their_own(name):
    lines = [json.dumps({"id": n, "text": f"{TEXT} {TEXT}"}) for n in range(3)]
    Path("in.jsonl").write_text("\n".join(lines))
    run("annotate", "in.jsonl", "-o", name, "--shard-size", 2)
    documents = list(read_documents(Path(name), spacy.blank("en")))
    assert [document.id for document in documents] == ["0", "1", "2"]
    assert {len(document.sentence_starts) for document in documents} == {2}
    for document in documents:
        (mentions,) = document.entities.values()
        words = [document.words[m.start : m.end] for m in mentions]
        assert words == [["Ann"], ["her"], ["her"]]
    if name.endswith("conllu"):
        found = re.findall(r"\(e\d", Path(name).read_text())
        assert found == [f"(e{n}" for n in (1, 2, 3) for _ in range(3)]


def test_without_resume_the_file_is_new():
    Path("a.txt").write_text(TEXT)
    Path("out.jsonl").write_text("old\n" * 9)
    run("annotate", "a.txt", "-o", "out.jsonl")
    assert ids("out.jsonl") == ["a.txt"]
    assert sorted(map(str, Path().iterdir())) == ["a.txt", "out.jsonl"]


def test_a_file_that_is_something_else_is_left_alone():
    Path("a.txt").write_text(TEXT)
    Path("out.jsonl").write_text("my diary")
    result = run("annotate", "a.txt", "-o", "out.jsonl", "--resume")
    assert (result.exit_code, "R230" in result.stderr) == (1, True)
    assert Path("out.jsonl").read_text() == "my diary"


@pytest.mark.skipif(START_METHOD != "fork", reason="processes share nothing else")
@pytest.mark.parametrize("options", [(), ("--format", "tokens"), ("--speakers",)])
def test_a_pipeline_is_loaded_once_for_all_processes(monkeypatch, options):
    module = sys.modules["refreader_spacy.cli.annotate"]
    nlp = module.load_pipeline()

    def load(*arguments, **settings) -> Language:
        with Path("loaded").open("a") as file:
            file.write("x")
        return nlp

    monkeypatch.setattr(module, "load_pipeline", load)
    Path("a.txt").write_text(TEXT)
    assert run("annotate", "a.txt", "-o", "out", "-n", 2, *options).exit_code == 0
    assert Path("loaded").read_text() == "x"


def test_files_that_change_while_they_are_read_are_said(monkeypatch):
    """The records that were there are written: nobody knows what else was meant."""
    Path("in.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
    module = sys.modules["refreader_spacy.cli.annotate"]

    def append_then_finish(*arguments) -> None:
        with Path("in.jsonl").open("a") as file:
            file.write(json.dumps({"text": TEXT}) + "\n")
        finish(*arguments)

    finish = module.finish
    monkeypatch.setattr(module, "finish", append_then_finish)
    result = run("annotate", "in.jsonl", "-o", "out.jsonl")
    assert (result.exit_code, ids("out.jsonl")) == (0, ["in.jsonl:1"])
    assert "[R904] Input files changed while they were read" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["annotate", "missing.txt"], "R226"),
        (["annotate", "latin.txt"], "latin.txt: [R239]"),
        (["annotate", "array.jsonl"], "array.jsonl:1"),
        (["annotate", "a.txt", "-o", "out.pdf"], "R227"),
        (["annotate", "a.txt", "-o", "out", "--format", "pdf"], "R227"),
        (["annotate", "a.txt", "-o", "out.csv", "--format", "jsonl"], "R227"),
        (["annotate", "a.txt", "--format", "tokens"], "R227"),
        (["annotate", "a.txt", "--resume"], "Standard output"),
        (["annotate", "bad.jsonl", "-o", "bad.jsonl"], "R232"),
        (["render", "missing.txt", "-o", "out.html"], "R226"),
        (["render", TEXT, "-o", "out.pdf"], "R227"),
        (["render", "latin.txt", "-o", "out.html"], "R100"),
    ],
)
def test_an_error_is_one_line_and_nothing_is_written(arguments, part):
    Path("a.txt").write_text(TEXT)
    Path("latin.txt").write_bytes("Émile".encode("latin1"))
    Path("bad.jsonl").write_text('{"text": "Ann."}\n{"txt": "Bob."}\n')
    Path("array.jsonl").write_text("[1]\n")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert part in result.stderr
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_lines_are_not_json_too():
    result = run("annotate", "-", "--lines", "--jsonl")
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([TEXT], None),
        (TEXT.split(), None),
        (["a.txt"], None),
        (["-"], TEXT),
    ],
)
def test_a_text_is_drawn_wherever_it_comes_from(arguments, given):
    Path("a.txt").write_text(TEXT)
    result = run("render", *arguments, "-o", "new/out.html", given=given)
    assert (result.stdout, result.exit_code) == ("written to new/out.html\n", 0)
    page = Path("new/out.html").read_text("utf8")
    assert page.startswith("<!DOCTYPE html>")
    assert ">her</mark>" in page


@pytest.mark.parametrize("style", ["clusters", "memory"])
@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".html", b"<!DOCTYPE html>"), (".svg", b"<svg "), (".png", b"\x89PNG")],
)
def test_the_suffix_decides_the_format(style, suffix, start):
    if suffix == ".png":
        pytest.importorskip("resvg_py")
    run("render", TEXT, "--style", style, "-o", f"out{suffix}")
    assert Path(f"out{suffix}").read_bytes().startswith(start)


def test_a_sample_is_printed_and_drawn():
    result = run("sample", "-o", "pictures")
    assert result.exit_code == 0
    assert "Who is who: pictures/sample.html" in result.stdout
    assert "Resolved" in result.stdout
    assert sorted(path.name for path in Path("pictures").iterdir()) == [
        "sample-memory.svg",
        "sample.html",
        "sample.svg",
    ]


def examples() -> list[str]:
    """The commands in all help texts, as they would be typed."""
    helps = [" ".join(c.help.split("\n")) for c in get_command(app).commands.values()]
    found = [part for each in helps for part in each.split("Example: ")[1:]]
    assert len(found) >= len(helps)
    return [example.strip() for example in found]


@pytest.mark.parametrize("example", examples())
def test_examples_in_help_can_be_typed(example, in_folder):
    """They are understood; whether files are there is another matter."""
    Path("data").mkdir(parents=True)
    Path("here").mkdir()
    os.chdir("here")
    _, *words = shlex.split(example.split("| ")[-1])
    command = get_command(app).commands[words[0]]
    assert command.make_context(words[0], words[1:]).command is command


@pytest.mark.parametrize(
    "example",
    [e for e in examples() if re.match(".*refreader (annotate|render|sam)", e)],
)
def test_examples_in_help_work(example):
    Path("README.md").write_text(TEXT)
    Path("story.txt").write_text(TEXT)
    Path("texts").mkdir()
    Path("texts/a.txt").write_text(TEXT)
    given = TEXT if "| " in example else None
    _, *words = shlex.split(example.split("| ")[-1])
    assert run(*words, given=given).exit_code == 0


def test_the_shell_completes_commands(monkeypatch):
    words = {"COMP_WORDS": "refreader ann", "COMP_CWORD": "1"}
    for name, value in {"_REFREADER_COMPLETE": "complete_bash", **words}.items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(app, [], prog_name="refreader")
    assert result.stdout.split() == ["annotate"]


def test_a_terminal_gets_a_bar_with_words_a_second():
    """While what goes into a pipe has none."""
    Path("in.txt").write_text(f"{TEXT}\n" * 20)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the other end is closed
            while part := os.read(ours, 1000):
                shown += part
        os.close(ours)
        piped = process.stdout.read()
    assert b"words/s" in shown
    assert b"words/s" not in piped
    assert piped.count(b"\n") == 20


SCRIPT = """
import sys; sys.path.insert(0, sys.argv[1]); import test_cli, spacy
from refreader_spacy.cli import annotate, app
nlp = spacy.blank('en'); nlp.add_pipe('her_reader')
sys.modules['refreader_spacy.cli.annotate'].load_pipeline = lambda *_, **__: nlp
app(['annotate', 'in.txt', '--lines'])
"""


def test_a_closed_pipe_ends_without_a_trace(in_folder):
    """As in `refreader annotate … | head`."""
    Path("in.txt").write_text(f"{TEXT}\n" * 5000)
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline().startswith(b'{"id": "in.txt:1"')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_standard_stream_that_is_closed_has_a_message(in_folder):
    """As in `refreader annotate - --lines <&- >&-`."""
    Path("in.txt").write_text(TEXT)
    run = [sys.executable, "-m", "refreader_spacy", "annotate"]
    for command, name in (("in.txt >&-", "output"), ("- --lines <&-", "input")):
        shell = ["sh", "-c", f'"$@" {command}', "sh", *run]
        done = subprocess.run(shell, capture_output=True, check=False)
        assert done.returncode == 1
        assert f"[R278] There is no standard {name}" in done.stderr.decode()
        assert b"Traceback" not in done.stderr


def test_summaries_fit_a_line_and_h_is_help():
    shown = CliRunner().invoke(app, ["-h"], terminal_width=80).output
    commands = shown.split("Commands:")[1]
    assert "annotate" in commands
    assert "..." not in commands
    assert "init-config" in CliRunner().invoke(app, ["init-config", "-h"]).output


def test_the_version_is_known():
    found = version("refreader-spacy")
    assert CliRunner().invoke(app, ["--version"]).output.split()[-1] == found
    assert refreader_spacy.__version__ == found
    assert refreader_spacy.Stream.__name__ == "Stream"


def test_annotate_says_what_it_wrote(tmp_path):
    (tmp_path / "a.txt").write_text("Ann lost her key.")
    result = CliRunner().invoke(
        app, ["annotate", str(tmp_path / "a.txt"), "-o", str(tmp_path / "a.jsonl")]
    )
    assert "a.jsonl: 1 texts" in result.stderr


def test_lines_that_begin_with_a_name_are_turns(tmp_path, monkeypatch):
    annotate = sys.modules["refreader_spacy.cli.annotate"]
    monkeypatch.setattr(annotate, "load_pipeline", load_pipeline)
    (tmp_path / "a.txt").write_text("Ann: I left.\nBo: I stayed. Ann did not.")
    output = tmp_path / "a.jsonl"
    args = ["annotate", str(tmp_path / "a.txt"), "--speakers", "-o", str(output)]
    assert CliRunner().invoke(app, args).exit_code == 0
    record = json.loads(output.read_text())
    labels = {(0, 3), (13, 15)}
    assert not labels & {(m[0], m[1]) for c in record["clusters"] for m in c}
