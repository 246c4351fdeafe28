"""The server, with an application that answers at once."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from refreader_spacy.page import server

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LIMIT = 5


@pytest.fixture
def address(monkeypatch) -> Iterator[str]:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", LIMIT)
    monkeypatch.setattr(server, "HEAD_SECONDS", 600)
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("here"))])
    with server.serving(app) as address:
        yield address


def connected(address: str) -> socket.socket:
    place = urlsplit(address)
    return socket.create_connection((place.hostname, place.port), timeout=120)


def answer_of(client: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    return b"".join(iter(lambda: client.recv(1 << 16), b""))


def test_there_are_only_so_many_connections(address):
    """Those who came first keep theirs, though they say nothing for a while."""
    with ExitStack() as clients:
        first = [clients.enter_context(connected(address)) for _ in range(LIMIT)]
        others = [clients.enter_context(connected(address)) for _ in range(20)]
        for client in others:
            answer = answer_of(client)
            assert answer.startswith(b"HTTP/1.1 503")
            assert b"R279" in answer
        for client in first:
            client.sendall(GET)
            assert answer_of(client).startswith(b"HTTP/1.1 200")


def test_a_connection_that_ends_makes_room_for_another(address):
    for _ in range(3 * LIMIT):
        with connected(address) as client:
            client.sendall(GET)
            assert answer_of(client).startswith(b"HTTP/1.1 200")
