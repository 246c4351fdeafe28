"""Tests of scorers.py and of the arithmetic behind it."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from refreader_spacy.annotation.extensions import write_trace
from refreader_spacy.corpora.gap import (
    Answer,
    GapRow,
    Mention,
    read_gap,
    read_system,
    write_system,
)
from refreader_spacy.corpora.gap_corpus import gap_example
from refreader_spacy.evaluation.gap_metric import score_system
from refreader_spacy.evaluation.scorers import (
    GapLinks,
    best_threshold,
    gap_probabilities,
    make_cluster_scorer,
    make_coref_scorer,
    make_gap_scorer,
    steady_threshold,
)
from refreader_spacy.evaluation.thresholds import threshold_sweep
from refreader_spacy.protocol import Reading

DATA = Path(__file__).parents[4] / "shared" / "data"
SYSTEMS = (
    "random_test",
    "always_a_test",
    "noisy_gold_validation",
    "nothing_validation",
)

nlp = spacy.blank("en")


def gap_row(row_id="r-1", *, pronoun="she", a_coref=False, b_coref=False) -> GapRow:
    text = f"Eve told Ann Lee that {pronoun} had won."
    return GapRow(
        id=row_id,
        text=text,
        pronoun=Mention(pronoun, 22),
        a=Mention("Eve", 0),
        a_coref=a_coref,
        b=Mention("Ann Lee", 9),
        b_coref=b_coref,
        url="",
    )


# GAP's official metric


@pytest.mark.skipif(not DATA.exists(), reason="needs the shared data beside the repo")
@pytest.mark.parametrize("system", SYSTEMS)
def test_score_cards_are_the_official_ones(system):
    expected = (DATA / "gap_scorer" / "EXPECTED.md").read_text()
    gold, card = re.search(
        rf"## {system}\.tsv against \.\./(\S+)\n```\n(.+?)\n```", expected, re.DOTALL
    ).groups()
    answers = read_system(DATA / "gap_scorer" / f"{system}.tsv")
    assert str(score_system(read_gap(DATA / gold), answers)) == card


def test_an_unanswered_row_counts_as_false_and_is_reported(caplog):
    rows = [gap_row("r-1", a_coref=True), gap_row("r-2", b_coref=True)]
    card = score_system(rows, {"r-1": Answer(a=True, b=False)})
    assert (card.overall.tp, card.overall.fn, card.overall.tn) == (1, 1, 2)
    assert "1 of 2 rows, such as r-2" in caplog.text


def test_an_answer_to_no_row_is_refused():
    with pytest.raises(ValueError, match=r"R108.*'r-7'"):
        score_system([gap_row()], dict.fromkeys(("r-1", "r-7"), Answer(a=True, b=True)))


@pytest.mark.parametrize(
    ("content", "code", "parts"),
    [
        ("", "R106", []),
        ("r-1\tTRUE\n", "R102", ["line 1", "B-coref"]),
        ("r-1\tTRUE\tFALSE\nr-2\tTRUE\tno\n", "R104", ["line 2", "'no'"]),
        ("r-1\tTRUE\tTRUE\nr-1\tTRUE\tTRUE\n", "R105", ["line 2", "line 1"]),
    ],
)
def test_bad_system_files_are_refused_with_their_place(tmp_path, content, code, parts):
    path = tmp_path / "system.tsv"
    path.write_text(content)
    with pytest.raises(ValueError, match=code) as error:
        read_system(path)
    assert all(part in str(error.value) for part in ["system.tsv", *parts])


def test_answers_are_read_as_they_were_written(tmp_path):
    answers = {"r-1": Answer(a=True, b=False), "Ré 2": Answer(a=False, b=True)}
    write_system(tmp_path / "system.tsv", answers)
    assert read_system(tmp_path / "system.tsv") == answers


# Thresholds

probability = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0])
decisions = st.lists(st.tuples(probability, st.booleans()), min_size=1, max_size=20)


def f1_by_hand(probabilities, gold, threshold):
    answers = [p >= threshold for p in probabilities]
    tp = sum(g and a for g, a in zip(gold, answers, strict=True))
    return 2 * tp / (sum(gold) + sum(answers)) if tp else 0.0


@given(decisions)
@settings(deadline=None)
def test_a_sweep_tries_every_threshold(decisions):
    probabilities, gold = map(np.array, zip(*decisions, strict=True))
    sweep = threshold_sweep(probabilities, gold)
    for threshold, f1 in zip(sweep.threshold, sweep.f1, strict=True):
        assert f1 == pytest.approx(f1_by_hand(probabilities, gold, threshold))
    best = max(f1_by_hand(probabilities, gold, p) for p in probabilities)
    assert max(sweep.f1) == pytest.approx(best)


@given(decisions)
@settings(deadline=None)
def test_average_precision_matches_definition(decisions):
    probabilities, gold = map(np.array, zip(*decisions, strict=True))
    area, recall = 0.0, 0.0
    for threshold in sorted(set(probabilities), reverse=True):
        accepted = gold[probabilities >= threshold]
        step = accepted.sum() / max(1, gold.sum()) - recall
        area, recall = area + step * accepted.mean(), recall + step
    sweep = threshold_sweep(probabilities, gold)
    assert sweep.average_precision == pytest.approx(area)


def gap_links(probabilities, gold) -> list[GapLinks]:
    pairs = zip(
        probabilities[::2], probabilities[1::2], gold[::2], gold[1::2], strict=True
    )
    return [GapLinks("r", "F", a, b, p_a, p_b) for p_a, p_b, a, b in pairs]


def test_a_threshold_is_between_two_probabilities():
    rows = gap_links([0.9, 0.6, 0.2, 0.1], [True, True, False, False])
    assert best_threshold(rows) == (pytest.approx(0.4), 1.0)


def test_a_steady_threshold_is_closer_to_the_truth_than_the_best_of_few_rows():
    """Chances known by construction: the square root of the reader's probability.

    On many rows the best threshold is the truth; on few, the steady one is nearer.
    """
    rng = np.random.default_rng(seed=0)

    def sample(n: int) -> list[GapLinks]:
        probabilities = rng.uniform(0.001, 1, size=2 * n) ** 2
        return gap_links(probabilities, rng.uniform(size=2 * n) ** 2 < probabilities)

    truth, _ = best_threshold(sample(200_000))
    few = [sample(100) for _ in range(30)]
    lucky = np.mean([abs(np.log(best_threshold(rows)[0] / truth)) for rows in few])
    steady = np.mean([abs(np.log(steady_threshold(rows) / truth)) for rows in few])
    assert steady < 0.7 * lucky


# The GAP scorer


def reading(cells: dict[int, int], n_tokens: int) -> Reading:
    """Tokens written for certain to one cell each: overwriting first, then updating."""
    update, overwrite = np.zeros((2, n_tokens, 2), dtype=np.float32)
    for token, cell in cells.items():
        gates = update if overwrite[:, cell].any() else overwrite
        gates[token, cell] = 1
    return Reading(update, overwrite, salience=np.zeros_like(update))


def read_example(row: GapRow, cells: dict[int, int]) -> Example:
    example = gap_example(row, nlp)
    write_trace(example.predicted, reading(cells, len(example.predicted)))
    return example


def test_the_best_token_of_a_name_decides():
    """Eve told Ann Lee that she had won. Only `Lee` shares the pronoun's cell."""
    (row,) = gap_probabilities(
        [read_example(gap_row(b_coref=True), {0: 0, 3: 1, 5: 1})]
    )
    assert row == GapLinks("r-1", "F", a_gold=False, b_gold=True, p_a=0.0, p_b=1.0)


