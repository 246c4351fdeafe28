"""A saved stream's outside: a format, a checksum, and plain data inside."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import srsly

from refreader_spacy.errors import Errors

FORMAT = "refreader stream 4"


def packed(saved: dict[str, Any]) -> bytes:
    """Plain data as bytes."""
    try:
        data = bytes(srsly.msgpack_dumps(saved))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(Errors.R254.format(problem=error)) from error
    whole = {"format": FORMAT, "checksum": checksum(data), "data": data}
    return bytes(srsly.msgpack_dumps(whole))


def unpacked(data: bytes) -> dict[str, Any]:
    """The plain data again, if no byte was changed."""
    try:
        whole = srsly.msgpack_loads(data)
        inner = whole["data"]
        right = whole["format"] == FORMAT and whole["checksum"] == checksum(inner)
        saved = srsly.msgpack_loads(inner) if right else None
    except Exception as error:
        raise ValueError(Errors.R255.format(expected=FORMAT)) from error
    if not isinstance(saved, dict):
        raise ValueError(Errors.R255.format(expected=FORMAT))
    return saved


def checksum(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
