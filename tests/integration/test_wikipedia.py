"""`refreader wikipedia`, against a wiki on this machine that has its moods."""

import json
import lzma
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from typer.testing import CliRunner, Result

from refreader_spacy.cli import app
from refreader_spacy.corpora.gap import GOLD_COLUMNS
from refreader_spacy.corpora.lines import numbered_lines
from refreader_spacy.corpora.wikipedia import Page

PAGES = {
    "Ann Lee": "Ann Lee sang.\n\n\n== Life ==\nShe was born.\n\n== Notes ==\nA book",
    "José": "José wrote.",
    "Julie & Julia": "A film.",
    "Stub": "",
}
REDIRECTS = {
    "Annie": "Ann L.",
    "Ann L.": "Ann Lee",
    "Round": "Round 2",
    "Round 2": "Round",
}
Mood = Callable[[BaseHTTPRequestHandler], None]


class Wiki(ThreadingHTTPServer):
    """MediaWiki's API as far as we ask it, with whole texts one at a time."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.moods: list[Mood] = []  # what it does next, instead of answering
        self.questions: list[dict[str, str]] = []
        self.agents: list[str] = []

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/w/api.php"


class Handler(BaseHTTPRequestHandler):
    server: Wiki

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        self.server.questions.append({key: value[0] for key, value in query.items()})
        self.server.agents.append(self.headers["User-Agent"])
        if self.server.moods:
            self.server.moods.pop(0)(self)
        else:
            self.give(answer(self.server.questions[-1]))

    def give(self, found: object, status: int = 200, **headers: str) -> None:
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def answer(question: dict[str, str]) -> dict[str, object]:
    """As Wikipedia answers `prop=extracts`: continued, normalized and redirected."""
    titles = question["titles"].split("|")
    capital = {t: t[:1].upper() + t[1:] for t in titles}
    redirects = {}
    ends = []
    for title in capital.values():
        seen = set()
        while title in REDIRECTS and title not in seen:
            seen.add(title)
            redirects[title] = title = REDIRECTS[title]
        if title not in seen and title not in ends:
            ends.append(title)
    pages: list[dict[str, object]] = [{"title": title} for title in ends]
    at = int(question.get("excontinue", 0))
    with_text = [page for page in pages if page["title"] in PAGES]
    for page in pages:
        if "[" in str(page["title"]):
            page["invalid"] = True
        elif page["title"] not in PAGES:
            page["missing"] = True
    if with_text:
        with_text[at]["extract"] = PAGES[str(with_text[at]["title"])]
    found: dict[str, object] = {
        "query": {
            "normalized": [{"from": a, "to": b} for a, b in capital.items() if a != b],
            "redirects": [{"from": a, "to": b} for a, b in redirects.items()],
            "pages": pages,
        }
    }
    if at + 1 < len(with_text):
        found["continue"] = {"excontinue": str(at + 1), "continue": "||"}
    return found


def fails(status: int, **headers: str) -> Mood:
    return lambda handler: handler.give(b"no", status, **headers)


def lags(handler: Handler) -> None:
    error = {"code": "maxlag", "info": "Waiting for db1: 7 seconds lagged."}
    handler.give({"error": error}, Retry_After="5")


def hangs_up(handler: Handler) -> None:
    handler.close_connection = True


@pytest.fixture
def wiki() -> Iterator[Wiki]:
    with Wiki() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited for the wiki, without waiting."""
    waited: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", waited.append)
    return waited


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def gap_file(name: str, *titles: str) -> str:
    rows = (
        f"{name}-{i}\tAl met Bo when he left.\the\t15\tAl\t0\tTRUE\tBo\t7\tFALSE\t"
        f"http://en.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"
        for i, title in enumerate(titles)
    )
    Path(name).write_text("\n".join(["\t".join(GOLD_COLUMNS), *rows]) + "\n", "utf8")
    return name


