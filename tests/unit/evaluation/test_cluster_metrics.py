"""Published examples with their numbers, and the definitions as oracles."""

import tracemalloc
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refreader_spacy.evaluation.cluster_metrics import (
    CLUSTER_METRICS,
    METRICS,
    cluster_scores,
    conll_f1,
)


def clusters(text: str) -> list[list[str]]:
    """One letter a mention, one word a cluster."""
    return [list(word) for word in text.split()]


# The test cases of the CoNLL reference scorer (TestCases.README) with the LEA values of
# the authors of LEA, recall and precision. TC-D and TC-E are the examples of the paper
# on B-cubed, TC-F to TC-L those of the paper on MUC, TC-B that of the paper on BLANC.
A = "a bc def"
REFERENCE = {
    "A-1": (
        (A, "a bc def"),
        {"muc": (1, 1), "b3": (1, 1), "ceafe": (1, 1), "lea": (1, 1), "blanc": (1, 1)},
    ),
    "A-2, mentions are missing": (
        (A, "a de"),
        {
            "muc": (1 / 3, 1),
            "b3": (7 / 18, 1),
            "ceafe": (1.8 / 3, 1.8 / 2),
            "lea": (2 / 6, 1),
            "blanc": ((1 / 4 + 2 / 11) / 2, 1),
        },
    ),
    "A-3, mentions are spurious": (
        (A, "a bcx defy z"),
        {
            "muc": (1, 3 / 5),
            "b3": (1, 55 / 108),
            "ceafe": ((1 + 4 / 5 + 6 / 7) / 3, (1 + 4 / 5 + 6 / 7) / 4),
            "lea": (1, 4 / 9),
            "blanc": (1, (4 / 9 + 11 / 27) / 2),
        },
    ),
    "A-4, both": (
        (A, "a bcx dy z"),
        {
            "muc": (1 / 3, 1 / 3),
            "b3": (5 / 9, 17 / 42),
            "ceafe": (2.2 / 3, 2.2 / 4),
            "lea": (3 / 6, 2 / 7),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
        },
    ),
    "A-5, a spurious mention in an aligned entity": (
        (A, "a bcxB dy z"),
        {
            "muc": (1 / 3, 1 / 4),
            "b3": (5 / 9, 5 / 16),
            "ceafe": ((1 + 4 / 6 + 2 / 5) / 3, (1 + 4 / 6 + 2 / 5) / 4),
            "lea": (3 / 6, 5 / 24),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 7 + 5 / 21) / 2),
        },
    ),
    "A-6, a spurious mention in another entity": (
        (A, "a bcx dy Bz"),
        {
            "muc": (1 / 3, 1 / 4),
            "b3": (5 / 9, 17 / 48),
            "ceafe": (2.2 / 3, 2.2 / 4),
            "lea": (3 / 6, 2 / 8),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 5 + 5 / 23) / 2),
        },
    ),
    "A-7, a mention is repeated in its entity": (
        (A, "a bcxb dy z"),
        {
            "muc": (1 / 3, 1 / 3),
            "b3": (5 / 9, 17 / 42),
            "ceafe": (2.2 / 3, 2.2 / 4),
            "lea": (3 / 6, 2 / 7),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
        },
    ),
    "A-8, a mention is repeated in another entity": (
        (A, "a bcx dy bz"),
        {
            "muc": (1 / 3, 1 / 3),
            "b3": (5 / 9, 17 / 42),
            "ceafe": (2.2 / 3, 2.2 / 4),
            "lea": (3 / 6, 2 / 7),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
        },
    ),
    "A-9, a mention is repeated ten times": (
        (A, "a bcx dy bbbbbbbbbbz"),
        {
            "muc": (1 / 3, 1 / 3),
            "b3": (5 / 9, 17 / 42),
            "ceafe": (2.2 / 3, 2.2 / 4),
            "lea": (3 / 6, 2 / 7),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
        },
    ),
    "A-10, the response has singletons only": (
        (A, "a b c d e f"),
        {
            "muc": (0, 0),
            "b3": (3 / 6, 1),
            "lea": (1 / 6, 1 / 6),
            "blanc": (1 / 2, 11 / 15 / 2),
        },
    ),
    "A-11, the response has one entity": (
        (A, "abcdef"),
        {
            "muc": (1, 3 / 5),
            "b3": (1, 7 / 18),
            "lea": (5 / 6, 4 / 15),
            "blanc": (1 / 2, 4 / 15 / 2),
        },
    ),
    "A-12, singletons only, other mentions": (
        (A, "a x y c d e z"),
        {
            "muc": (0, 0),
            "b3": (13 / 36, 4 / 7),
            "lea": (1 / 6, 1 / 7),
            "blanc": (5 / 11 / 2, 5 / 21 / 2),
        },
    ),
    "A-13, one entity, other mentions": (
        (A, "axycdez"),
        {
            "muc": (1 / 3, 1 / 6),
            "b3": (17 / 36, 6 / 49),
            "lea": (1 / 6, 1 / 21),
            "blanc": (1 / 4 / 2, 1 / 21 / 2),
        },
    ),
    "B-1": (
        ("ab cde", "bcx de"),
        {"lea": (1 / 5, 2 / 5), "blanc": (7 / 24, 7 / 24)},
    ),
    "C-1": (
        ("ab cde fg", "bcx de fg"),
        {"lea": (3 / 7, 4 / 7), "blanc": (0.5125, 0.5125)},
    ),
    "D-1": (
        ("12345 67 89ABC", "12345 6789ABC"),
        {"muc": (1, 9 / 10), "b3": (1, 16 / 21), "lea": (1, (5 + 11 / 3) / 12)},
    ),
    "E-1": (
        ("12345 67 89ABC", "1234589ABC 67"),
        {"muc": (1, 9 / 10), "b3": (1, 7 / 12), "lea": (1, (40 / 9 + 2) / 12)},
    ),
    "F-1": (("ABCD", "AB CD"), {"muc": (2 / 3, 1), "lea": (2 / 6, 1)}),
    "G-1": (("AB CD", "ABCD"), {"muc": (1, 2 / 3), "lea": (1, 2 / 6)}),
    "J-1": (("ABC", "AC"), {"muc": (1 / 2, 1), "lea": (1 / 3, 1)}),
    "K-1": (
        ("BCDEGHJ", "ABC DEF GHI"),
        {"muc": (3 / 6, 3 / 6), "lea": (3 / 21, 3 / 9)},
    ),
    "L-1": (
        ("ABC DEFG", "AB CD FGH"),
        {"muc": (2 / 5, 2 / 4), "lea": (5 / 21, 3 / 7)},
    ),
    "M-1, the key has one entity": (
        ("abcdef", "abcdef"),
        {"muc": (1, 1), "b3": (1, 1), "ceafe": (1, 1), "lea": (1, 1), "blanc": (1, 1)},
    ),
    "M-2": (
        ("abcdef", "a b c d e f"),
        {"muc": (0, 0), "lea": (0, 0), "blanc": (0, 0)},
    ),
    "M-3": (
        ("abcdef", "ab cde f"),
        {"lea": (4 / 15, 5 / 6), "blanc": (4 / 15, 1)},
    ),
    "M-4": (
        ("abcdef", "abcxyz"),
        {"lea": (3 / 15, 3 / 15), "blanc": (3 / 15, 3 / 15)},
    ),
    "M-6": (
        ("abcdef", "ab cxy z"),
        {"lea": (1 / 15, 2 / 6), "blanc": (1 / 15, 1 / 4)},
    ),
    "N-1, the key has singletons only": (
        ("a b c d e f", "a b c d e f"),
        {"muc": (0, 0), "b3": (1, 1), "ceafe": (1, 1), "lea": (1, 1), "blanc": (1, 1)},
    ),
    "N-2": (("a b c d e f", "abcdef"), {"lea": (0, 0), "blanc": (0, 0)}),
    "N-3": (
        ("a b c d e f", "ab cde f"),
        {"lea": (1 / 6, 1 / 6), "blanc": (11 / 15, 1)},
    ),
    "N-4": (
        ("a b c d e f", "a b c x y z"),
        {"muc": (0, 0), "lea": (3 / 6, 3 / 6), "blanc": (3 / 15, 3 / 15)},
    ),
    "N-6": (
        ("a b c d e f", "ab cxy z"),
        {"lea": (0, 0), "blanc": (2 / 15, 2 / 11)},
    ),
}


