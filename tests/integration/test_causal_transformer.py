"""The general reader on a causal transformer: as a whole, in a stream, and surprisal.

Weights are tiny and random; the real model's test needs SmolLM2 in assets/smollm2, or
in the folder that REFREADER_SMOLLM2 names.
"""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Config, fix_random_seed

from refreader_spacy.cli.weights import with_own_transformer
from refreader_spacy.streaming import open_clusters
from refreader_spacy.streaming.events import ClusterFinished, Event
from refreader_spacy.streaming.stream import Stream

pytest.importorskip("spacy_transformers")

ROOT = Path(__file__).parents[2]
SMOLLM2 = Path(os.environ.get("REFREADER_SMOLLM2", ROOT / "assets" / "smollm2"))
TEXT = (
    'Ann Lee met Bo because she was late. "I can\'t stay," Bo told Ann Lee.  He\n\n'
    "left. Zoë's café was naïve… She and Bo met, and he was not late. "
)
kinds = pytest.mark.parametrize("kind", ["gpt2", "llama"])


def add_pipes(nlp: Language, transformer: Any, reader: Any, **settings: Any) -> None:
    nlp.add_pipe("transformer", config={"model": transformer})
    nlp.add_pipe("refreader", config={"model": reader, **settings})


def pipeline(
    folder: Path, examples: list[Example], *, surprisal: bool = False, **settings: Any
) -> Language:
    """As configs/general_causal.cfg has it, but small, and it finds a lot."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    transformer = {
        "@architectures": "refreader-spacy.Transformer.v1",
        "name": str(folder),
        "layers": [1, 2],
        "window": 24,
        "stride": 16,
        "lookahead": False,
        "pooling": "last",
        "surprisal": surprisal,
    }
    sizes = ("width", "token_size", "hidden_size", "mention_size", "score_size")
    reader = {
        "@architectures": "refreader-spacy.EntityReader.v1",
        "tok2vec": {
            "@architectures": "refreader-spacy.TransformerLayers.v1",
            "width": 8,
            "lookahead": False,
        },
        **dict.fromkeys(sizes, 8),
        "n_cells": 4,
    }
    add_pipes(nlp, transformer, reader, scheme="all", **settings)
    nlp.initialize(lambda: examples)
    let_find(nlp)
    return nlp


def let_find(nlp: Language) -> None:
    """Weights as they begin, but with mentions and links."""
    pipe: Any = nlp.get_pipe("refreader")
    pipe.threshold = 0.0
    shim = pipe.model.shims[0]
    shim._model.schemes.bias.data += 1.0
    shim._model.new.bias.data -= 1.0
    shim.changed()


def clusters(doc: Doc) -> list[list[tuple[int, int]]]:
    return sorted(
        sorted((span.start, span.end) for span in cluster)
        for cluster in doc._.coref_clusters
    )


def streamed(events: list[Event]) -> list[list[tuple[int, int]]]:
    return sorted(
        sorted((mention.start, mention.end) for mention in event.mentions)
        for event in events
        if isinstance(event, ClusterFinished)
    )


def read(stream: Stream, pieces: list[str]) -> list[Event]:
    return [event for piece in pieces for event in stream.feed(piece)] + stream.close()


def cut(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted(place % len(text) for place in cuts), len(text)]
    return [text[a:b] for a, b in pairwise(places)]


@pytest.fixture(params=["gpt2", "llama"])
def causal(request, tiny, examples, monkeypatch) -> Language:
    """It puts most of a text into one cluster, so a stream has to look far back."""
    monkeypatch.setattr(open_clusters, "LATELY", 1000)
    return pipeline(tiny(request.param), examples)


# Streams


@given(st.lists(st.integers(0, 10_000), max_size=8))
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stream_has_the_clusters_of_the_whole_text(causal, cuts):
    text = TEXT * 3
    expected = clusters(causal(text))
    assert expected
    assert (
        streamed(read(causal.get_pipe("refreader").stream(), cut(text, cuts)))
        == expected
    )


def test_tokens_and_docs_can_be_fed_and_stay_as_they_are(causal):
    doc = causal.make_doc(TEXT)
    stream = causal.get_pipe("refreader").stream()
    events = stream.feed(doc) + stream.close()
    assert streamed(events) == clusters(causal(TEXT))
    assert doc._.trf_data is None


@pytest.mark.parametrize("n", [0, 3, 40, 120, 200])
def test_a_stream_goes_on_after_it_was_saved(n, causal):
    text = TEXT * 3
    stream = causal.get_pipe("refreader").stream()
    before = stream.feed(text[:n])
    data = stream.to_bytes()
    after = read(Stream.from_bytes(causal, data), [text[n:]])
    assert streamed(before + after) == clusters(causal(text))


def test_a_saved_stream_has_no_keys_and_values(causal):
    """So its size doesn't depend on the transformer's."""
    stream = causal.get_pipe("refreader").stream()
    stream.feed(TEXT)
    saved = stream._past.to_saved()
    assert len(saved["ids"]) <= 24
    assert saved.keys() == {"fingerprint", "n_pieces", "window", "ids", "space"}


def test_a_stream_on_another_transformer_is_refused(tiny, examples):
    one, other = (pipeline(tiny(kind), examples) for kind in ("gpt2", "llama"))
    data = one.get_pipe("refreader").stream().to_bytes()
    with pytest.raises(ValueError, match=r"R257.*past"):
        Stream.from_bytes(other, data)


def test_a_second_text_begins_from_nothing(causal):
    stream = causal.get_pipe("refreader").stream()
    first = streamed(read(stream, [TEXT]))
    stream.reset()
    assert streamed(read(stream, [TEXT])) == first


def test_a_stream_needs_the_transformer_in_its_pipeline(causal):
    pipe: Any = causal.get_pipe("refreader")
    with (
        causal.select_pipes(disable=["transformer"]),
        pytest.raises(ValueError, match=r"R253.*no component before 'refreader'"),
    ):
        pipe.stream()
    assert pipe.stream()


def test_a_saved_pipeline_can_be_streamed(causal, tmp_path):
    expected = clusters(causal(TEXT))
    causal.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert streamed(read(again.get_pipe("refreader").stream(), [TEXT])) == expected


def test_a_transformer_of_the_readers_own_is_streamed_too(causal):
    """As the package's weights have it, without a `transformer` pipe."""
    text = TEXT * 3
    expected = clusters(causal(text))
    model, config = with_own_transformer(causal, "refreader")
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe("refreader", config={"model": config, "scheme": "all"})
    pipe.model, pipe.threshold = model, 0.0
    assert clusters(nlp(text)) == expected
    assert streamed(read(pipe.stream(), cut(text, [30, 77, 150]))) == expected