def test_the_pipeline_may_tokenize_in_its_own_way():
    gold = gap_example(gap_row(), nlp).reference
    words = ["E", "ve", "told", "Ann", "Lee", "that", "sh", "e", "had", "won."]
    spaces = [False, True, True, True, True, True, False, True, True, False]
    predicted = Doc(nlp.vocab, words=words, spaces=spaces)
    write_trace(predicted, reading({1: 0, 7: 0}, len(words)))
    (row,) = gap_probabilities([Example(predicted, gold)])
    assert (row.p_a, row.p_b) == (1.0, 0.0)


def test_scores_are_fractions_and_follow_the_threshold():
    half = gap_example(gap_row("r-1", pronoun="his", a_coref=True), nlp)
    gates = reading({0: 0, 5: 0}, len(half.predicted))
    write_trace(
        half.predicted, Reading(gates.update / 2, gates.overwrite, gates.salience)
    )
    sure = read_example(gap_row("r-2", b_coref=True), {2: 0, 5: 0})
    score = make_gap_scorer()
    assert score([half, sure], threshold=0.5, labels=()) == {
        "gap_p": 1.0,
        "gap_r": 1.0,
        "gap_f": 1.0,
        "gap_masc_f": 1.0,
        "gap_fem_f": 1.0,
        "gap_bias": 1.0,
        "gap_best_f": 1.0,
        "gap_best_threshold": 0.25,
        "gap_ap": 1.0,
    }
    scores = score([half, sure], threshold=0.6)
    assert (scores["gap_r"], scores["gap_masc_f"], scores["gap_bias"]) == (
        0.5,
        0.0,
        None,
    )


