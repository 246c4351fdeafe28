"""Serving the page at an address of this machine."""

from __future__ import annotations

import json
from asyncio import TimerHandle
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from socket import AF_INET, AF_INET6, create_server, socket
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from refreader_spacy.errors import Errors

MAX_CONNECTIONS = 200  # at the same time; others are told so, and closed
HEAD_SECONDS = 10.0  # in which a client must have said what it wants


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
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        ws="none",
        log_level="error",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


class ImpatientProtocol(H11Protocol):
    """HTTP, for so many clients, which send the head of a request in some seconds."""

    head_timer: TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        # Uvicorn counts when a request comes: it would hold any number of silent
        # clients, and refuse the first of them that says something
        is_full = len(self.connections) >= MAX_CONNECTIONS
        super().connection_made(transport)
        if is_full:
            transport.write(too_many_connections())
            transport.close()
        else:
            self.expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
        super().connection_lost(exc)

    def expect_head(self) -> None:
        """Start the clock if a head is to come, and stop it if one has come."""
        if self.cycle is not None and not self.cycle.response_complete:
            if self.head_timer is not None:
                self.head_timer.cancel()
                self.head_timer = None
        elif self.head_timer is None:
            self.head_timer = self.loop.call_later(HEAD_SECONDS, self.close_idle)

    def close_idle(self) -> None:
        self.head_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def too_many_connections() -> bytes:
    """An answer to whatever will be asked."""
    body = json.dumps({"problem": Errors.R279.format(limit=MAX_CONNECTIONS)})
    head = (
        "HTTP/1.1 503 Service Unavailable",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    )
    return "\r\n".join([*head, "", body]).encode()
