"""The page's web application: static files, reading as events, regrouping."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Sent

from refreader_spacy.errors import Errors
from refreader_spacy.page.service import Message, ReadingService

LIMIT = 1_000_000  # bytes of a text
STATIC = Path(__file__).parent / "static"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def page_app(service: ReadingService, limit: int = LIMIT) -> Starlette:
    """The web application of a reading service.

    limit (int): Bytes of a text.
    """

    async def read(request: Request) -> Response:
        threshold = asked_threshold(request)
        text = await given_text(request, limit)
        messages = service.read(text, threshold)
        return StreamingResponse(sent_events(messages), media_type="text/event-stream")

    async def regroup(request: Request) -> Response:
        name = request.query_params.get("name", "")
        threshold = asked_threshold(request) or 0.0
        try:
            found = await run_in_threadpool(service.regroup, name, threshold)
        except LookupError as error:
            raise HTTPException(410, error.args[0]) from error
        return JSONResponse(found)

    return Starlette(
        routes=[
            Route("/read", read, methods=["POST"]),
            Route("/regroup", regroup, methods=["POST"]),
            Mount("/", StaticFiles(directory=STATIC, html=True)),
        ],
        middleware=[Middleware(WithHeaders)],
        exception_handlers={HTTPException: problem},
    )


def asked_threshold(request: Request) -> float | None:
    """The threshold of a request, if it has one."""
    asked = request.query_params.get("threshold")
    if asked is None:
        return None
    try:
        threshold = float(asked)
    except ValueError:
        threshold = math.nan
    if not 0 <= threshold <= 1:
        raise HTTPException(400, Errors.R263.format(found=asked))
    return threshold


async def given_text(request: Request, limit: int) -> str:
    """The text of a request; reading stops at the limit."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > limit:
            raise HTTPException(413, Errors.R261.format(limit=limit))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HTTPException(400, Errors.R262.format(found=error)) from error


def sent_events(messages: Iterable[Message]) -> Iterator[str]:
    """Messages as server-sent events; if reading fails, the last one says why."""
    try:
        for event, data in messages:
            yield f"event: {event}\ndata: {json.dumps(data)}\n\n"
    except ValueError as error:
        yield f"event: problem\ndata: {json.dumps({'problem': str(error)})}\n\n"


def problem(request: Request, error: Exception) -> Response:
    """An error as JSON, for the page to show."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = error.detail if isinstance(error, HTTPException) else str(error)
    return JSONResponse({"problem": text}, status)


class WithHeaders:
    """Middleware that adds the security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Sent) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, with_headers)