def test_a_doc_without_a_trace_is_refused():
    with pytest.raises(ValueError, match=r"R109.*Eve told.*trace = true"):
        gap_probabilities([gap_example(gap_row(), nlp)])


def test_there_is_nothing_to_score_without_gap_examples():
    doc = nlp("Ann left.")
    scores = make_gap_scorer()([Example(doc, doc.copy())], threshold=0.5)
    assert scores
    assert set(scores.values()) == {None}


# The cluster scorer


def clustered(
    words: list[str], *clusters: list[tuple[int, int]], prefix="coref_clusters"
):
    doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
    for number, cluster in enumerate(clusters, start=1):
        doc.spans[f"{prefix}_{number}"] = [doc[start:end] for start, end in cluster]
    return doc


def test_clusters_are_compared_by_characters():
    reference = clustered(["An", "n", "saw", "her"], [(0, 2), (3, 4)])
    predicted = clustered(["Ann", "saw", "her"], [(0, 1), (2, 3)])
    scores = make_cluster_scorer()([Example(predicted, reference)], threshold=0.5)
    assert set(scores.values()) == {1.0}
    assert {"coref_f", "coref_muc_p", "coref_b3_r", "coref_lea_f"} <= scores.keys()


def test_only_groups_with_the_prefix_and_a_number_are_clusters():
    reference = clustered(["Ann", "saw", "her"], [(0, 1), (2, 3)], prefix="gold")
    predicted = clustered(["Ann", "saw", "her"], [(0, 1), (2, 3)], prefix="gold")
    predicted.spans["gold_heads"] = [predicted[1:2]]
    example = Example(predicted, reference)
    assert make_cluster_scorer("gold")([example])["coref_f"] == 1.0
    assert set(make_cluster_scorer()([example]).values()) == {None}


def test_gap_and_other_documents_are_scored_apart():
    """GAP's clusters are not all there are, so they don't enter the cluster metrics."""
    gap = read_example(gap_row(b_coref=True), {2: 0, 5: 0})
    doc = clustered(["Ann", "saw", "her"], [(0, 1), (2, 3)])
    scores = make_coref_scorer()([gap, Example(doc, doc.copy())], threshold=0.5)
    assert (scores["gap_f"], scores["coref_f"]) == (1.0, 1.0)
    assert make_coref_scorer()([gap], threshold=0.5)["coref_f"] is None


@pytest.mark.parametrize(
    "make", [make_gap_scorer, make_cluster_scorer, make_coref_scorer]
)
def test_scorers_can_be_pickled(make):
    assert pickle.loads(pickle.dumps(make()))
