import pickle

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from refreader_spacy.annotation.extensions import write_trace
from refreader_spacy.corpora.gap import GapRow, Mention
from refreader_spacy.corpora.gap_corpus import gap_example
from refreader_spacy.evaluation.scorers import (
    make_cluster_scorer,
    make_coref_scorer,
    make_gap_scorer,
)
from refreader_spacy.protocol import Reading

nlp = spacy.blank("en")


def test_gap_and_other_documents_are_scored_apart():
    """GAP's clusters are not all there are, so they don't enter the cluster metrics."""
    row = GapRow(
        id="r-1",
        text="Eve told Ann that she won.",
        pronoun=Mention("she", 18),
        a=Mention("Eve", 0),
        a_coref=True,
        b=Mention("Ann", 9),
        b_coref=False,
        url="",
    )
    gap = gap_example(row, nlp)
    overwrite, update = np.zeros((2, len(gap.predicted), 1), dtype=np.float32)
    overwrite[0] = update[4] = 1
    write_trace(gap.predicted, Reading(update, overwrite, np.zeros_like(update)))
    doc = Doc(nlp.vocab, words=["Ann", "saw", "her"])
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[2:3]]
    scores = make_coref_scorer()([gap, Example(doc, doc.copy())], threshold=0.5)
    assert (scores["gap_f"], scores["coref_f"]) == (1.0, 1.0)
    assert make_coref_scorer()([gap], threshold=0.5)["coref_f"] is None


@pytest.mark.parametrize(
    "make", [make_gap_scorer, make_cluster_scorer, make_coref_scorer]
)
def test_scorers_can_be_pickled(make):
    assert pickle.loads(pickle.dumps(make()))
