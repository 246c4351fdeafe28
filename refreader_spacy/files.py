"""Files that appear complete or not at all, and data that may be broken."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def copy_atomically(source: Path, dest: Path) -> None:
    """Copy a file or folder; its content only, as the source may be read-only."""
    with atomic_write(dest) as draft:
        if source.is_dir():
            draft.mkdir()
            files = [file for file in source.rglob("*") if file.is_file()]
        else:
            files = [source]
        for file in files:
            target = draft / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


@contextmanager
def atomic_write(dest: Path) -> Iterator[Path]:
    """A temporary path to write to; it replaces `dest` unless something is raised."""
    dest.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=dest.parent, prefix=f".{dest.name}-") as folder:
        draft = Path(folder, "new")
        yield draft
        if dest.is_dir():  # a folder can't be replaced by a rename
            dest.rename(Path(folder, "old"))
        draft.replace(dest)


@contextmanager
def unpacking() -> Iterator[None]:
    """For what uses msgpack of srsly, which switches garbage collection off meanwhile,
    and leaves it off where unpacking fails."""
    collects = gc.isenabled()
    try:
        yield
    finally:
        if collects:
            gc.enable()
