"""A reader on a transformer, through the front door, with tiny transformers."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, Config, fix_random_seed

from refreader_spacy import batching

pytest.importorskip("spacy_transformers")

ROOT = Path(__file__).parents[2]
MPNET = ROOT / "assets" / "mpnet"
TEXT = "Ann Lee met Bo because she was late. Bo can't stay."


def pipeline(transformer: Path, examples: list[Example], **settings: Any) -> Language:
    """As configs/transformer.cfg has it, but small."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    lookahead = settings.get("lookahead", True)
    model = {
        "@architectures": "refreader-spacy.Transformer.v1",
        "name": str(transformer),
        "layers": [1, 2],
        "window": 32,
        "stride": 16,
        **settings,
    }
    nlp.add_pipe("transformer", config={"model": model})
    tok2vec = {
        "@architectures": "refreader-spacy.TransformerLayers.v1",
        "width": 8,
        "dropout": 0.0,
        "lookahead": lookahead,
    }
    reader = {
        "@architectures": "refreader-spacy.RefReader.v1",
        "tok2vec": tok2vec,
        "width": 8,
        "hidden_size": 16,
        "key_size": 4,
        "dropout": 0.0,
    }
    nlp.add_pipe("refreader", config={"model": reader, "trace": True})
    nlp.initialize(lambda: examples)
    return nlp


def links(doc: Doc) -> list[tuple[str, str, float]]:
    return [
        (link.antecedent.text, link.anaphor.text, link.probability)
        for link in doc._.coref_links
    ]


def gates(nlp: Language, doc: Doc) -> np.ndarray:
    (part,) = nlp.get_pipe("refreader").predict([doc])
    return np.concatenate([part.gates.update, part.gates.overwrite], axis=1)


def learn(nlp: Language, examples: list[Example], n_steps: int) -> list[float]:
    optimizer = Adam(0.01)
    found = []
    for _ in range(n_steps):
        losses: dict[str, float] = {}
        nlp.update(examples, sgd=optimizer, losses=losses)
        found.append(losses["refreader"])
    return found


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2"])
def test_a_reader_learns_on_a_frozen_transformer(kind, tiny, examples):
    nlp = pipeline(tiny(kind), examples, lookahead=kind != "gpt2")
    before = nlp.get_pipe("transformer").model.shims[0].fingerprint
    losses = learn(nlp, examples, 60)
    assert losses[-1] < 0.5 * losses[0]
    shim = nlp.get_pipe("transformer").model.shims[0]
    assert shim.hub.fingerprint(shim.loaded) == before


def test_a_transformer_learns_with_its_reader(tiny, examples):
    nlp = pipeline(tiny("bert"), examples, trained_layers=1, save_weights=True)
    transformer = nlp.get_pipe("transformer").model.shims[0]._model.transformer
    before = {k: v.detach().clone() for k, v in transformer.named_parameters()}
    losses = learn(nlp, examples, 40)
    assert losses[-1] < 0.5 * losses[0]
    changed = {
        name
        for name, parameter in transformer.named_parameters()
        if not parameter.equal(before[name])
    }
    assert changed
    assert all(name.startswith("encoder.layer.1.") for name in changed)


def test_through_the_listener_comes_the_gradient_of_the_loss(tiny, examples):
    """A number in the transformer, a little more and a little less."""
    nlp = pipeline(tiny("bert"), examples, trained_layers=2, save_weights=True)
    transformer = nlp.get_pipe("transformer").model.shims[0]._model.transformer
    weight = transformer.encoder.layer[0].output.dense.weight

    def loss() -> float:
        fix_random_seed(1)
        losses: dict[str, float] = {}
        nlp.update(examples, sgd=False, losses=losses)
        return losses["refreader"]

    place = (0, 0)
    loss()
    found = weight.grad[place].item()
    step = 1e-3
    weight.data[place] += step
    above = loss()
    weight.data[place] -= 2 * step
    below = loss()
    assert found == pytest.approx((above - below) / (2 * step), rel=0.05, abs=0.02)


def test_annotating_one_by_one_or_in_batches_is_the_same(tiny, examples):
    nlp = pipeline(tiny("roberta"), examples)
    learn(nlp, examples, 20)
    texts = [TEXT, "", "Bo", TEXT * 5, " "]
    together = [links(doc) for doc in nlp.pipe(texts)]
    for text, found in zip(texts, together, strict=True):
        alone = links(nlp(text))
        assert [link[:2] for link in alone] == [link[:2] for link in found]
        np.testing.assert_allclose(
            [link[2] for link in alone], [link[2] for link in found], atol=0.02
        )


