import socket
import sys
import time
from contextlib import closing, suppress
from urllib.parse import urlsplit

import httpx
import pytest
from troubled import load_reader
from typer.testing import CliRunner

from refreader_spacy.cli import app
from refreader_spacy.page import app as app_module
from refreader_spacy.page import server
from refreader_spacy.page.app import page_app
from refreader_spacy.page.pool import ReadingPool


def run(*arguments: object):
    command = ["serve", *map(str, arguments)]
    return CliRunner().invoke(app, command, catch_exceptions=False)


@pytest.fixture
def served(monkeypatch) -> list[str]:
    """Where the page would be served, instead of being served."""
    addresses = []
    monkeypatch.setattr(
        server, "run", lambda app, place: addresses.append(server.address(place))
    )
    return addresses


def test_it_says_where_the_page_is(served):
    result = run("--port", 0)
    assert result.stdout == f"The page is at {served[0]} (Ctrl+C ends it)\n"
    assert served[0].startswith("http://127.0.0.1:")
    assert (result.stderr, result.exit_code) == ("", 0)


def test_who_lets_others_in_is_warned(served):
    result = run("--port", 0, "--host", "0.0.0.0")
    assert "Anyone who can reach this machine" in result.stderr
    assert len(served) == 1


def test_a_place_that_is_taken_is_a_clear_error():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        _, port = taken.getsockname()
        result = run("--port", port)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert f"127.0.0.1:{port}: Address already in use" in result.stderr
    assert "--port" in result.stderr


def test_without_its_libraries_the_page_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "refreader_spacy.page.app", None)
    result = run("--port", 0)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "pip install 'refreader-spacy[page]'" in result.stderr


@pytest.fixture(scope="module")
def pool():
    pool = ReadingPool(load_reader, n_workers=2)
    yield pool
    pool.close()


@pytest.fixture
def address(pool):
    with server.serving(page_app(pool)) as address:
        yield address


def connected(address: str) -> socket.socket:
    place = urlsplit(address)
    return socket.create_connection((place.hostname, place.port), timeout=120)


def head(address: str, length: int) -> bytes:
    host = urlsplit(address).netloc
    lines = ["POST /read HTTP/1.1", f"Host: {host}", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


def answer_of(client: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    return b"".join(iter(lambda: client.recv(1 << 16), b""))


def test_reading_stops_when_the_client_disconnects(pool, address, caplog, capfd):
    text = b"Ann told Bo that she left him. " * 10_000
    with connected(address) as client:
        client.sendall(head(address, len(text)) + text)
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
        wait_until(lambda: pool.n_texts == 1)
    wait_until(lambda: pool.n_texts == 0)
    with connected(address) as client:  # in the middle of the text
        client.sendall(head(address, len(text)) + text[:100_000])
    time.sleep(0.3)
    assert httpx.get(address, timeout=120).status_code == 200
    assert not caplog.records
    assert "Traceback" not in capfd.readouterr().err


def test_a_long_text_is_refused_by_its_length(address):
    with connected(address) as client:
        client.sendall(head(address, 10**9))
        answer = answer_of(client)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"R261" in answer


def test_a_text_that_does_not_come_is_not_waited_for(address, monkeypatch):
    monkeypatch.setattr(app_module, "BODY_SECONDS", 0.2)
    with connected(address) as client:
        client.sendall(head(address, 1000) + b"Ann told")
        assert answer_of(client).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: loc"])
def test_a_client_that_says_nothing_is_not_waited_for(address, monkeypatch, sent):
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.2)
    with connected(address) as client, suppress(ConnectionError):  # if it came late
        client.sendall(sent)
        assert answer_of(client) == b""


def test_a_second_request_has_no_more_time(address):
    with connected(address) as client:
        host = urlsplit(address).netloc.encode()
        client.sendall(b"GET /page.css HTTP/1.1\r\nHost: " + host + b"\r\n\r\nGET / H")
        assert answer_of(client).startswith(b"HTTP/1.1 200")


def test_a_slow_text_delays_no_other_client():
    """One that keeps one of two workers busy for as long as it may."""
    pool = ReadingPool(load_reader, n_workers=2, piece_seconds=600)
    with closing(pool), server.serving(page_app(pool)) as address:
        with connected(address) as slow:
            slow.sendall(head(address, 6) + b"STALL ")
            wait_until(lambda: pool.n_texts == 1)
            answer = httpx.post(f"{address}read", content="Ann ran.", timeout=120)
            assert "event: found" in answer.text
            assert httpx.get(f"{address}page.js", timeout=120).status_code == 200
            assert pool.n_texts == 1
        wait_until(lambda: pool.n_texts == 0)


def wait_until(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
