import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from refreader_spacy.corpora.span_groups import gold_clusters
from refreader_spacy.paper.gold import LossWeights, gold_links

VOCAB = Vocab()
N_TOKENS = 8
WEIGHTS = LossWeights(within=0.1, coref=5.0, negative_ratio=10.0, other=1.0)
# Which entity each token is in (0: none), and whether a mention starts there.
LABELS = st.lists(
    st.tuples(st.integers(0, 3), st.booleans()), min_size=N_TOKENS, max_size=N_TOKENS
)


def make_example(clusters, words=None, predicted=None):
    words = words or [f"w{i}" for i in range(N_TOKENS)]
    reference = Doc(VOCAB, words=words)
    for number, mentions in enumerate(clusters, start=1):
        spans = [reference[start:end] for start, end in mentions]
        reference.spans[f"coref_clusters_{number}"] = spans
    return Example(Doc(VOCAB, words=predicted or words), reference)


def pair_by_hand(first, second):
    """Target and weight of two tokens, each with its entity and mention, if any."""
    if first is None or second is None:
        return 0, 1.0
    if first == second:
        return 1, 0.1
    return (1, 5.0) if first[0] == second[0] else (0, 50.0)


@given(LABELS)
def test_each_pair_of_tokens_gets_its_target_and_weight(labels):
    mentions = []  # (entity, start, end)
    for i, (entity, starts) in enumerate(labels):
        if entity and mentions and not starts and mentions[-1][::2] == (entity, i):
            mentions[-1] = (entity, mentions[-1][1], i + 1)
        elif entity:
            mentions.append((entity, i, i + 1))
    clusters = [[m[1:] for m in mentions if m[0] == entity] for entity in (1, 2, 3)]
    gold = gold_links(make_example(clusters), "coref_clusters", WEIGHTS)
    owner = {i: mention for mention in mentions for i in range(*mention[1:])}
    for i in range(N_TOKENS):
        for j in range(i + 1, N_TOKENS):
            target, weight = pair_by_hand(owner.get(i), owner.get(j))
            assert gold.target[i, j] == target
            assert gold.weight[i, j] == pytest.approx(weight)


def test_a_nested_mention_has_its_tokens_to_itself():
    """As in [the captain of [the ship]], and later [it], the ship."""
    gold = gold_links(
        make_example([[(0, 5)], [(3, 5), (6, 7)]]), "coref_clusters", WEIGHTS
    )
    assert gold.target[0, 1:].tolist() == [1, 1, 0, 0, 0, 0, 0]
    assert gold.target[3, 4:].tolist() == [1, 0, 1, 0]
    np.testing.assert_allclose(gold.weight[3, 4:], [0.1, 1, 5, 1])
    assert gold.weight[0, 6] == 50


def test_gold_is_laid_on_the_tokens_that_the_reader_sees():
    example = make_example(
        [[(0, 1), (2, 3)]],
        words=["Bo's", "mother", "him-self"],
        predicted=["Bo", "'s", "mother", "him", "-", "self"],
    )
    gold = gold_links(example, "coref_clusters", WEIGHTS)
    linked = np.argwhere(np.triu(gold.target * (gold.weight == 5), 1)).tolist()
    assert linked == [[i, j] for i in (0, 1) for j in (3, 4, 5)]


def test_only_groups_of_the_prefix_are_gold():
    example = make_example([[(0, 1)], [(2, 3)]])
    example.reference.spans["gap_a"] = [example.reference[4:5]]
    example.reference.spans["coref_clusters_heads"] = [example.reference[5:6]]
    assert len(gold_clusters(example.reference, "coref_clusters")) == 2
    assert gold_clusters(example.reference, "entities") == []


def test_an_empty_document_has_no_pairs():
    example = Example(Doc(VOCAB), Doc(VOCAB))
    gold = gold_links(example, "coref_clusters", WEIGHTS)
    assert gold.target.shape == gold.weight.shape == (0, 0)
