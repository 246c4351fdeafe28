"""`refreader serve`: the page, on this machine."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Annotated

import typer

from refreader_spacy.cli.pipeline import Model, find_reader, load_pipeline
from refreader_spacy.component import RefReader
from refreader_spacy.errors import Errors


def serve(
    host: Annotated[
        str, typer.Option(help="Where to listen. Default: only for this machine.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="0 takes any that is free.")
    ] = 8000,
    model: Model = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name of this machine that clients may use."),
    ] = None,
) -> None:
    """Serve a page that shows how a text is read.

    It needs `pip install 'refreader-spacy[page]'`. Go to the address that is printed;
    Ctrl+C ends it. Texts stay on this machine, and nothing is stored.

    Example: refreader serve --port 8001
    """
    try:
        from refreader_spacy.page.app import page_app
        from refreader_spacy.page.pool import ReadingPool
        from refreader_spacy.page.server import address, is_loopback, listen, run
    except ImportError as error:
        raise ValueError(Errors.R260) from error
    with (
        listen(host, port) as place,
        closing(ReadingPool(partial(load_reader, model))) as pool,
    ):
        if not is_loopback(place):
            warning = (
                "Anyone who can reach this machine can use the page. It asks for no "
                "password, and what is sent is not encrypted."
            )
            typer.secho(warning, err=True, fg="yellow")
        typer.echo(f"The page is at {address(place)} (Ctrl+C ends it)")
        run(page_app(pool, hosts=[host, *(allow_host or [])]), place)


def load_reader(model: str | None) -> RefReader:
    return find_reader(load_pipeline(model))