def run(wiki: Wiki, *arguments: str, output: str = "out.txt") -> Result:
    command = ["wikipedia", *arguments, "-o", output, "--api", wiki.api]
    return CliRunner().invoke(app, command)


def read_articles(path: Path) -> list[tuple[str, list[str]]]:
    """Titles and paragraphs, as language-model pretraining takes them."""
    text = "\n".join(line for _, line in numbered_lines(path))
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    return [(title.strip("= "), paragraphs) for title, *paragraphs in blocks]


def test_pages_become_articles_that_pretraining_reads(wiki: Wiki) -> None:
    gold = gap_file("g.tsv", "Ann Lee", "José", "Ann Lee", "Julie & Julia")
    result = run(wiki, gold)
    assert result.exit_code == 0, result.stderr
    assert Path("out.txt").read_text("utf8") == (
        "= Ann Lee =\nAnn Lee sang.\nShe was born.\n\n"
        "= José =\nJosé wrote.\n\n= Julie & Julia =\nA film.\n\n"
    )
    assert read_articles(Path("out.txt")) == [
        ("Ann Lee", ["Ann Lee sang.", "She was born."]),
        ("José", ["José wrote."]),
        ("Julie & Julia", ["A film."]),
    ]
    assert result.stdout == "3 articles, 10 words\nwritten to out.txt\n"


def test_titles_are_asked_together_and_answers_continued(wiki: Wiki) -> None:
    run(wiki, gap_file("g.tsv", "Ann Lee", "José", "Julie & Julia"))
    asked = [(q["titles"], q.get("excontinue")) for q in wiki.questions]
    together = "Ann Lee|José|Julie & Julia"
    assert asked == [(together, None), (together, "1"), (together, "2")]
    assert all(question["maxlag"] for question in wiki.questions)


def test_many_titles_are_asked_in_portions(wiki: Wiki) -> None:
    names = [f"Nobody {number}" for number in range(45)]
    run(wiki, gap_file("g.tsv", *names, "José"))
    asked = [question["titles"].split("|") for question in wiki.questions]
    assert [len(portion) for portion in asked] == [20, 20, 6]
    assert [t for portion in asked for t in portion] == [*names, "José"]


def test_a_xz_file_is_compressed(wiki: Wiki) -> None:
    run(wiki, gap_file("g.tsv", "José"), output="new/out.txt.xz")
    data = Path("new/out.txt.xz").read_bytes()
    assert lzma.decompress(data).decode() == "= José =\nJosé wrote.\n\n"
    assert [title for title, _ in read_articles(Path("new/out.txt.xz"))] == ["José"]


def test_what_became_of_titles_is_counted(wiki: Wiki) -> None:
    gold = gap_file(
        "g.tsv", "Annie", "Ann Lee", "josé", "Nobody", "A[", "Round", "Stub"
    )
    assert run(wiki, gold).stdout.splitlines() == [
        "2 articles, 8 words",
        "redirected: 2",
        "the same article under another title: 1",
        "no such page: 3 (Nobody, A[, Round)",
        "no text: 1 (Stub)",
        "written to out.txt",
    ]
    assert Path("out.txt").read_text("utf8").count("= Ann Lee =") == 1


def test_articles_of_other_files_can_be_left_out(wiki: Wiki) -> None:
    train, test = gap_file("a.tsv", "José", "Ann Lee"), gap_file("b.tsv", "José")
    run(wiki, train, "--without", test)
    assert [title for title, _ in read_articles(Path("out.txt"))] == ["Ann Lee"]
    assert "R340" in run(wiki, test, "--without", test).stderr


