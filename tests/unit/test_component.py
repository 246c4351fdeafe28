import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from refreader_spacy.annotation.extensions import read_trace
from refreader_spacy.component import RefReader
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples
from refreader_spacy.protocol import Reading


@pytest.fixture
def pipe(reader_nlp) -> RefReader:
    return reader_nlp.get_pipe("refreader")


def links_fifth_to_first(doc: Doc, probability: float) -> Reading:
    update, overwrite = np.zeros((2, len(doc), 1), dtype=np.float32)
    overwrite[0], update[4] = 1, probability
    return Reading(update, overwrite, salience=np.zeros_like(update))


def test_predicting_leaves_docs_as_they_are(pipe, reader_nlp):
    doc = reader_nlp.make_doc("Ann said that it was she.")
    (reading,) = pipe.predict([doc])
    assert len(reading) == len(doc)
    assert list(doc.spans) == []


def test_nothing_to_predict_gives_nothing(pipe):
    assert pipe.predict([]) == []


def test_settings_take_effect_at_any_time(pipe, reader_nlp):
    doc = reader_nlp.make_doc("Ann said that it was she.")
    reading = links_fifth_to_first(doc, 0.6)
    pipe.threshold = 0.5
    pipe.set_annotations([doc], [reading])
    assert [span.text for span in doc.spans["coref_clusters_1"]] == ["Ann", "was"]
    pipe.threshold = 0.7
    pipe.set_annotations([doc], [reading])
    assert doc._.coref_clusters == []
    pipe.keep_singletons = True
    pipe.set_annotations([doc], [reading])
    assert [len(cluster) for cluster in doc._.coref_clusters] == [1]
    assert read_trace(doc) is None
    pipe.trace = True
    pipe.spans_prefix = "entities"
    pipe.set_annotations([doc], [reading])
    assert [span.text for span in doc.spans["entities_1"]] == ["Ann"]
    np.testing.assert_array_equal(read_trace(doc).update, reading.update)


@pytest.mark.parametrize("name", ["threshold", "keep_singletons", "trace"])
def test_settings_are_where_spacys_tools_look(pipe, name):
    setattr(pipe, name, 1)
    assert pipe.cfg[name] == 1
    pipe.cfg[name] = 0
    assert getattr(pipe, name) == 0


@pytest.mark.parametrize("found", [-0.1, 1.1, 50, float("nan")])
def test_a_threshold_is_a_probability(pipe, found):
    pipe.threshold = 0.25
    with pytest.raises(ValueError, match=rf"R007.*'refreader' was given {found}"):
        pipe.threshold = found
    assert pipe.threshold == 0.25


def test_the_loss_looks_at_the_configured_prefix(pipe, examples):
    readings = pipe.predict([example.predicted for example in examples])
    loss, d_readings = pipe.get_loss(examples, readings)
    assert loss > 0
    assert [len(d) for d in d_readings] == [len(reading) for reading in readings]
    pipe.spans_prefix = "other"
    assert pipe.get_loss(examples, readings)[0] < loss


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
