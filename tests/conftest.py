"""The fixtures that more than one file of tests uses."""

from pathlib import Path

import pytest
import spacy
from spacy.language import Language

ROOT = Path(__file__).parents[1]


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def data() -> Path:
    """The public data that lies beside the repository on some machines."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the data in {folder}")
    return folder


@pytest.fixture
def gap_file(tmp_path: Path) -> Path:
    """Six rows of the demo corpus, in GAP's format."""
    rows = (ROOT / "assets" / "demo" / "demo-development.tsv").read_text("utf8")
    path = tmp_path / "gap-six.tsv"
    path.write_text("".join(rows.splitlines(keepends=True)[:7]), "utf8")
    return path
