import socket
import sys
import time
from urllib.parse import urlsplit

import pytest
import spacy
from typer.testing import CliRunner

from refreader_spacy.cli import app
from refreader_spacy.page import server
from refreader_spacy.page.app import page_app
from refreader_spacy.page.service import ReadingService


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


def test_who_leaves_is_read_to_no_more():
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader")
    service = ReadingService(nlp.get_pipe("refreader"))
    told = []
    read = service.read
    service.read = lambda *given: (told.append(m.event) or m for m in read(*given))
    text = b"Ann told Bo that she left him. " * 10_000
    with server.serving(page_app(service)) as address:
        with socket.create_connection(
            (urlsplit(address).hostname, urlsplit(address).port)
        ) as visitor:
            head = f"POST /read HTTP/1.1\r\nHost: page\r\nContent-Length: {len(text)}"
            visitor.sendall(f"{head}\r\n\r\n".encode() + text)
            assert visitor.recv(1000).startswith(b"HTTP/1.1 200")
        time.sleep(1)
        n_told = len(told)
        time.sleep(1)
        assert len(told) == n_told
    assert "found" not in told
