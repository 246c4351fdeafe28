"""Annotated Docs as JSON Lines, a record a line, in a file that can be continued."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from refreader_spacy.errors import Errors

START = b'{"id": '  # how each record begins


class Done(NamedTuple):
    """The complete records of a file: their number and bytes, and the last one."""

    n_records: int
    size: int
    last: dict[str, Any]


def line(record: dict[str, Any]) -> bytes:
    """A record as it is written: it is complete if its line break is there."""
    return json.dumps(record, ensure_ascii=False).encode("utf8") + b"\n"


def done_so_far(path: Path) -> Done:
    """The complete records of a file that may have been interrupted.

    Only the last line may be incomplete; any other broken line is an error.
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
                # An interrupted write leaves the beginning of a record.
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
