"""One run at a time writes to a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from refreader_spacy.errors import Errors

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

SECONDS = 10.0  # that workers of a run that was killed may take to end
PAUSE = 0.1


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder until the block or this process ends, however it
    ends. Where the file system has no locks, nobody is kept out."""
    if fcntl is None:
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        lock(place, folder)
        yield
    finally:
        os.close(place)


def lock(place: int, folder: Path) -> None:
    end = time.monotonic() + SECONDS
    while True:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() > end:
                raise ValueError(Errors.R277.format(path=folder)) from error
        except OSError:
            return
        time.sleep(PAUSE)
