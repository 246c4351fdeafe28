"""The text of a wiki's pages, asked of its MediaWiki API politely and only once."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from refreader_spacy.errors import Errors

BATCH = 20  # titles in a question, and pages that a kill can cost
TRIES = 8  # with pauses of 2, 4, 8, ... seconds, or as long as the wiki asks for
CONNECT_TRIES = 3  # where nobody answers at all
TIMEOUT = 60  # seconds without a word
QUERY = {
    **{"action": "query", "format": "json", "formatversion": "2", "redirects": "1"},
    **{"prop": "extracts", "explaintext": "1", "exsectionformat": "wiki"},
    "exlimit": "max",  # one whole text an answer, as Wikipedia has it
    "maxlag": "5",  # seconds that a busy wiki may be behind before it turns us away
}
HEADING = re.compile(r"(=+)\s*(.*?)\s*\1")
NO_PROSE = (  # sections that are lists
    *("See also", "Notes", "References", "Notes and references", "Footnotes"),
    *("Citations", "Sources", "Bibliography", "Further reading", "External links"),
)
TABLE = """
    CREATE TABLE IF NOT EXISTS pages
    (api TEXT, asked TEXT, title TEXT, text TEXT, PRIMARY KEY (api, asked))
"""


class Page(NamedTuple):
    """What a wiki has under a title.

    title (str | None): The page's own, after redirects; None if there is no page.
    text (str): Whole, with its headings.
    """

    asked: str
    title: str | None
    text: str

    @property
    def paragraphs(self) -> list[str]:
        """The prose: no headings, and no sections that are lists of sources."""
        prose, skipped = [], 0  # the level of the section that is passed over
        for line in map(str.strip, self.text.splitlines()):
            if heading := HEADING.fullmatch(line):
                level = len(heading[1])
                if not skipped or level <= skipped:
                    skipped = level if heading[2] in NO_PROSE else 0
            elif line and not skipped:
                prose.append(line)
        return prose


class Patience(Retry):
    """MediaWiki says that it lags behind in an answer with status 200."""

    RETRY_AFTER_STATUS_CODES = Retry.RETRY_AFTER_STATUS_CODES | {200}


class MediaWiki:
    """A wiki's API: asked one thing at a time, and left alone when it is busy."""

    def __init__(self, api: str, contact: str = "") -> None:
        """Ask nothing yet.

        contact (str): How the wiki's operators can reach whoever runs this.
        """
        self.api = api
        self._session = requests.Session()
        about = f" ({contact})" if contact else ""
        self._session.headers["User-Agent"] = (
            f"refreader-spacy/{version('refreader-spacy')}{about} "
            f"{requests.utils.default_user_agent()}"
        )
        patience = Patience(
            TRIES,
            connect=CONNECT_TRIES,
            backoff_factor=1,
            status_forcelist=(429, 500, 502, 503, 504),
        )
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=patience))

    def close(self) -> None:
        self._session.close()

    def pages(self, titles: Sequence[str]) -> list[Page]:
        """The pages of a few titles, in order, in as many answers as it takes."""
        moved: dict[str, str] = {}
        texts: dict[str, str] = {}
        for answer in self._answers(titles):
            for kind in ("normalized", "redirects"):
                moved |= {move["from"]: move["to"] for move in answer.get(kind, ())}
            for page in answer.get("pages", ()):
                if not page.get("missing") and not page.get("invalid"):
                    text = page.get("extract") or texts.get(page["title"], "")
                    texts[page["title"]] = text
        found = []
        for asked in titles:
            title = asked
            for _ in moved:  # a redirect may lead to another, or in a circle
                title = moved.get(title, title)
            exists = title in texts
            found.append(Page(asked, title if exists else None, texts.get(title, "")))
        return found

    def _answers(self, titles: Sequence[str]) -> Iterator[dict[str, Any]]:
        question = {**QUERY, "titles": "|".join(titles)}
        more: dict[str, str] | None = {}
        while more is not None:
            answer = self._ask({**question, **more})
            yield answer["query"]
            more = answer.get("continue")

    def _ask(self, question: dict[str, str]) -> dict[str, Any]:
        try:
            response = self._session.get(self.api, params=question, timeout=TIMEOUT)
            response.raise_for_status()
            answer = response.json()
        except requests.RequestException as error:
            # urllib3's last failure, without the address of the whole question
            problem = getattr(error.args[0] if error.args else None, "reason", error)
            message = Errors.R341.format(api=self.api, problem=problem)
            raise ConnectionError(message) from error
        if not isinstance(answer, dict) or "query" not in answer:
            raise ConnectionError(Errors.R342.format(api=self.api, found=answer))
        return answer


class PageCache:
    """What wikis have answered, in an SQLite file: a kill leaves it whole."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path)
        try:
            self._database.execute(TABLE)
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(Errors.R343.format(path=path, found=error)) from error

    def close(self) -> None:
        self._database.close()

    def get(self, api: str, asked: str) -> Page | None:
        query = "SELECT asked, title, text FROM pages WHERE api = ? AND asked = ?"
        row = self._database.execute(query, (api, asked)).fetchone()
        return Page(*row) if row else None

    def add(self, api: str, pages: Iterable[Page]) -> None:
        """Keep all of them, or none if it is interrupted."""
        with self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)",
                [(api, *page) for page in pages],
            )


def wiki_pages(
    titles: Sequence[str], wiki: MediaWiki, cache: PageCache
) -> Iterator[Page]:
    """The page of each title, in order; the wiki is asked what isn't in the cache."""
    for start in range(0, len(titles), BATCH):
        batch = titles[start : start + BATCH]
        known = {page.asked: page for t in batch if (page := cache.get(wiki.api, t))}
        if new := [title for title in batch if title not in known]:
            pages = wiki.pages(new)
            cache.add(wiki.api, pages)
            known |= {page.asked: page for page in pages}
        yield from (known[title] for title in batch)