@pytest.mark.parametrize("included", [False, True])
def test_a_saved_pipeline_reads_the_same(included, tiny, examples, tmp_path):
    folder = shutil.copytree(tiny("bert"), tmp_path / "bert")
    nlp = pipeline(folder, examples, save_weights=included)
    learn(nlp, examples, 5)
    nlp.to_disk(tmp_path / "saved")
    size = (tmp_path / "saved" / "transformer" / "model").stat().st_size
    assert (size > 10_000) == included
    if included:
        shutil.rmtree(folder)
    again = spacy.load(tmp_path / "saved")
    np.testing.assert_array_equal(
        gates(nlp, nlp(TEXT)), gates(again, again(TEXT)), strict=True
    )


def test_a_pipeline_finds_its_transformer_where_it_is_told(tiny, examples, tmp_path):
    folder = shutil.copytree(tiny("bert"), tmp_path / "bert")
    nlp = pipeline(folder, examples)
    nlp.to_disk(tmp_path / "saved")
    shutil.move(folder, tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="R301"):
        spacy.load(tmp_path / "saved")
    where = {"components.transformer.model.name": str(tmp_path / "elsewhere")}
    again = spacy.load(tmp_path / "saved", config=where)
    np.testing.assert_array_equal(gates(nlp, nlp(TEXT)), gates(again, again(TEXT)))


def test_other_components_can_share_the_transformer(tiny, examples):
    nlp = pipeline(tiny("bert"), examples)
    listener = {
        "@architectures": "spacy-transformers.TransformerListener.v1",
        "pooling": {"@layers": "reduce_mean.v1"},
    }
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    tagger = nlp.add_pipe("tagger", config={"model": model})
    tagger.add_label("X")
    nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=Adam(0.001))
    assert [token.tag_ for token in nlp("Ann met Bo")] == ["X", "X", "X"]


def test_a_sourced_transformer_may_be_frozen_in_spacys_way(tiny, examples):
    """It isn't updated then, but annotates before the reader is."""
    first = pipeline(tiny("bert"), examples)
    nlp = spacy.blank("en")
    nlp.add_pipe("transformer", source=first)
    model = first.get_pipe_config("refreader")["model"]
    nlp.add_pipe("refreader", config={"model": model})
    with nlp.select_pipes(disable=["transformer"]):
        nlp.initialize(lambda: examples)
    losses: list[float] = []
    optimizer = Adam(0.01)
    for _ in range(20):
        nlp.update(
            examples,
            sgd=optimizer,
            exclude=["transformer"],
            annotates=["transformer"],
            losses=(found := {}),
        )
        losses.append(found["refreader"])
    assert losses[-1] < 0.8 * losses[0]


def test_a_doc_that_was_saved_with_its_vectors_can_be_read_again(tiny, examples):
    nlp = pipeline(tiny("bert"), examples)
    doc = nlp(TEXT)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    np.testing.assert_array_equal(gates(nlp, again), gates(nlp, doc))


# What may be known of the tokens to come


def test_a_causal_transformer_keeps_the_readers_promise(tiny, examples):
    """A prefix of a text has the gates of the whole text."""
    nlp = pipeline(tiny("gpt2"), examples, lookahead=False)
    assert not nlp.get_pipe("refreader").lookahead
    text = 'Ann said: "I can\'t stay." Bo left. ' * 3
    doc = nlp(text)
    whole = gates(nlp, doc)
    for n in (1, 4, 7, 9, 20, len(doc) - 1):
        prefix = doc[:n].as_doc()
        prefix._.trf_data = None
        for _, pipe in nlp.pipeline:
            prefix = pipe(prefix)
        np.testing.assert_allclose(gates(nlp, prefix), whole[:n], atol=5e-3)


def test_a_transformer_that_looks_ahead_says_so(tiny, examples):
    assert pipeline(tiny("bert"), examples).get_pipe("refreader").lookahead


