"""The page's web application: static files, reading as events, and an endpoint."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from refreader_spacy.errors import Errors
from refreader_spacy.page.annotate import asked_annotation, openapi
from refreader_spacy.page.guard import Guard
from refreader_spacy.page.pool import Readings
from refreader_spacy.page.service import Message

LIMIT = 1_000_000  # bytes of a text
STATIC = Path(__file__).parent / "static"
BODY_SECONDS = 30.0  # in which a text must have come


def page_app(
    readings: Readings, limit: int = LIMIT, hosts: Collection[str] = ()
) -> Starlette:
    """The web application of those who read.

    limit (int): Bytes of a text.
    hosts (Collection[str]): Names of this machine that clients may use.
    """

    async def read(request: Request) -> Response:
        threshold = asked_threshold(request)
        text = await given_text(request, limit)
        messages = readings.read(text, threshold)
        return StreamingResponse(sent_events(messages), media_type="text/event-stream")

    async def annotate(request: Request) -> Response:
        try:
            asked = asked_annotation(await given_text(request, limit))
        except ValueError as error:
            raise HTTPException(400, str(error)) from error
        found: dict[str, Any] = {}
        try:
            async for event, data in readings.read(asked.text, asked.threshold):
                found = data["record"] if event == "found" else found
        except (ValueError, ChildProcessError) as error:
            raise HTTPException(422, str(error)) from error
        return JSONResponse({**found, "id": asked.id})

    async def description(request: Request) -> Response:
        return JSONResponse(openapi())

    async def regroup(request: Request) -> Response:
        name = request.query_params.get("name", "")
        threshold = asked_threshold(request) or 0.0
        try:
            found = await readings.regroup(name, threshold)
        except LookupError as error:
            raise HTTPException(410, error.args[0]) from error
        return JSONResponse(found)

    return Starlette(
        routes=[
            Route("/read", read, methods=["POST"]),
            Route("/regroup", regroup, methods=["POST"]),
            Route("/annotate", annotate, methods=["POST"]),
            Route("/openapi.json", description),
            Mount("/", StaticFiles(directory=STATIC, html=True)),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
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
    """The text of a request, which is not received beyond the limit."""
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > limit:
        raise HTTPException(413, Errors.R261.format(limit=limit))
    data = bytearray()
    try:
        with anyio.fail_after(BODY_SECONDS):
            async for part in request.stream():
                data += part
                if len(data) > limit:
                    raise HTTPException(413, Errors.R261.format(limit=limit))
    except TimeoutError as error:
        message = Errors.R259.format(seconds=BODY_SECONDS)
        raise HTTPException(408, message) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HTTPException(400, Errors.R262.format(found=error)) from error


async def sent_events(messages: AsyncIterator[Message]) -> AsyncIterator[str]:
    """Messages as server-sent events; if reading fails, the last one has the error."""
    try:
        async for event, data in messages:
            yield f"event: {event}\ndata: {json.dumps(data)}\n\n"
    except (ValueError, ChildProcessError) as error:
        yield f"event: problem\ndata: {json.dumps({'problem': str(error)})}\n\n"


def problem(request: Request, error: Exception) -> Response:
    """An error as JSON, for the page to show."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = error.detail if isinstance(error, HTTPException) else str(error)
    return JSONResponse({"problem": text}, status)
