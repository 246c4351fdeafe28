"""Files that project.yml names: copied and checked, or left as they are."""

from __future__ import annotations

from pathlib import Path

from weasel.util import get_checksum  # type: ignore[import-untyped]

from refreader_spacy.errors import Errors
from refreader_spacy.files import copy_atomically


def place_asset(source: Path, dest: Path, checksum: str | None) -> bool:
    """Copy a file or folder to its place, unless the same is there already.

    checksum (str | None): What project.yml expects; None takes the source as it is.
    RETURNS (bool): Whether anything had to be copied.
    """
    expected = checksum or get_checksum(source)
    if dest.exists() and get_checksum(dest) == expected:
        return False
    check_asset(source, expected)
    copy_atomically(source, dest)
    return True


def check_asset(path: Path, checksum: str) -> None:
    """Raise an error if a file or folder isn't the one that project.yml names."""
    found = get_checksum(path)
    if found != checksum:
        raise ValueError(Errors.R180.format(path=path, expected=checksum, found=found))