def test_no_stream_on_one_that_looks_ahead(tiny, examples):
    nlp = pipeline(tiny("bert"), examples)
    with pytest.raises(ValueError, match="R250"):
        nlp.get_pipe("refreader").stream()


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_the_papers_reader_streams_on_a_causal_transformer(kind, tiny, examples):
    """In pieces, it has the gates of the whole text."""
    nlp = pipeline(tiny(kind), examples, lookahead=False)
    stream = nlp.get_pipe("refreader").stream()
    parts = []
    stream.watch = lambda _, part: parts.append(part.gates)
    text = TEXT * 4
    for start in range(0, len(text), 9):
        stream.feed(text[start : start + 9])
    stream.close()
    found = np.concatenate(
        [np.concatenate([part.update, part.overwrite], axis=1) for part in parts]
    )
    np.testing.assert_allclose(found, gates(nlp, nlp(text)), atol=5e-3)


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_long_texts_are_read_as_a_whole(kind, tiny, examples, monkeypatch):
    """Reading in blocks gives the gates of reading all at once."""
    nlp = pipeline(tiny(kind), examples, lookahead=kind != "gpt2")
    doc = nlp(TEXT * 90)
    assert len(doc) > batching.BLOCK
    found = gates(nlp, doc)
    monkeypatch.setattr(batching, "BLOCK", len(doc))
    np.testing.assert_allclose(found, gates(nlp, doc), atol=1e-4)


# What goes wrong


def test_a_reader_without_its_transformer_says_so(tiny, examples):
    nlp = pipeline(tiny("bert"), examples)
    with (
        nlp.select_pipes(disable=["transformer"]),
        pytest.raises(ValueError, match=r"R312.*'Ann Lee.*'transformer' component"),
    ):
        nlp(TEXT)


def test_a_pipeline_without_a_transformer_cannot_begin(tiny, examples):
    nlp = pipeline(tiny("bert"), examples)
    config = nlp.get_pipe_config("refreader")
    bare = spacy.blank("en")
    bare.add_pipe("refreader", config={"model": config["model"]})
    with pytest.raises(ValueError, match=r"R313.*trained_layers = 0"):
        bare.initialize(lambda: examples)


def test_vectors_of_word_pieces_are_refused(tiny, examples):
    nlp = pipeline(tiny("bert"), examples)
    data = nlp("Ann met Bo")._.trf_data
    doc = nlp.make_doc("Ann met Bo")
    data.model_output["last_hidden_state"] = np.zeros((1, 5, 8), dtype="f")
    doc._.trf_data = data
    with pytest.raises(ValueError, match=r"R314.*width 16.*\(1, 5, 8\).*Transformer"):
        nlp.get_pipe("refreader").predict([doc])


def test_weights_to_start_from_must_be_there(tmp_path):
    start_from = spacy.registry.callbacks.get("refreader-spacy.start_from.v1")
    with pytest.raises(ValueError, match=r"R315.*refreader.model.*source = null"):
        start_from(tmp_path)(spacy.blank("en"))
    assert start_from(None)(spacy.blank("en"))


def test_without_the_extra_our_entry_points_still_load():
    """Nothing of it is imported before a config asks for it, and then we say so."""
    code = (
        "import sys\n"
        "from importlib.metadata import distribution\n"
        "for name in ('spacy_transformers', 'transformers', 'tokenizers'):\n"
        "    sys.modules[name] = None\n"
        "for entry in distribution('refreader-spacy').entry_points:\n"
        "    if entry.group.startswith('spacy_'):\n"
        "        entry.load()\n"
        "from refreader_spacy.transformer import build_transformer_v1\n"
        "try:\n"
        "    build_transformer_v1('any', [1])\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "R300" in run.stdout


@pytest.mark.slow
@pytest.mark.skipif(not MPNET.is_dir(), reason=f"needs MPNet in {MPNET}")
def test_mpnet_tells_who_is_meant(examples, tmp_path):
    """The sizes of configs/transformer.cfg, and the size of what is saved."""
    config = Config().from_disk(
        ROOT / "configs" / "transformer.cfg",
        overrides={"paths.transformer": str(MPNET)},
    )
    nlp = spacy.blank("en")
    fix_random_seed(0)
    for name in ("transformer", "refreader"):
        model = config["components"][name]["model"]
        nlp.add_pipe(name, config={"model": model})
    nlp.initialize(lambda: examples)
    learn(nlp, examples, 40)
    nlp.get_pipe("refreader").threshold = 0.3
    doc = nlp("Ann Lee met Bo because she was late.")
    assert ["Ann Lee", "she"] in [[s.text for s in c] for c in doc._.coref_clusters]
    nlp.to_disk(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 10_000_000
    assert links(spacy.load(tmp_path)(doc.text)) == links(doc)
