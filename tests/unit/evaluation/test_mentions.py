import pytest
import spacy
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example

from refreader_spacy.evaluation.mentions import scored_document, span_heads

nlp = spacy.blank("en")


def clustered(words, spans, heads=None, spaces=None):
    doc = Doc(nlp.vocab, words=words, spaces=spaces or [False] * len(words))
    attrs = {} if heads is None else {"heads": heads}
    group = SpanGroup(doc, spans=[doc[a:b] for a, b in spans], attrs=attrs)
    doc.spans["coref_clusters_1"] = group
    return doc


def places(reference, predicted):
    document = scored_document(Example(predicted, reference), "coref_clusters")
    return tuple(
        [(mention.span, mention.head) for cluster in side for mention in cluster]
        for side in (document.key, document.response)
    )


@pytest.mark.parametrize(
    ("reference", "predicted"),
    [
        # Tokens are split in one Doc only
        (
            clustered(["An", "n", "saw", "her"], [(0, 2), (3, 4)], [1, 3]),
            clustered(["Ann", "saw", "her"], [(0, 1), (2, 3)], [0, 2]),
        ),
        # Both split, at other characters
        (
            clustered(["An", "n", "saw", "her"], [(0, 2), (3, 4)], [0, 3]),
            clustered(["A", "nn", "saw", "her"], [(0, 2), (3, 4)], [1, 3]),
        ),
        # White space, also as a token, makes no difference
        (
            clustered(["Ann", "saw", "her"], [(0, 1), (2, 3)], [0, 2], [True] * 3),
            clustered(["Ann", " ", "saw", "her"], [(0, 1), (3, 4)], [0, 3]),
        ),
        # A mention that ends inside a token of the other is taken to its end
        (
            clustered(["Ann's", "cat", "her"], [(0, 1), (2, 3)], [0, 2]),
            clustered(["Ann", "'s", "cat", "her"], [(0, 1), (3, 4)], [0, 3]),
        ),
    ],
)
def test_mentions_are_compared_whatever_the_tokens(reference, predicted):
    key, response = places(reference, predicted)
    assert key == response


def test_other_edges_and_heads_are_told_apart():
    words = ["the", "firm", "here", "it"]
    reference = clustered(words, [(0, 3), (3, 4)], [1, 3])
    predicted = clustered(words, [(0, 2), (3, 4)], [0, 3])
    key, response = places(reference, predicted)
    assert key == [((0, 11), (3, 0)), ((11, 13), (11, 0))]
    assert response == [((0, 7), (0, 0)), ((11, 13), (11, 0))]


def test_another_text_is_refused():
    with pytest.raises(ValueError, match=r"R112.*'Annleft' \(7 .*'Annsawher' \(9"):
        places(clustered(["Ann", "left"], []), clustered(["Ann", "saw", "her"], []))


def test_empty_documents_are_ordinary():
    assert places(clustered([], []), clustered([], [])) == ([], [])


@pytest.mark.parametrize("heads", [None, [7], []])
def test_a_head_that_is_not_given_follows_the_rule(heads):
    words = ["the", "head", "of", "the", "firm"]
    doc = clustered(words, [(0, 5)], heads)
    assert span_heads(doc.spans["coref_clusters_1"]) == [1]


def test_mentions_with_the_same_head_are_told_apart_by_size():
    words = ["Ann", "and", "Eve", "left"]
    doc = clustered(words, [(0, 3), (0, 1), (0, 1)], [0, 0, 0])
    key, _ = places(doc, doc.copy())
    assert [head for _, head in key] == [(0, 1), (0, 0), (0, 0)]
