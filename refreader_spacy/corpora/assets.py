"""Files of the project that come to their place whole and checked, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from weasel.util import get_checksum  # type: ignore[import-untyped]

from refreader_spacy.errors import Errors


def place_asset(source: Path, dest: Path, checksum: str | None) -> bool:
    """Copy a file or folder to its place, unless the same is there already.

    checksum (str | None): What project.yml expects; None takes the source as it is.
    RETURNS (bool): Whether anything had to be copied.
    """
    expected = checksum or get_checksum(source)
    if dest.exists() and get_checksum(dest) == expected:
        return False
    check_asset(source, expected)
    copy_whole(source, dest)
    return True


def check_asset(path: Path, checksum: str) -> None:
    """Raise an error if a file or folder isn't the one that project.yml names."""
    found = get_checksum(path)
    if found != checksum:
        raise ValueError(Errors.R180.format(path=path, expected=checksum, found=found))


def copy_whole(source: Path, dest: Path) -> None:
    """Copy a file or folder; its content only, as the source may be read-only."""
    with whole(dest) as draft:
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
def whole(dest: Path) -> Iterator[Path]:
    """A path to write to: it becomes `dest` if all goes well, and vanishes if not."""
    dest.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=dest.parent, prefix=f".{dest.name}-") as folder:
        draft = Path(folder, "new")
        yield draft
        if dest.is_dir():  # a folder can't be replaced by a rename
            dest.rename(Path(folder, "old"))
        draft.replace(dest)
