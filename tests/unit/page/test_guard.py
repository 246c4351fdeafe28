import httpx
import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers

from refreader_spacy.page.guard import Guard

guard = Guard(Starlette(), hosts=["Reader.example"])


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("localhost:8000", True),
        ("127.0.0.1:8000", True),
        ("[::1]:8000", True),
        ("192.168.0.7", True),
        ("reader.example:80", True),
        ("evil.example", False),
        ("localhost.evil.example:8000", False),
        ("127.0.0.1.evil.example", False),
        ("localhost:evil", False),
        ("[::1", False),
        ("evil.example@localhost", False),
        ("localhost/evil", False),
        ("localhost?evil", False),
        ("localhost#evil", False),
        ("", False),
    ],
)
def test_only_names_of_this_machine_are_answered(host, ours):
    assert guard.is_ours(host) is ours
    problem = guard.problem("GET", Headers({"host": host}))
    assert (problem is None) is ours
    assert ours or "R268" in problem


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        ({}, True),
        ({"origin": "http://localhost:8000"}, True),
        ({"origin": "http://localhost:8000", "sec-fetch-site": "same-origin"}, True),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://localhost:9000"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://[::1"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
    ],
)
def test_only_the_page_itself_may_post(headers, ours):
    problem = guard.problem("POST", Headers({"host": "localhost:8000", **headers}))
    assert (problem is None) is ours
    assert ours or "R269" in problem


def test_who_is_not_let_in_gets_an_answer():
    import anyio

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(guard)
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.post("http://evil.example/read", content=b"Ann.")

    answer = anyio.run(ask)
    assert (answer.status_code, answer.headers["connection"]) == (403, "close")
    assert "R268" in answer.json()["problem"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
