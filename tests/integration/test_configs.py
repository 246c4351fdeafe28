"""Each experiment of `configs/` starts, learns and saves."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import DocBin
from thinc.api import Config

from refreader_spacy.cli.corpus import add_demo_vectors
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.cfg"))
EXTRAS = ("spacy-transformers", "spacy-curated-transformers")  # as configs name them
KINDS = {"transformer_causal": "gpt2", "general_causal": "llama"}
GOES_ON_FROM = {
    "transformer_finetune": "transformer",
    "general_finetune": "general_transformer",
}


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
    fresh = {"init_tok2vec": None, "source": None}
    return {"train": data, "dev": data, "vectors": vectors, **fresh}


def overrides(path: Path, paths: dict[str, str | None]) -> dict[str, Any]:
    """Two steps on ten rows, with a transformer of three layers if there is one."""
    config = Config().from_disk(path, interpolate=False)
    known = {k: v for k, v in paths.items() if k in config["paths"]}
    settings = {"training.max_steps": 2, "training.eval_frequency": 1}
    if "transformer" in config["components"]:
        model = config["components"]["transformer"]["model"]
        trained = min(2, model["trained_layers"])
        settings |= {
            "components.transformer.model.layers": [1, 2],
            "components.transformer.model.window": 48,
            "components.transformer.model.stride": 32,
            "components.transformer.model.trained_layers": trained,
        }
    return {**{f"paths.{k}": v for k, v in known.items()}, **settings}


@pytest.mark.filterwarnings("ignore:.*W113")
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_takes_two_steps(path: Path, paths, tmp_path, request):
    for extra in EXTRAS:
        if extra in path.read_text() and find_spec(extra.replace("-", "_")) is None:
            pytest.skip(f"needs {extra}")
    if "transformer" in Config().from_disk(path, interpolate=False)["components"]:
        kind = KINDS.get(path.stem, "bert")
        paths["transformer"] = str(request.getfixturevalue("tiny")(kind))
        paths["features"] = str(tmp_path / "features")
    if path.stem in GOES_ON_FROM:  # where another has stopped
        first = path.with_stem(GOES_ON_FROM[path.stem])
        train(first, tmp_path / "first", overrides=overrides(first, paths))
        paths["source"] = str(tmp_path / "first" / "model-best")
    train(path, tmp_path / "trained", overrides=overrides(path, paths))
    nlp = spacy.load(tmp_path / "trained" / "model-best")
    assert nlp.meta["performance"]["gap_f"] is not None
    assert nlp("Ann met Bo when she was late.")._.coref_clusters is not None
