import pytest
import spacy
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from refreader_spacy.evaluation.cluster_scorer import (
    CLUSTER_SCORES,
    genre_scores,
    score_clusters,
)
from refreader_spacy.evaluation.scorers import make_cluster_scorer

nlp = spacy.blank("en")

WORDS = ["The", "firm", "that", "won", "hired", "Ann", ".", "She", "thanked", "it"]
FIRM, ANN, SHE, IT = (0, 4), (5, 6), (7, 8), (9, 10)


def clustered(clusters, heads=None, *, labels=None, prefix="coref_clusters"):
    """A Doc with clusters; heads and labels by mention."""
    doc = Doc(nlp.vocab, words=WORDS)
    for number, cluster in enumerate(clusters, start=1):
        spans = [Span(doc, a, b, (labels or {}).get((a, b), "")) for a, b in cluster]
        attrs = {"heads": [heads[mention] for mention in cluster]} if heads else {}
        doc.spans[f"{prefix}_{number}"] = SpanGroup(doc, spans=spans, attrs=attrs)
    return doc


def scores(gold, found, **settings):
    return score_clusters([Example(found, gold)], **settings)


def test_all_scores_are_fractions():
    gold = clustered([[FIRM, IT], [ANN, SHE]])
    result = scores(gold, gold.copy(), threshold=0.5)
    assert result.keys() == set(CLUSTER_SCORES)
    per_anaphor = result.pop("coref_per_anaphor")
    assert result.pop("coref_type_acc") is None
    assert set(result.values()) == {1.0}
    right = {"p": 1.0, "r": 1.0, "f": 1.0}
    assert per_anaphor == {"she": right, "it": right}


def test_there_is_nothing_to_score_without_gold_clusters():
    empty = clustered([])
    result = scores(empty, clustered([[FIRM, IT]]))
    assert result == dict.fromkeys(CLUSTER_SCORES)


def test_nothing_found_scores_zero():
    result = scores(clustered([[FIRM, IT]]), clustered([]))
    assert (result["coref_f"], result["coref_head_f"]) == (0, 0)
    assert result["coref_per_anaphor"] == {"it": {"p": 0, "r": 0, "f": 0}}


def test_mentions_match_by_span_or_by_head():
    """`The firm` has the head of `The firm that won`, and other edges."""
    short = (0, 2)
    heads = {FIRM: 1, short: 1, IT: 9}
    result = scores(clustered([[FIRM, IT]], heads), clustered([[short, IT]], heads))
    assert result["coref_mention_f"] == pytest.approx(0.5)
    assert (result["coref_head_mention_f"], result["coref_head_f"]) == (1, 1)
    assert result["coref_f"] < 1
    by_rule = scores(clustered([[FIRM, IT]]), clustered([[short, IT]]))
    assert by_rule == result


@pytest.mark.parametrize("keep_singletons", [False, True])
def test_singletons_count_if_the_pipe_keeps_them(keep_singletons):
    gold, found = clustered([[ANN, SHE], [FIRM]]), clustered([[ANN, SHE], [IT]])
    result = scores(gold, found, keep_singletons=keep_singletons)
    expected = 2 / 3 if keep_singletons else 1.0
    assert result["coref_mention_f"] == pytest.approx(expected)
    assert result["coref_b3_f"] == pytest.approx(expected)


def test_types_are_scored_where_mentions_match():
    gold = clustered(
        [[FIRM, IT], [ANN, SHE]],
        labels={FIRM: "organization", IT: "organization", ANN: "person"},
    )
    found = clustered(
        [[IT, ANN]], labels={IT: "organization", ANN: "place", SHE: "person"}
    )
    assert scores(gold, found)["coref_type_acc"] == 1 / 2
    assert scores(gold, clustered([[IT, ANN]]))["coref_type_acc"] is None


def test_only_groups_with_the_prefix_and_a_number_are_clusters():
    gold = clustered([[ANN, SHE]], prefix="gold")
    found = gold.copy()
    found.spans["gold_heads"] = [found[1:2]]
    assert make_cluster_scorer("gold")([Example(found, gold)])["coref_f"] == 1.0
    assert scores(gold, found)["coref_f"] is None


def test_each_kind_of_text_is_scored_by_itself():
    gold, other = clustered([[ANN, SHE]]), clustered([[FIRM, IT]])
    for doc, genre in ((gold, "news"), (other, "fiction")):
        attrs = {"genre": genre}
        doc.spans["annotation"] = SpanGroup(doc, spans=[doc[:]], attrs=attrs)
    examples = [
        Example(gold.copy(), gold),
        Example(clustered([]), other),
        Example(clustered([]), clustered([[FIRM, IT]])),
    ]
    found = genre_scores(examples, keep_singletons=True)
    assert [(g, s["n_docs"], s["coref_f"]) for g, s in found.items()] == [
        ("fiction", 1, 0.0),
        ("news", 1, 1.0),
    ]
