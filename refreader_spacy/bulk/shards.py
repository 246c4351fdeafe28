"""A folder of shards with a manifest: what is in the manifest is done, once.

A shard appears whole, under a name that follows from its place in the input, and only
then in the manifest. So whenever a run is killed, the pieces that the manifest doesn't
have are done again, and replace what may be there of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from refreader_spacy.bulk.annotator import Annotated
from refreader_spacy.bulk.formats import Format, json_line
from refreader_spacy.bulk.pieces import PieceKey
from refreader_spacy.bulk.records import Cursor
from refreader_spacy.bulk.sources import Source, size_of
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write

MANIFEST = "manifest.jsonl"
REJECTED = "rejected"
VERSION = 1

# What `atomic_write` may have left, of a process that was killed
_DRAFT = re.compile(r"\.(\d{6,}-\d{6,}\.\w+|manifest\.jsonl)-\w{8}")


class Shard(NamedTuple):
    """A piece that is done, as the manifest has it."""

    source: int
    piece: int
    texts: int
    rejected: int
    words: int
    end: Cursor

    @property
    def key(self) -> PieceKey:
        return PieceKey(self.source, self.piece)


def settings_of(sources: Iterable[Source], **settings: Any) -> dict[str, Any]:
    """What must be the same when a run is resumed: settings, and names and sizes of
    all files."""
    digest = hashlib.sha256()
    n_files = 0
    for source in sources:
        for path in source.paths:
            line = f"{source.unit.value} {path} {size_of(path)}\n"
            digest.update(line.encode("utf8", "surrogateescape"))
            n_files += 1
    return {"files": n_files, "digest": digest.hexdigest(), **settings}


class ShardFolder:
    """Where the shards of a run are written, by one process or many."""

    def __init__(self, path: Path, format: Format) -> None:
        self.path = path
        self.format = format

    def write(self, key: PieceKey, parts: Iterable[tuple[Annotated, Cursor]]) -> Shard:
        """Write a shard from the parts of its piece; the manifest is another matter."""
        total = Annotated()
        end = Cursor()

        def data() -> Iterator[bytes]:
            nonlocal end
            for part, place in parts:
                end = place
                total.n_texts += part.n_texts
                total.n_words += part.n_words
                total.rejected += part.rejected
                yield from part.data

        with atomic_write(self.shard_path(key)) as draft:
            self.format.write(data(), draft)
            flush(draft)
        aside = self.rejected_path(key)
        if total.rejected:
            with atomic_write(aside) as draft:
                draft.write_bytes(
                    b"".join(json_line(r.as_json()) for r in total.rejected)
                )
                flush(draft)
        else:
            aside.unlink(missing_ok=True)  # of a run that was killed just there
        n_rejected = len(total.rejected)
        return Shard(*key, total.n_texts, n_rejected, total.n_words, end)

    def shard_path(self, key: PieceKey) -> Path:
        return self.path / f"{name_of(key)}{self.format.suffix}"

    def rejected_path(self, key: PieceKey) -> Path:
        return self.path / REJECTED / f"{name_of(key)}.jsonl"


class Manifest:
    """The list of shards that are done, which grows line by line."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        """Go on with the run that is there, or begin one."""
        self.path = folder / MANIFEST
        self.shards: dict[PieceKey, Shard] = {}
        header = {"refreader annotate": VERSION, **settings}
        if self.path.exists():
            self._load(header)
        else:
            with atomic_write(self.path) as draft:
                draft.write_bytes(json_line(header))
        remove_drafts(folder)
        remove_drafts(folder / REJECTED)

    def add(self, shard: Shard) -> None:
        """The shard is whole and in its place."""
        with self.path.open("ab") as file:
            file.write(json_line(shard._asdict()))
            file.flush()
            os.fsync(file.fileno())
        self.shards[shard.key] = shard

    @property
    def ends(self) -> dict[PieceKey, Cursor]:
        """Where the pieces end that are done."""
        return {key: shard.end for key, shard in self.shards.items()}

    def _load(self, header: dict[str, Any]) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]  # a kill may leave half a line
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                found = json.loads(line)
                shard = None if number == 1 else shard_of(found)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                text = line[:40].decode("utf8", "replace")
                message = Errors.R244.format(path=self.path, line=number, found=text)
                raise ValueError(message) from error
            if shard is None:
                check_header(found, header, self.path.parent)
            else:
                self.shards[shard.key] = shard
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))


def remove_drafts(folder: Path) -> None:
    """Nothing else: the folder may be one where others have something too."""
    for left in folder.glob(".*"):
        if _DRAFT.fullmatch(left.name):
            shutil.rmtree(left, ignore_errors=True)


def check_header(found: Any, expected: dict[str, Any], folder: Path) -> None:
    if found != expected:
        known = found if isinstance(found, dict) else {}
        differ = [
            f"{name}: {known.get(name)}"
            for name in expected
            if known.get(name) != expected[name]
        ]
        message = Errors.R231.format(path=folder, found=", ".join(differ))
        raise ValueError(message)


def shard_of(found: dict[str, Any]) -> Shard:
    return Shard(**{**found, "end": Cursor(*found["end"])})


def name_of(key: PieceKey) -> str:
    """Names sort as the pieces do."""
    return f"{key.source:06}-{key.piece:06}"


def flush(path: Path) -> None:
    """Have the disk write it: a rename should not come first."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def join_shards(folder: ShardFolder, manifest: Manifest, path: Path) -> Path | None:
    """Write one file of all shards, and one of what was rejected, if anything was.

    RETURNS (Path | None): The file of rejected records.
    """
    keys = sorted(manifest.shards)
    with atomic_write(path) as draft:
        folder.format.join(map(folder.shard_path, keys), draft)
        flush(draft)
    rejects = [key for key in keys if manifest.shards[key].rejected]
    aside = path.with_name(f"{path.stem}.rejected.jsonl")
    if not rejects:
        aside.unlink(missing_ok=True)  # of an earlier run
        return None
    with atomic_write(aside) as draft, draft.open("wb") as file:
        for key in rejects:
            file.write(folder.rejected_path(key).read_bytes())
    return aside
