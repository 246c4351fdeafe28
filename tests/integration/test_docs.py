"""README and docs/: every block of code runs, every link inside leads somewhere.

Python blocks of a page run one after another, and what they print is what stands there
as `#> …`; commands run through the command line. A block that can't run here has a
comment before it that says why (`<!-- not run: … -->`), or which test runs it
(`<!-- run in tests/… -->`). `make docs` renews what is printed.
"""

import ast
import json
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import ForwardRef, NamedTuple

import pytest
import spacy
import srsly
from cogapp import Cog
from markdown_it import MarkdownIt
from pytest_examples import CodeExample, EvalExample, find_examples
from typer.testing import CliRunner

from refreader_spacy.cli import app
from refreader_spacy.cli.sample import SAMPLE
from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.formats import write_documents

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob(".github/**/*.md")]
)
REPOSITORY = "https://github.com/refreader-spacy/refreader-spacy"
REASON = re.compile(r"<!-- (?:not run: (?P<why>.+)|run in (?P<test>\S+)) -->")
TEXT = (
    "In 1934 Ruth Calder opened a school by the harbour. She led the school until her "
    "death. Her brother Martin Calder never saw it, but he paid for it.\n"
)
TRANSCRIPT = "Anna: I told Leo that I was late.\nBen: And what did he say?\n"
MARKED = "### e-mail\nHi [p1 Priya], thanks for [o2 the draft]. [p3 I] read [o2 it].\n"


class Block(NamedTuple):
    """A block of code of a page; `line` is its first, counted from 1."""

    language: str
    code: str
    line: int
    why: str | None
    test: str | None


def blocks(page: Path) -> list[Block]:
    found = []
    before = ""
    for token in MarkdownIt().parse(page.read_text("utf8")):
        if token.type == "fence":
            reason = REASON.search(before)
            said = reason.groupdict() if reason else {"why": None, "test": None}
            language = token.info.split()[0] if token.info else ""
            found.append(Block(language, token.content, token.map[0] + 1, **said))
        before = token.content if token.type == "html_block" else ""
    return found


def test_the_readme_begins_with_the_sample():
    first = next(b for b in blocks(ROOT / "README.md") if b.language == "python")
    strings = [
        node.value
        for node in ast.walk(ast.parse(first.code))
        if isinstance(node, ast.Constant)
    ]
    assert SAMPLE in strings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the pages' commands are about."""
    folder = tmp_path / "folder"
    (folder / "texts").mkdir(parents=True)
    (folder / "texts" / "school.txt").write_text(TEXT)
    (folder / "book.txt").write_text(TEXT * 3)
    (folder / "transcript.txt").write_text(TRANSCRIPT)
    (folder / "mails.marked.txt").write_text(MARKED)
    gold = GoldDocument("gold", "own", sentence_starts=[0])
    for word in ["Ann", "lost", "her", "key", "."]:
        gold.add_word(word)
    gold.spaces = [True] * 5
    for start, end in ((0, 1), (2, 3)):
        gold.add_mention("ann", GoldMention(start, end))
    for name in ("gold.jsonlines", "gold.spacy"):
        write_documents([gold], folder / name, spacy.blank("en").vocab)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_of_a_page_run(page, eval_example, folder):
    examples = {example.start_line: example for example in find_examples(page)}
    names: dict = {}
    for block in blocks(page):
        if block.test:
            check_tested(block)
        elif block.why:
            continue
        elif block.language == "python":
            names |= run_python(examples[block.line], eval_example, names)
        elif block.language == "console":
            for command in commands(block):
                run_command(command)
        elif block.language == "ini":
            run_command(["refreader", "init-config", "written.cfg"])
            written = Path("written.cfg").read_text().splitlines()
            assert set(block.code.splitlines()) <= set(written)
        elif block.language == "json":
            json.loads(block.code)
        else:
            assert block.language in ("bibtex", "text"), f"{page}:{block.line}"


def run_python(example: CodeExample, evaluate: EvalExample, names: dict) -> dict:
    run = (
        evaluate.run_print_update
        if evaluate.update_examples
        else evaluate.run_print_check
    )
    return run(example, module_globals=names)


def commands(block: Block) -> list[list[str]]:
    lines = block.code.splitlines()
    assert all(line.startswith("$ ") for line in lines), f"line {block.line}"
    return [shlex.split(line[2:], comments=True) for line in lines]


