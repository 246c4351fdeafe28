"""Where the page is: an address of this machine."""

from __future__ import annotations

from ipaddress import ip_address
from socket import AF_INET, AF_INET6, create_server, socket

import uvicorn
from starlette.applications import Starlette

from refreader_spacy.errors import Errors


def listen(host: str, port: int) -> socket:
    """Take an address. Visitors who come before `run` wait."""
    family = AF_INET6 if ":" in host else AF_INET
    try:
        return create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        problem = getattr(error, "strerror", None) or error
        raise ValueError(
            Errors.R265.format(host=host, port=port, problem=problem)
        ) from error


def address(place: socket) -> str:
    """What to type into a browser."""
    host, port, *_ = place.getsockname()
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_loopback(place: socket) -> bool:
    """Can only this machine reach it?"""
    host, *_ = place.getsockname()
    return ip_address(host).is_loopback


def run(app: Starlette, place: socket) -> None:
    """Serve until somebody ends it."""
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[place])
