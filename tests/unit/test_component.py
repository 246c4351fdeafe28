import gc

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from refreader_spacy.annotation.extensions import read_trace
from refreader_spacy.component import RefReader
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples
from refreader_spacy.protocol import Mentions, Part, Reading


@pytest.fixture
def pipe(reader_nlp) -> RefReader:
    return reader_nlp.get_pipe("refreader")


def links_fifth_to_first(doc: Doc, probability: float) -> Part:
    update, overwrite = np.zeros((2, len(doc), 1), dtype=np.float32)
    overwrite[0], update[4] = 1, probability
    mentions = Mentions(
        first=0,
        head=np.array([0, 4]),
        start=np.array([0, 4]),
        entity=np.array([0, 0]),
        is_new=np.array([True, False]),
        probability=np.array([1, probability], np.float32),
        label=np.array([1, 1]),
        schemes=np.ones((2, 4), np.float32),
    )
    gates = Reading(update, overwrite, salience=np.zeros_like(update))
    return Part(mentions, np.array([0, 1]), np.array([1, 5]), np.array([0]), gates)


def test_predicting_leaves_docs_as_they_are(pipe, reader_nlp):
    doc = reader_nlp.make_doc("Ann said that it was she.")
    (part,) = pipe.predict([doc])
    assert len(part.mentions)
    assert part.gates is None
    assert list(doc.spans) == []


def test_nothing_to_predict_gives_nothing(pipe):
    assert pipe.predict([]) == []


def test_settings_take_effect_at_any_time(pipe, reader_nlp):
    doc = reader_nlp.make_doc("Ann said that it was she.")
    part = links_fifth_to_first(doc, 0.6)
    pipe.threshold = 0.5
    pipe.set_annotations([doc], [part])
    assert [span.text for span in doc.spans["coref_clusters_1"]] == ["Ann", "was"]
    pipe.threshold = 0.7
    pipe.set_annotations([doc], [part])
    assert doc._.coref_clusters == []
    pipe.keep_singletons = True
    pipe.set_annotations([doc], [part])
    assert [len(cluster) for cluster in doc._.coref_clusters] == [1, 1]
    np.testing.assert_array_equal(read_trace(doc).update, part.gates.update)
    pipe.spans_prefix = "entities"
    pipe.set_annotations([doc], [part])
    assert [span.text for span in doc.spans["entities_1"]] == ["Ann"]
    part.mentions.schemes[1] = 0
    pipe.scheme = "ontonotes"
    pipe.set_annotations([doc], [part])
    assert [len(cluster) for cluster in doc._.coref_clusters] == [1]


def test_a_trace_is_kept_if_asked_for(pipe, reader_nlp):
    assert read_trace(reader_nlp("Ann said that it was she.")) is None
    pipe.trace = True
    doc = reader_nlp("Ann said that it was she.")
    assert read_trace(doc).update.shape == (len(doc), 4)


def test_spans_have_types_as_labels(pipe, reader_nlp):
    doc = reader_nlp.make_doc("Ann said that it was she.")
    pipe.set_annotations([doc], [links_fifth_to_first(doc, 0.6)])
    assert {span.label_ for span in doc.spans["coref_clusters_1"]} == {"person"}
    assert doc.spans["coref_clusters_1"].attrs["heads"] == [0, 4]
    assert "person" in pipe.labels


@pytest.mark.parametrize("name", ["threshold", "keep_singletons", "trace"])
def test_settings_are_where_spacys_tools_look(pipe, name):
    setattr(pipe, name, 1)
    assert pipe.cfg[name] == 1
    pipe.cfg[name] = 0
    assert getattr(pipe, name) == 0


@pytest.mark.parametrize("found", [-0.1, 1.1, 50, float("nan"), "x"])
def test_a_threshold_is_a_probability(pipe, found):
    pipe.threshold = 0.25
    with pytest.raises(ValueError, match=rf"R007.*'refreader' was given {found}"):
        pipe.threshold = found
    assert pipe.threshold == 0.25


def test_the_loss_looks_at_the_configured_prefix(pipe, reader_nlp, examples):
    before = pipe.update(examples, losses={}, sgd=None)["refreader"]
    pipe.spans_prefix = "other"
    copies = [Example(eg.predicted, eg.reference.copy()) for eg in examples]
    assert pipe.update(copies, losses={}, sgd=None)["refreader"] != before


def test_scoring_reads_again_what_has_no_trace(pipe, reader_nlp, gap_file):
    examples = list(gap_examples(read_gap(gap_file), reader_nlp))
    scores = pipe.score(examples)
    assert 0 <= scores["gap_f"] <= 1
    assert all(read_trace(example.predicted) for example in examples)


def test_scoring_needs_no_gap(pipe, examples):
    scores = pipe.score(examples)
    assert (scores["gap_f"], scores["coref_f"]) == (None, 0)


def test_training_without_gold_is_refused(pipe, examples):
    bare = [Example(eg.predicted, eg.predicted.copy()) for eg in examples]
    with pytest.raises(ValueError, match=r"R006.*first 2 .*'coref_clusters_1'"):
        pipe.initialize(lambda: bare)


def test_an_unknown_scheme_is_refused(pipe):
    with pytest.raises(ValueError, match=r"R017.*ontonotes.*'typo'"):
        pipe.scheme = "typo"
    assert pipe.scheme == "all"


@pytest.mark.parametrize("data", [b"", b"\xd9", b"\x81\xa5model\xc4\x01\x80"])
def test_broken_data_is_one_message(reader_nlp, data):
    with pytest.raises(ValueError, match=r"R022.*'refreader'.*config\.cfg"):
        reader_nlp.get_pipe("refreader").from_bytes(data)
    assert gc.isenabled()


def test_a_saved_threshold_is_checked(reader_nlp):
    pipe = reader_nlp.get_pipe("refreader")
    pipe.cfg["threshold"] = 7
    with pytest.raises(ValueError, match="R007"):
        pipe.from_bytes(pipe.to_bytes())


def test_words_without_a_row_are_found_when_loaded(nlp):
    pipe = nlp.add_pipe("refreader")
    encoder = pipe.model.layers[0]
    encoder.attrs["rows"] = b"\xff" * len(encoder.attrs["rows"])
    with pytest.raises(ValueError, match=r"R005.*words"):
        pipe.from_bytes(pipe.to_bytes())