# Surprisal


@kinds
def test_surprisal_comes_with_coreference(kind, tiny, examples, tmp_path):
    plain = pipeline(tiny(kind), examples)
    nlp = pipeline(tiny(kind), examples, surprisal=True)
    nlp.get_pipe("refreader").surprisal = True
    doc = nlp(TEXT)
    bits = [token._.surprisal for token in doc]
    assert all(b > 0 for b in bits)
    assert clusters(doc) == clusters(plain(TEXT))
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [token._.surprisal for token in again] == bits
    assert [len(doc) for doc in nlp.pipe(["", TEXT, "Bo"])] == [0, len(doc), 1]


@kinds
def test_surprisal_of_a_prefix_is_that_of_the_whole(kind, tiny, examples):
    nlp = pipeline(tiny(kind), examples, surprisal=True)
    nlp.get_pipe("refreader").surprisal = True
    whole = [token._.surprisal for token in nlp(TEXT * 2)]
    prefix = [token._.surprisal for token in nlp(TEXT)]
    np.testing.assert_allclose(prefix, whole[: len(prefix)], rtol=1e-3)


def test_a_trained_pipeline_can_be_asked_for_surprisal_later(tiny, examples, tmp_path):
    nlp = pipeline(tiny("llama"), examples)
    nlp.to_disk(tmp_path)
    asked = {
        "components": {
            "transformer": {"model": {"surprisal": True}},
            "refreader": {"surprisal": True},
        }
    }
    doc = spacy.load(tmp_path, config=asked)(TEXT)
    assert clusters(doc) == clusters(nlp(TEXT))
    assert doc[0]._.surprisal > 0


def test_without_surprisal_of_the_transformer_it_is_said_where_to_set_it(causal):
    causal.get_pipe("refreader").surprisal = True
    with pytest.raises(ValueError, match=r"R319.*transformer\.model\.surprisal = true"):
        causal(TEXT)


def test_the_packaged_weights_tell_where_surprisal_comes_from():
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader", config={"surprisal": True})
    with pytest.raises(ValueError, match=r"R330.*`spacy project run lm-memory`"):
        nlp("Ann met Bo.")


# The real model


@pytest.mark.slow
@pytest.mark.skipif(not SMOLLM2.is_dir(), reason=f"needs SmolLM2 in {SMOLLM2}")
def test_smollm2_reads_from_left_to_right(examples):
    """Prefixes have the vectors of the whole, and a stream its clusters."""
    config = Config().from_disk(
        ROOT / "configs" / "general_causal.cfg",
        overrides={"paths.transformer": str(SMOLLM2)},
    )
    fix_random_seed(0)
    nlp = spacy.blank("en")
    models = (
        config["components"][name]["model"] for name in ("transformer", "refreader")
    )
    transformer, reader = models
    transformer |= {"window": 48, "stride": 32}  # so that a short text has several
    add_pipes(nlp, transformer, reader, scheme="all")
    nlp.initialize(lambda: examples)
    let_find(nlp)
    doc = nlp(TEXT)
    whole = doc._.trf_data.model_output.last_hidden_state
    for n in (1, 5, 15, 20, 30):
        prefix = nlp.get_pipe("transformer")(doc[:n].as_doc())
        found = prefix._.trf_data.model_output.last_hidden_state
        np.testing.assert_allclose(found, whole[:n], atol=0.01)
    stream = nlp.get_pipe("refreader").stream()
    assert streamed(read(stream, cut(TEXT, [7, 40, 90]))) == clusters(doc)
