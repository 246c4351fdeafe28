"""Tests of gap_scorer.py and of the arithmetic behind it."""

import re
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, SpanGroup
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
from refreader_spacy.evaluation.gap_scorer import (
    GAP_SCORES,
    GapLinks,
    best_threshold,
    gap_links,
    score_gap,
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

NEITHER = Answer(a=False, b=False)

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
def test_a_sweep_tries_every_threshold(decisions):
    probabilities, gold = map(np.array, zip(*decisions, strict=True))
    sweep = threshold_sweep(probabilities, gold)
    for threshold, f1 in zip(sweep.threshold, sweep.f1, strict=True):
        assert f1 == pytest.approx(f1_by_hand(probabilities, gold, threshold))
    best = max(f1_by_hand(probabilities, gold, p) for p in probabilities)
    assert max(sweep.f1) == pytest.approx(best)


@given(decisions)
def test_average_precision_matches_definition(decisions):
    probabilities, gold = map(np.array, zip(*decisions, strict=True))
    area, recall = 0.0, 0.0
    for threshold in sorted(set(probabilities), reverse=True):
        accepted = gold[probabilities >= threshold]
        step = accepted.sum() / max(1, gold.sum()) - recall
        area, recall = area + step * accepted.mean(), recall + step
    sweep = threshold_sweep(probabilities, gold)
    assert sweep.average_precision == pytest.approx(area)


def links_of(probabilities, gold) -> list[GapLinks]:
    pairs = zip(
        probabilities[::2], probabilities[1::2], gold[::2], gold[1::2], strict=True
    )
    return [GapLinks("r", "F", a, b, p_a, p_b, NEITHER) for p_a, p_b, a, b in pairs]


def test_a_threshold_is_between_two_probabilities():
    rows = links_of([0.9, 0.6, 0.2, 0.1], [True, True, False, False])
    assert best_threshold(rows) == (pytest.approx(0.4), 1.0)


def test_a_steady_threshold_is_closer_to_the_truth_than_the_best_of_few_rows():
    """Chances known by construction: the square root of the reader's probability.

    On many rows the best threshold is the truth; on few, the steady one is nearer.
    """
    rng = np.random.default_rng(seed=0)

    def sample(n: int) -> list[GapLinks]:
        probabilities = rng.uniform(0.001, 1, size=2 * n) ** 2
        return links_of(probabilities, rng.uniform(size=2 * n) ** 2 < probabilities)

    truth, _ = best_threshold(sample(200_000))
    few = [sample(100) for _ in range(30)]
    lucky = np.mean([abs(np.log(best_threshold(rows)[0] / truth)) for rows in few])
    steady = np.mean([abs(np.log(steady_threshold(rows) / truth)) for rows in few])
    assert steady < 0.7 * lucky


def test_no_link_lies_on_a_steady_threshold():
    rows = links_of([0.9, 0.7, 0.3, 0.1], [True, True, False, False])
    assert steady_threshold(rows) not in {0.9, 0.7, 0.3, 0.1}


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
    (row,) = gap_links([read_example(gap_row(b_coref=True), {0: 0, 3: 1, 5: 1})])
    assert row == GapLinks("r-1", "F", False, True, 0.0, 1.0, NEITHER)


def test_the_pipeline_may_tokenize_in_its_own_way():
    gold = gap_example(gap_row(), nlp).reference
    words = ["E", "ve", "told", "Ann", "Lee", "that", "sh", "e", "had", "won."]
    spaces = [False, True, True, True, True, True, False, True, True, False]
    predicted = Doc(nlp.vocab, words=words, spaces=spaces)
    write_trace(predicted, reading({1: 0, 7: 0}, len(words)))
    (row,) = gap_links([Example(predicted, gold)])
    assert (row.p_a, row.p_b) == (1.0, 0.0)


def test_scores_are_fractions_and_follow_the_threshold():
    half = gap_example(gap_row("r-1", pronoun="his", a_coref=True), nlp)
    gates = reading({0: 0, 5: 0}, len(half.predicted))
    write_trace(
        half.predicted, Reading(gates.update / 2, gates.overwrite, gates.salience)
    )
    sure = read_example(gap_row("r-2", b_coref=True), {2: 0, 5: 0})
    scores = score_gap([half, sure], threshold=0.5, labels=())
    assert scores.keys() == set(GAP_SCORES)
    assert (
        scores.items()
        >= {
            "gap_p": 1.0,
            "gap_r": 1.0,
            "gap_f": 1.0,
            "gap_masc_f": 1.0,
            "gap_fem_f": 1.0,
            "gap_bias": 1.0,
            "gap_best_f": 1.0,
            "gap_best_threshold": 0.25,
            "gap_ap": 1.0,
        }.items()
    )
    scores = score_gap([half, sure], threshold=0.6)
    assert (scores["gap_r"], scores["gap_masc_f"], scores["gap_bias"]) == (
        0.5,
        0.0,
        None,
    )


def test_a_doc_without_a_trace_is_refused():
    with pytest.raises(ValueError, match=r"R109.*Eve told.*trace = true"):
        gap_links([gap_example(gap_row(), nlp)])


def test_there_is_nothing_to_score_without_gap_examples():
    doc = nlp("Ann left.")
    scores = score_gap([Example(doc, doc.copy())], threshold=0.5)
    assert scores
    assert set(scores.values()) == {None}


@pytest.mark.parametrize(
    ("clusters", "answer"),
    [
        ([], (False, False)),
        ([[(0, 1), (5, 6)]], (True, False)),
        ([[(2, 4), (5, 6)]], (False, True)),
        ([[(3, 4), (5, 6)]], (False, True)),
        ([[(0, 1), (2, 4), (5, 6)]], (True, True)),
        ([[(0, 1), (2, 4)], [(5, 6)]], (False, False)),
    ],
)
def test_clusters_answer_too(clusters, answer):
    """Eve told Ann Lee that she had won."""
    example = read_example(gap_row(a_coref=True), {})
    for number, cluster in enumerate(clusters, start=1):
        spans = [example.predicted[start:end] for start, end in cluster]
        example.predicted.spans[f"coref_clusters_{number}"] = spans
    (row,) = gap_links([example])
    assert row.clusters == Answer(*answer)
    f1 = {(True, False): 1.0, (True, True): 2 / 3}.get(answer, 0.0)
    scores = score_gap([example], threshold=0.5)
    assert (scores["gap_f"], scores["gap_clusters_f"]) == (0.0, pytest.approx(f1))


@pytest.mark.parametrize(
    ("words", "heads", "answer"),
    [
        # The head is the mother, by the rule and by what the group says
        (["Eve", "told", "Ann", "Lee", "'s", "mother", "she", "won"], None, False),
        (["Eve", "told", "Ann", "Lee", "'s", "mother", "she", "won"], [5, 6], False),
        (["Eve", "told", "Ann", "Lee", ",", "judge", "she", "won"], [3, 6], True),
    ],
)
def test_a_name_inside_a_mention_is_not_the_mention(words, heads, answer):
    doc = Doc(nlp.vocab, words=words)
    reference = doc.copy()
    for key, (start, end), attrs in (
        ("gap_pronoun", (6, 7), {"id": "r", "gender": "F"}),
        ("gap_a", (0, 1), {"coref": False}),
        ("gap_b", (2, 4), {"coref": False}),
    ):
        spans = [reference[start:end]]
        reference.spans[key] = SpanGroup(reference, spans=spans, attrs=attrs)
    attrs = {"heads": heads} if heads else {}
    group = SpanGroup(doc, spans=[doc[2:6], doc[6:7]], attrs=attrs)
    doc.spans["coref_clusters_1"] = group
    write_trace(doc, reading({}, len(doc)))
    (row,) = gap_links([Example(doc, reference)])
    assert row.clusters == Answer(a=False, b=answer)
