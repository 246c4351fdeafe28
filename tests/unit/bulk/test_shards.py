from __future__ import annotations

from contextlib import suppress

import pytest

from refreader_spacy.bulk.annotator import Annotated
from refreader_spacy.bulk.formats import FORMATS
from refreader_spacy.bulk.pieces import PieceKey
from refreader_spacy.bulk.records import BEGINNING, Rejected
from refreader_spacy.bulk.shards import Manifest, ShardFolder
from refreader_spacy.files import atomic_write

DRAFTS = [
    ".000003-000012.jsonl-abcd_123",
    ".1000003-000012.spacy-abcd_123",
    ".manifest.jsonl-abcd_123",
    "rejected/.000003-000012.jsonl-abcd_123",
]


def test_drafts_that_were_left_are_removed_and_nothing_else(tmp_path):
    """The folder may be one where somebody keeps other things."""
    others = [".git", ".venv", ".cache-dir", ".data-2024.jsonl-notmine", "texts"]
    for name in (*DRAFTS, *others):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "new").touch()
    Manifest(tmp_path, {})
    assert not [name for name in DRAFTS if (tmp_path / name).exists()]
    assert all((tmp_path / name / "new").exists() for name in others)


@pytest.mark.parametrize("suffix", sorted({form.suffix for form in FORMATS.values()}))
def test_drafts_of_every_format_are_removed(tmp_path, suffix):
    with suppress(KeyboardInterrupt), atomic_write(tmp_path / f"000001-000002{suffix}"):
        (draft,) = tmp_path.iterdir()
        kept = draft.rename(tmp_path / "kept")
        draft.mkdir()  # for the context manager to remove
        raise KeyboardInterrupt
    kept.rename(draft)
    Manifest(tmp_path, {})
    assert not draft.exists()


def test_a_piece_that_is_done_again_has_no_rejected_records_of_before(tmp_path):
    """A kill may come between its shard and the manifest."""
    shards = ShardFolder(tmp_path, FORMATS["jsonl"]())
    key = PieceKey(0, 0)
    aside = Rejected("in:1", 1, "it took too long", 0, BEGINNING)
    shards.write(key, [(Annotated(rejected=[aside]), BEGINNING)])
    assert shards.rejected_path(key).exists()
    shards.write(key, [(Annotated([b'{"id": 1}\n'], 1, 1), BEGINNING)])
    assert not shards.rejected_path(key).exists()