@pytest.mark.parametrize(("texts", "expected"), REFERENCE.values(), ids=REFERENCE)
def test_scores_are_those_of_the_reference_implementations(texts, expected):
    key, response = map(clusters, texts)
    scores = cluster_scores([(key, response)])
    for name, (recall, precision) in expected.items():
        assert scores[name].recall == pytest.approx(recall), name
        assert scores[name].precision == pytest.approx(precision), name


@pytest.mark.parametrize(
    ("response", "f1"),
    [("a de", 0.35385), ("a bcx defy z", 0.59717), ("a bcx dy z", 0.30357)],
)
def test_blanc_f1_is_the_mean_of_two(response, f1):
    """Not the harmonic mean of BLANC's recall and precision."""
    scores = cluster_scores([(clusters(A), clusters(response))])
    assert scores["blanc"].f1 == pytest.approx(f1, abs=5e-6)


def test_lea_example_of_moosavi_and_strube():
    """Key {abc},{defg}; response {ab},{cd},{fghi}, as in the paper on LEA.

    Recall: (3 * 1/3 + 4 * 1/6) / 7; precision: (2 * 1/1 + 2 * 0/1 + 4 * 1/6) / 8.
    """
    scores = cluster_scores([(clusters("abc defg"), clusters("ab cd fghi"))])
    assert scores["lea"].recall == pytest.approx((1 + 4 / 6) / 7)
    assert scores["lea"].precision == pytest.approx((2 + 4 / 6) / 8)


