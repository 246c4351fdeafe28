"""Serving the page at an address of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from socket import AF_INET, AF_INET6, create_server, socket
from threading import Thread

import uvicorn
from starlette.applications import Starlette

from refreader_spacy.errors import Errors


def listen(host: str, port: int) -> socket:
    """Bind to an address; connections wait until it is served."""
    family = AF_INET6 if ":" in host else AF_INET
    try:
        return create_server((host, port), family=family)
    except OSError as error:
        problem = error.strerror or error
        raise ValueError(
            Errors.R265.format(host=host, port=port, problem=problem)
        ) from error


def address(place: socket) -> str:
    """The URL of a bound socket."""
    host, port, *_ = place.getsockname()
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_loopback(place: socket) -> bool:
    """Whether only this machine can reach it."""
    host, *_ = place.getsockname()
    return ip_address(host).is_loopback


def run(app: Starlette, place: socket) -> None:
    """Serve until interrupted."""
    make_server(app).run(sockets=[place])


@contextmanager
def serving(app: Starlette) -> Iterator[str]:
    """Serve in the background until the block ends; gives the URL."""
    with listen("127.0.0.1", 0) as place:
        server = make_server(app)
        thread = Thread(target=server.run, kwargs={"sockets": [place]})
        thread.start()
        try:
            yield address(place)
        finally:
            server.should_exit = True
            thread.join()


def make_server(app: Starlette) -> uvicorn.Server:
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    return uvicorn.Server(config)
