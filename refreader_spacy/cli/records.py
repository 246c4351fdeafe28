"""Annotated Docs as JSON Lines, a record a line, in a file that can be continued."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from refreader_spacy.errors import Errors

START = b'{"id": '  # how each record begins


class Done(NamedTuple):
    """What a file has: complete records, the bytes they take, and the last of them."""

    n_records: int
    size: int
    last: dict[str, Any]


def line(record: dict[str, Any]) -> bytes:
    """A record as it is written: it is complete if its line break is there."""
    return json.dumps(record, ensure_ascii=False).encode("utf8") + b"\n"


def done_so_far(path: Path) -> Done:
    """How far a file was written before something ended it.

    Only the last line may be broken; anything else is no file of ours, and an error.
    """
    n_records, size, last = 0, 0, {}
    broken = None
    with path.open("rb") as file:
        for number, data in enumerate(file, start=1):
            if broken is not None:
                raise ValueError(
                    Errors.R230.format(path=path, line=number - 1, found=broken)
                )
            found = complete_record(data)
            if found is None:
                broken = data[:40].decode("utf8", "replace")
                # What a kill leaves is the beginning of a record.
                if not START.startswith(data[: len(START)]):
                    raise ValueError(
                        Errors.R230.format(path=path, line=number, found=broken)
                    )
                continue
            n_records, size, last = number, size + len(data), found
    return Done(n_records, size, last)


def complete_record(data: bytes) -> dict[str, Any] | None:
    if not (data.startswith(START) and data.endswith(b"\n")):
        return None
    try:
        found = json.loads(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