def test_mentions_count_whatever_their_clusters():
    scores = cluster_scores([(clusters("a bc def"), clusters("abx"))])
    assert scores["mention"].recall == pytest.approx(2 / 6)
    assert scores["mention"].precision == pytest.approx(2 / 3)


def test_singletons_are_dropped_on_both_sides():
    """Also those that are left of a cluster whose other mentions are repetitions."""
    key, response = clusters("a bc def g"), clusters("abx gh z ag")
    without = cluster_scores([(key, response)], singletons=False)
    assert without == cluster_scores([(clusters("bc def"), clusters("abx gh"))])


def test_documents_are_added_before_dividing():
    """MUC recall of 1 of 1 link and of 0 of 3 is 1/4, not 1/2."""
    scores = cluster_scores([(clusters("ab"), clusters("ab")), (clusters("abcd"), [])])
    assert scores["muc"].recall == pytest.approx(1 / 4)
    # Mentions of two documents are no pairs: 1 of 1 + 6 coreferent ones.
    assert scores["blanc"].recall == pytest.approx(1 / 7)


@pytest.mark.parametrize(("key", "response"), [("", ""), ("ab", ""), ("", "ab")])
def test_nothing_scores_zero(key, response):
    scores = cluster_scores([(clusters(key), clusters(response))])
    assert {(s.recall, s.precision, s.f1) for s in scores.values()} == {(0, 0, 0)}
    assert scores.keys() == set(CLUSTER_METRICS)


def test_conll_f1_is_the_mean_of_three():
    scores = cluster_scores([(clusters("abc defg"), clusters("abc"))])
    mean = np.mean([scores[name].f1 for name in ("muc", "b3", "ceafe")])
    assert conll_f1(scores) == pytest.approx(mean)


