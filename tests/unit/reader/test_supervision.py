import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from refreader_spacy.corpora.span_groups import ANNOTATION
from refreader_spacy.reader.network import SCHEMES, TYPES
from refreader_spacy.reader.soft_labels import write_soft_labels
from refreader_spacy.reader.supervision import Supervisor

NLP = spacy.blank("en")
WORDS = ["Ann", "'s", "mother", "saw", "Ann", ".", "She", "left", "."]
#        0   1  2      3   4   5 6   7    8
CLUSTERS = [[(0, 1, 0), (4, 5, 4)], [(0, 3, 2), (6, 7, 6)]]  # start, end, head


def gold(words=WORDS, clusters=CLUSTERS, scheme="gum", attrs=None):
    doc = Doc(NLP.vocab, words=words)
    for number, mentions in enumerate(clusters, start=1):
        spans = [Span(doc, s, e, label="person") for s, e, _ in mentions]
        more = {"heads": [head for _, _, head in mentions], **(attrs or {})}
        key = f"coref_clusters_{number}"
        doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=more)
    doc.spans[ANNOTATION] = [Span(doc, 0, len(doc), label=scheme)]
    return doc


def supervised(doc, predicted=None, n_cells=4, **kwargs):
    predicted = doc.copy() if predicted is None else predicted
    return Supervisor(n_cells, **kwargs)(Example(predicted, doc), "coref_clusters")


def test_mentions_are_met_at_their_heads_by_the_cells_so_far():
    s = supervised(gold())
    assert s.head.tolist() == [0, 2, 4, 6]
    assert s.start.tolist() == [0, 0, 4, 6]
    assert s.last.tolist() == [0, 2, 4, 6]
    assert s.detection.tolist() == [1, 0, 1, 0, 1, 0, 1, 0, 0]
    assert s.type.tolist() == [TYPES.index("person")] * 4
    pairs = list(zip(s.pairs.mention, s.pairs.latest, s.pairs.target, strict=True))
    assert pairs == [(1, 0, 0), (2, 0, 1), (2, 1, 0), (3, 2, 0), (3, 1, 1)]
    assert s.pairs.instance.tolist() == [0, 1, 0, 1]


def test_what_was_overwritten_is_new_again():
    words = ["Ann", "Bo", "Cy", "Ann"]
    clusters = [[(0, 1, 0), (3, 4, 3)], [(1, 2, 1)], [(2, 3, 2)]]
    s = supervised(gold(words, clusters), n_cells=2)
    assert s.pairs.target[s.pairs.mention == 3].tolist() == [0, 0]
    assert supervised(gold(words, clusters), n_cells=3).pairs.target.sum() == 1


def test_other_tokens_are_aligned():
    doc = gold(["Ann's", "mother", "left"], [[(0, 1, 0)], [(0, 2, 1)]])
    predicted = NLP.make_doc("Ann's mother left")
    s = supervised(doc, predicted)
    assert len(s) == 4
    assert s.head.tolist() == [1, 2]  # "'s" is the last token of "Ann's"
    assert s.start.tolist() == [0, 0]


PEOPLE = ["Dr.", "Ruth", "Ann", "Lee", "met", "Lake", "Como", "and", "she", "left"]


def test_a_person_is_stored_at_the_first_word_of_a_name():
    doc = gold(PEOPLE, [[(0, 4, 3), (8, 9, 8)]])
    s = supervised(doc)
    assert s.head.tolist() == [1, 2, 3, 8]
    assert s.start.tolist() == [0, 0, 0, 8]
    assert s.last.tolist() == [3, 3, 3, 8]
    assert s.pairs.target.tolist() == [1, 1, 1]
    doc.spans["coref_clusters_2"] = [Span(doc, 5, 7, label="place")]
    assert supervised(doc).head.tolist() == [1, 2, 3, 6, 8]  # not at "Lake"


def test_where_types_are_not_told_first_names_tell_people():
    words = ["Ruth", "Quux", "met", "Lake", "Como"]
    doc = Doc(NLP.vocab, words=words)
    for number, (start, end) in enumerate(((0, 2), (3, 5)), start=1):
        doc.spans[f"coref_clusters_{number}"] = [Span(doc, start, end)]
    assert supervised(doc).head.tolist() == [0, 1, 4]


def test_a_teachers_links_of_a_name_are_those_of_its_beginning():
    words = ["Ruth", "Lee", "met", "Ruth", "Lee"]
    doc = gold(words, [[(0, 2, 1), (3, 5, 4)]])
    write_soft_labels(doc, [1.0, 0.8], [[], [(0, 0.7)]])
    s = supervised(doc)
    assert s.head.tolist() == [0, 1, 3, 4]
    assert s.detection.tolist() == pytest.approx([1, 1, 0, 0.8, 0.8])
    assert s.pairs.target.tolist() == pytest.approx([1, 0.7, 1])


def test_the_scheme_is_the_annotations():
    assert supervised(gold(scheme="litbank")).scheme == SCHEMES.index("litbank")
    assert supervised(gold(scheme="mine")).scheme == 0


def test_singletons_say_nothing_of_ontonotes():
    doc = gold(attrs={"ontonotes": [1, 0]})
    assert supervised(doc).ontonotes.tolist() == [1, 1, 0, 0]
    single = gold(clusters=[[(0, 1, 0)]], attrs={"ontonotes": [0]})
    assert supervised(single).ontonotes.tolist() == [-1]


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_noise_puts_mentions_into_wrong_cells_and_keeps_one_right_answer(noise):
    words = ["Ann", "Bo", "Ann", "Bo", "Ann", "Bo", "Ann", "Bo", "Ann", "Bo"]
    clusters = [[(i, i + 1, i) for i in range(k, 10, 2)] for k in (0, 1)]
    clean = supervised(gold(words, clusters)).pairs
    noisy = supervised(gold(words, clusters), noise=noise).pairs
    assert clean.instance.tolist() == [0, 1] * 5
    assert noisy.instance.tolist() != clean.instance.tolist()
    per_mention = np.bincount(noisy.mention, noisy.target, minlength=10)
    assert per_mention.max() <= 1


def test_a_teachers_doubts_are_the_targets():
    doc = gold()
    # In the order of groups: Ann, Ann, mother, She
    write_soft_labels(
        doc, [0.9, 0.8, 0.7, 0.6], [[], [(0, 0.75), (2, 0.2)], [], [(2, 0.5)]]
    )
    s = supervised(doc)
    np.testing.assert_allclose(
        s.detection[[0, 4, 2, 6]], [0.9, 0.8, 0.7, 0.6], atol=1e-3
    )
    targets = dict(
        zip(
            zip(s.pairs.mention, s.pairs.latest, strict=True),
            s.pairs.target,
            strict=True,
        )
    )
    assert targets[2, 0] == pytest.approx(0.75)
    assert targets[2, 1] == pytest.approx(0.2)
    assert targets[3, 1] == pytest.approx(0.5)


def test_a_text_without_mentions_is_all_negative():
    s = supervised(Doc(NLP.vocab, words=WORDS))
    assert not s.detection.any()
    assert len(s.head) == len(s.pairs.mention) == 0