def run_command(command: list[str]) -> None:
    assert command[0] == "refreader", f"say why it isn't run: {command}"
    result = CliRunner().invoke(app, command[1:])
    assert result.exit_code == 0, result.output


def check_tested(block: Block) -> None:
    """The test that is named has to do with each of the block's commands."""
    tested = (ROOT / block.test).read_text("utf8").replace("_", "-")
    for command in commands(block):
        after = command.index("project") if "project" in command else 0
        known = [word for word in command[after:] if word in tested]
        assert known, f"{block.test} doesn't run {command}"


@pytest.mark.parametrize(
    ("annotation", "written"),
    [
        (int, "`int`"),
        (int | None, "`int` or `None`"),
        ("int | None", "`int` or `None`"),
        (ForwardRef("list[int] | str"), "`list[int]` or `str`"),
        (dict[str, int | None], "`dict[str, int or None]`"),
    ],
)
def test_types_are_written_without_pipes(annotation, written, monkeypatch):
    for folder in (ROOT, ROOT / "docs"):
        monkeypatch.syspath_prepend(folder)
    assert import_module("parts").kind(annotation) == written


def test_generated_parts_are_up_to_date(monkeypatch, capsys):
    generated = [page for page in PAGES if "[[[cog" in page.read_text("utf8")]
    assert ROOT / "README.md" in generated
    for folder in (ROOT, ROOT / "docs"):
        monkeypatch.syspath_prepend(folder)
    code = Cog().main(["cog", "--check", *map(str, generated)])
    assert code == 0, f"run `make docs`: {capsys.readouterr()}"


def links(page: Path) -> list[str]:
    found = []
    for token in MarkdownIt().enable("table").parse(page.read_text("utf8")):
        for child in token.children or ():
            target = child.attrs.get("href") or child.attrs.get("src")
            found += [str(target)] if target else []
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_inside_lead_somewhere(page):
    for target in links(page):
        own = re.match(rf"{REPOSITORY}/(?:blob|tree|raw)/main/([^#]*)", target)
        if own:
            assert (ROOT / own[1]).exists(), target
        elif not re.match(r"https?:|mailto:|#", target):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_each_promise_names_tests_that_are_there():
    text = (ROOT / "docs" / "promises.md").read_text("utf8")
    promises = re.findall(r"^\| [^*-].*$", text.partition("## ")[0], re.MULTILINE)[1:]
    assert len(promises) > 20
    for promise in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", promise)
        assert named, promise
        for path, test in named:
            assert f"def {test}(" in (ROOT / path).read_text("utf8"), test


def test_the_readme_is_short_and_shows_on_the_package_index():
    readme = ROOT / "README.md"
    assert len(readme.read_text("utf8").splitlines()) < 150
    relative = [link for link in links(readme) if not re.match(r"https:|#", link)]
    assert relative == []
    pictures = [link for link in links(readme) if link.endswith((".svg", ".png"))]
    assert pictures


def test_the_site_is_built_without_a_warning(tmp_path):
    # Not --quiet, with which warnings are no errors
    build = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    result = subprocess.run(
        [*build, "--site-dir", str(tmp_path)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "Ruth Calder" in (tmp_path / "start" / "index.html").read_text("utf8")
    assert "LinkMade" in (tmp_path / "walkthrough" / "index.html").read_text("utf8")


def test_the_entry_of_the_universe_runs(capsys):
    entry = json.loads((ROOT / "universe.json").read_text("utf8"))
    assert entry["pip"] == "refreader-spacy"
    exec("\n".join(entry["code_example"]), {})
    assert "[Ruth Calder, She, her]" in capsys.readouterr().out


def test_the_version_is_the_same_everywhere():
    metadata = (ROOT / "pyproject.toml").read_text("utf8")
    version = re.search(r'^version = "(.*)"$', metadata, re.MULTILINE)[1]
    citation = srsly.read_yaml(ROOT / "CITATION.cff")
    assert citation["version"] == version
    changelog = (ROOT / "CHANGELOG.md").read_text("utf8")
    released = re.search(
        r"^## \[(\d.*)\] - (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE
    )
    assert released.groups() == (version, str(citation["date-released"]))
    assert f"...v{version}\n" in changelog