def muc_by_hand(key, response):
    top = bottom = 0
    for cluster in key:
        parts = {frozenset(each) & frozenset(cluster) for each in response} - {
            frozenset()
        }
        missing = set(cluster) - {mention for part in parts for mention in part}
        top += len(cluster) - len(parts) - len(missing)
        bottom += len(cluster) - 1
    return top / bottom if bottom else 0


def b3_by_hand(key, response):
    parts = []
    for cluster in key:
        for mention in cluster:
            other = next((each for each in response if mention in each), [])
            parts.append(len({*cluster} & {*other}) / len(cluster))
    return sum(parts) / len(parts) if parts else 0


def ceafe_by_hand(key, response):
    small, large = sorted((key, response), key=len)
    best = max(
        sum(
            2 * len({*a} & {*b}) / (len(a) + len(b))
            for a, b in zip(small, order, strict=True)
        )
        for order in permutations(large, len(small))
    )
    return best / len(key) if key else 0


def lea_by_hand(key, response):
    def links(cluster):
        self_link = {frozenset(cluster)} if len(cluster) == 1 else set()
        return self_link | {frozenset(pair) for pair in combinations(cluster, 2)}

    found = {link for cluster in response for link in links(cluster)}
    top = sum(len(c) * len(links(c) & found) / len(links(c)) for c in key)
    return top / sum(map(len, key)) if key else 0


def mention_by_hand(key, response):
    gold, found = ({m for c in each for m in c} for each in (key, response))
    return len(gold & found) / len(gold) if gold else 0


BY_HAND = {
    "mention": mention_by_hand,
    "muc": muc_by_hand,
    "b3": b3_by_hand,
    "ceafe": ceafe_by_hand,
    "lea": lea_by_hand,
}


def blanc_by_hand(key, response):
    """Recall, precision and F1 over sets of links, as the paper writes them."""

    def links(entities):
        pairs = {
            frozenset(p) for p in combinations([m for c in entities for m in c], 2)
        }
        together = {frozenset(p) for c in entities for p in combinations(c, 2)}
        return together, pairs - together

    kinds = []
    for gold, found in zip(links(key), links(response), strict=True):
        if gold:
            both = len(gold & found)
            recall, precision = both / len(gold), both / len(found) if found else 0
            kinds.append((recall, precision, 2 * both / (len(gold) + len(found))))
    return [float(x) for x in np.mean(kinds, axis=0)] if kinds else [0, 0, 0]


@st.composite
def partitions(draw):
    """Some of eight mentions, each in one of up to five clusters."""
    cluster_of = draw(st.dictionaries(st.integers(0, 7), st.integers(0, 4)))
    numbers = sorted(set(cluster_of.values()))
    return [[m for m in cluster_of if cluster_of[m] == number] for number in numbers]


@pytest.mark.parametrize("name", METRICS)
@given(key=partitions(), response=partitions())
def test_metrics_match_their_definitions(name, key, response):
    score = cluster_scores([(key, response)])[name]
    assert score.recall == pytest.approx(BY_HAND[name](key, response))
    assert score.precision == pytest.approx(BY_HAND[name](response, key))


@given(key=partitions(), response=partitions())
def test_blanc_matches_its_definition(key, response):
    score = cluster_scores([(key, response)])["blanc"]
    expected = pytest.approx(blanc_by_hand(key, response))
    assert [score.recall, score.precision, score.f1] == expected


def test_a_novel_is_scored_in_little_memory():
    """60,000 mentions; a full matrix of its clusters would have 10^9 cells."""
    rng = np.random.default_rng(0)
    entities = rng.zipf(1.3, 60_000)
    wrong = rng.random(len(entities)) < 0.4
    guesses = np.where(wrong, rng.permutation(entities), entities)

    def grouped(numbers):
        groups: dict[int, list[int]] = {}
        for mention, number in enumerate(numbers.tolist()):
            groups.setdefault(number, []).append(mention)
        return list(groups.values())

    novel = grouped(entities), grouped(guesses)
    tracemalloc.start()
    scores = cluster_scores([novel])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6
    assert 0.5 < conll_f1(scores) < 0.9
