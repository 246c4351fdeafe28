"""Each experiment of `configs/` starts, learns and saves."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import DocBin
from thinc.api import Config

from refreader_spacy.cli.corpus import add_demo_vectors
from refreader_spacy.gap import read_gap
from refreader_spacy.training.corpus import gap_examples

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.cfg"))
EXTRAS = ("spacy-transformers", "spacy-curated-transformers")  # as configs name them


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str | None]:
    """Ten rows of the demo corpus, and vectors for their words."""
    rows = read_gap(ROOT / "assets" / "demo" / "demo-development.tsv")[:10]
    nlp = spacy.blank("en")
    docs = [example.reference for example in gap_examples(rows, nlp)]
    DocBin(docs=docs).to_disk(tmp_path / "ten.spacy")
    add_demo_vectors(nlp)
    nlp.to_disk(tmp_path / "vectors")
    data = str(tmp_path / "ten.spacy")
    vectors = str(tmp_path / "vectors")
    return {"train": data, "dev": data, "vectors": vectors, "init_tok2vec": None}


def paths_of(paths: dict[str, str | None]) -> dict[str, str | None]:
    return {f"paths.{name}": value for name, value in paths.items()}


# The vectors that incremental.cfg goes on with are inside its model.
@pytest.mark.filterwarnings("ignore:.*W113")
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_takes_two_steps(path: Path, paths, tmp_path):
    for extra in EXTRAS:
        if extra in path.read_text() and find_spec(extra.replace("-", "_")) is None:
            pytest.skip(f"needs {extra}")
    known = Config().from_disk(path, interpolate=False)["paths"]
    overrides = {
        k: v for k, v in paths_of(paths).items() if k.removeprefix("paths.") in known
    }
    limits = {"training.max_steps": 2, "training.eval_frequency": 1}
    if "source" in known:  # goes on where another has stopped
        first = tmp_path / "first"
        train(
            ROOT / "configs" / "silver.cfg",
            first,
            overrides={**paths_of(paths), **limits},
        )
        overrides["paths.source"] = str(first / "model-best")
    train(path, tmp_path / "trained", overrides={**overrides, **limits})
    nlp = spacy.load(tmp_path / "trained" / "model-best")
    assert nlp.meta["performance"]["gap_f"] is not None
    assert nlp("Ann met Bo when she was late.")._.coref_clusters is not None
