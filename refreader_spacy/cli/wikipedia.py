"""`refreader wikipedia`: the articles behind GAP's texts, as text to pretrain on."""

from __future__ import annotations

import lzma
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from refreader_spacy.cli.pipeline import progress
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.wikipedia import MediaWiki, Page, PageCache, wiki_pages
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write

WIKIPEDIA = "https://en.wikipedia.org/w/api.php"
SUFFIXES = (".txt", ".txt.xz")
SHOWN = 5  # titles without a page that are named


def wikipedia(
    gold: Annotated[
        list[Path],
        typer.Argument(
            help="GAP files, with the articles' URLs.", metavar="GAP.tsv..."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="The text: a .txt or .txt.xz file."),
    ],
    without: Annotated[
        list[Path] | None,
        typer.Option(
            help="A GAP file whose articles are left out, as those of the test rows "
            "should be. May be given more than once."
        ),
    ] = None,
    contact: Annotated[
        str,
        typer.Option(
            help="A mail or web address, where Wikipedia's operators can reach you. "
            "They ask for it, and it is sent to them alone."
        ),
    ] = "",
    api: Annotated[
        str, typer.Option(help="The MediaWiki API that has the articles.")
    ] = WIKIPEDIA,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Where answers are kept. Default: beside the output, with .sqlite "
            "after its name."
        ),
    ] = None,
) -> None:
    """Fetch the articles behind GAP's texts, to pretrain on.

    Each article begins with a line `= Title =`; its paragraphs follow, one per line.
    Requests are sent one at a time, with the pauses that the wiki asks for, so
    thousands of articles take an hour or more. Answers are cached: after an
    interruption the same command continues. Delete the cache to fetch all again.

    Example: refreader wikipedia gap-development.tsv --without gap-test.tsv
    --contact you@example.org -o pages.txt.xz
    """
    if not output.name.endswith(SUFFIXES):
        raise ValueError(Errors.R227.format(known=[*SUFFIXES], path=output))
    unwanted = set(titles(without or []))
    wanted = [title for title in titles(gold) if title not in unwanted]
    if not wanted:
        raise ValueError(Errors.R340.format(paths=", ".join(map(str, gold))))
    kept = cache or output.with_name(f"{output.name}.sqlite")
    with closing(MediaWiki(api, contact)) as wiki, closing(PageCache(kept)) as answers:
        found = list(progress(wiki_pages(wanted, wiki, answers), "Pages", len(wanted)))
    articles = {page.title: page for page in found if page.paragraphs}
    if not articles:
        raise ValueError(Errors.R344.format(n=len(found), api=api, cache=kept))
    with atomic_write(output) as draft:
        write_articles(draft, articles.values(), compressed=output.suffix == ".xz")
    typer.echo(report(found, articles.values()))
    typer.echo(f"written to {output}")


def titles(paths: Iterable[Path]) -> list[str]:
    """Of all articles that the files name, each once, in order."""
    rows = (row for path in paths for row in read_gap(path))
    return list(dict.fromkeys(row.title for row in rows if row.title))


def write_articles(path: Path, articles: Iterable[Page], *, compressed: bool) -> None:
    """Write what language-model pretraining reads."""
    opened = lzma.open if compressed else open
    with opened(path, "wt", encoding="utf8") as file:
        for page in articles:
            file.write("\n".join([f"= {page.title} =", *page.paragraphs, "", ""]))


def report(found: Sequence[Page], articles: Collection[Page]) -> str:
    """Counts of articles written and of titles without text."""
    words = sum(len(text.split()) for page in articles for text in page.paragraphs)
    missing = [page.asked for page in found if page.title is None]
    empty = [page.asked for page in found if page.title and not page.paragraphs]
    counts = {
        "redirected": sum(page.title not in (None, page.asked) for page in found),
        "the same article under another title": (
            len(found) - len(articles) - len(missing) - len(empty)
        ),
    }
    lines = [f"{len(articles):,} articles, {words:,} words"]
    lines += [f"{what}: {n:,}" for what, n in counts.items() if n]
    for what, names in (("no such page", missing), ("no text", empty)):
        if names:
            more = ", ..." if len(names) > SHOWN else ""
            lines.append(f"{what}: {len(names):,} ({', '.join(names[:SHOWN])}{more})")
    return "\n".join(lines)