@pytest.mark.parametrize(
    ("moods", "expected"),
    [
        ([fails(429, Retry_After="7")], [7]),
        ([fails(503, Retry_After="3"), lags], [3, 5]),
        ([lags, lags], [5, 5]),
        ([fails(500), fails(502), fails(504)], [2, 4]),  # the first again at once
        ([hangs_up], []),
    ],
)
def test_a_busy_wiki_is_given_the_pauses_it_asks_for(
    wiki: Wiki, pauses: list[float], moods: list[Mood], expected: list[float]
) -> None:
    wiki.moods = list(moods)
    result = run(wiki, gap_file("g.tsv", "José"))
    assert result.exit_code == 0, result.stderr
    assert [pause for pause in pauses if pause] == expected
    assert len(wiki.questions) == len(moods) + 1


@pytest.mark.parametrize(
    ("mood", "parts"),
    [
        (fails(503), ["R341", "503"]),
        (fails(404), ["R341", "404", "api.php"]),
        (fails(200), ["R341", "api.php"]),
        (lags, ["R342", "7 seconds lagged"]),
        (lambda handler: handler.give([]), ["R342", "[]"]),
        (hangs_up, ["R341", "again to go on"]),
    ],
)
def test_a_wiki_that_stays_away_is_an_error_of_one_line(
    wiki: Wiki, pauses: list[float], mood: Mood, parts: list[str]
) -> None:
    wiki.moods = [mood] * 20
    result = run(wiki, gap_file("g.tsv", "José"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr
    assert not Path("out.txt").exists()


def test_where_nobody_answers_we_give_up_soon(pauses: list[float]) -> None:
    with Wiki() as nobody:
        pass  # its port is free again
    result = run(nobody, gap_file("g.tsv", "José"))
    assert "R341" in result.stderr
    assert sum(pauses) < 10


def test_what_was_fetched_is_not_asked_again(wiki: Wiki) -> None:
    names = [f"Nobody {number}" for number in range(20)]
    gold = gap_file("g.tsv", *names, "José", "Ann Lee")
    wiki.moods = [lambda handler: handler.give(answer(wiki.questions[-1])), fails(404)]
    assert run(wiki, gold).exit_code == 1
    asked = len(wiki.questions)
    assert run(wiki, gold).exit_code == 0
    assert {q["titles"] for q in wiki.questions[asked:]} == {"José|Ann Lee"}
    whole = Path("out.txt").read_text("utf8")
    asked = len(wiki.questions)
    assert run(wiki, gold).exit_code == 0
    assert (len(wiki.questions), Path("out.txt").read_text("utf8")) == (asked, whole)


def test_each_wiki_has_answers_of_its_own(wiki: Wiki) -> None:
    gold = gap_file("g.tsv", "José")
    run(wiki, gold)
    with Wiki() as other:
        thread = Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        run(other, gold)
        other.shutdown()
        thread.join()
        assert len(other.questions) == 1


def test_the_wiki_hears_who_asks(wiki: Wiki) -> None:
    run(wiki, gap_file("g.tsv", "José"), "--contact", "ann@example.org")
    (agent,) = wiki.agents
    assert agent.startswith("refreader-spacy/")
    assert "(ann@example.org)" in agent


def test_nothing_is_asked_when_there_is_nowhere_to_write(wiki: Wiki) -> None:
    gold = gap_file("g.tsv", "José")
    assert "R227" in run(wiki, gold, output="out.spacy").stderr
    Path("old.sqlite").write_text("something else, and long enough to be looked at")
    assert "R343" in run(wiki, gold, "--cache", "old.sqlite").stderr
    assert wiki.questions == []


def test_nothing_is_written_when_there_is_no_text(wiki: Wiki) -> None:
    result = run(wiki, gap_file("g.tsv", "Nobody"))
    assert "R344" in result.stderr
    assert not Path("out.txt").exists()


def test_lists_are_no_prose() -> None:
    text = (
        "One.\n== Notes ==\nA list\n=== More ===\nof things\n== Work ==\nTwo.\n"
        "= Odd =\nThree.\n== External links ==\nx"
    )
    assert Page("T", "T", text).paragraphs == ["One.", "Two.", "Three."]
