"""A cache on disk of a frozen transformer's vectors, by Doc."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from spacy.tokens import Doc

from refreader_spacy.files import atomic_write
from refreader_spacy.protocol import Array


class Store:
    """A folder with a file for each Doc, written atomically.

    folder (Path): Only for vectors of one transformer, the same layers and windows.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def missing(self, docs: Sequence[Doc]) -> list[Doc]:
        """Those that have not been read yet, each text once."""
        paths = {self._path(doc): doc for doc in docs}
        return [doc for path, doc in paths.items() if not path.is_file()]

    def read(self, doc: Doc) -> Array:
        """A Doc's vectors (T, X)."""
        return single(np.load(self._path(doc)))

    def write(self, doc: Doc, vectors: Array) -> None:
        """Keep a Doc's vectors, at half precision."""
        with atomic_write(self._path(doc)) as draft, draft.open("wb") as file:
            np.save(file, vectors.astype(np.float16))

    def _path(self, doc: Doc) -> Path:
        words = [part for token in doc for part in (token.text, token.whitespace_)]
        key = hashlib.blake2b("\0".join(words).encode(), digest_size=16).hexdigest()
        return self.folder / key[:2] / f"{key[2:]}.npy"


def single(halves: np.ndarray) -> Array:
    """Half precision to single; torch is four times as fast as NumPy at it."""
    return torch.from_numpy(halves).float().numpy()


def rounded(vectors: Array) -> Array:
    """The vectors as a Store returns them, so that using one makes no difference."""
    return torch.from_numpy(vectors).half().float().numpy()
