"""What the page doesn't answer: other sites, other hosts, slow or long requests."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from socket import gethostname
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from refreader_spacy.errors import Errors

SEND_SECONDS = 30.0  # in which a client must take what it is sent
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


class Guard:
    """Lets in requests of the page itself, and goes with each answer."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] = ()) -> None:
        """hosts (Collection[str]): Names of this machine, besides localhost."""
        self.app = app
        self.hosts = {"localhost", gethostname().lower(), *map(str.lower, hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if message["status"] >= 400:  # a body may still be on its way
                    headers["connection"] = "close"
            with anyio.fail_after(SEND_SECONDS):
                await send(message)

        try:
            if problem := self.problem(scope["method"], Headers(scope=scope)):
                answer = JSONResponse({"problem": problem}, 403)
                await answer(scope, receive, guarded)
            else:
                await self.app(scope, receive, guarded)
        except (ClientDisconnect, TimeoutError):
            return  # nobody is there to be told

    def problem(self, method: str, headers: Headers) -> str | None:
        """What is wrong with where a request comes from or goes to, if anything."""
        host = headers.get("host", "")
        if not self.is_ours(host):
            return Errors.R268.format(host=host[:100])
        if method in ("GET", "HEAD"):
            return None
        origin = headers.get("origin", "")
        foreign = headers.get("sec-fetch-site", "same-origin") not in (
            "same-origin",
            "none",
        )
        if foreign or (origin and urlsplit_host(origin) != host.lower()):
            return Errors.R269.format(origin=origin[:100] or "another site")
        return None

    def is_ours(self, host: str) -> bool:
        """Is this an address, or a name of this machine? A foreign name could be made
        to lead here by those who own it."""
        try:
            parts = urlsplit(f"//{host}")
            parts.port  # noqa: B018  # raises if it is none
        except ValueError:
            return False
        if parts.netloc != host or parts.username is not None:  # more than a host
            return False
        name = parts.hostname or ""
        if name in self.hosts:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def urlsplit_host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
