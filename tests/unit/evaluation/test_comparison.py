"""The paired bootstrap, against one that is written out."""

import random

import numpy as np
import pytest

from refreader_spacy.corpora.gap import Answer, GapRow, Mention
from refreader_spacy.evaluation.comparison import paired_gain
from refreader_spacy.evaluation.gap_metric import score_system

Answers = dict[str, Answer]


def gap_rows(n: int) -> list[GapRow]:
    """Rows in which A is meant, B, or neither, in turn."""
    mention = Mention("he", 0)
    return [
        GapRow(*(f"r-{i}", "he", mention, mention, i % 3 == 0, mention, i % 3 == 1, ""))
        for i in range(n)
    ]


def system(rows: list[GapRow], right: float, seed: int = 0) -> Answers:
    """Answers of which this share is right."""
    rng = random.Random(seed)
    return {
        row.id: Answer(
            *(gold == (rng.random() < right) for gold in (row.a_coref, row.b_coref))
        )
        for row in rows
    }


def f1(rows: list[GapRow], answers: Answers) -> float:
    """By hand; a row that was drawn twice counts twice."""
    pairs = [
        pair
        for row in rows
        for pair in zip((row.a_coref, row.b_coref), answers[row.id], strict=True)
    ]
    hits = sum(gold and given for gold, given in pairs)
    return 2 * hits / max(1, sum(gold + given for gold, given in pairs))


def test_the_interval_matches_definition() -> None:
    rows = gap_rows(60)
    old = [system(rows, 0.6, seed=1), system(rows, 0.7, seed=2)]
    new = [system(rows, 0.8, seed=3)]
    gain = paired_gain(rows, old, new)
    assert gain.old == pytest.approx(np.mean([f1(rows, each) for each in old]))
    assert gain.new == pytest.approx(score_system(rows, new[0]).overall.f1)
    rng, gains = random.Random(0), []
    for _ in range(500):
        drawn = rng.choices(rows, k=len(rows))
        before = np.mean([f1(drawn, each) for each in old])
        gains.append(f1(drawn, new[0]) - before)
    low, high = np.quantile(gains, [0.025, 0.975])
    assert gain.low == pytest.approx(low, abs=0.02)
    assert gain.high == pytest.approx(high, abs=0.02)
    assert gain.chance == pytest.approx(np.mean(np.array(gains) > 0), abs=0.04)


def test_nothing_is_gained_over_oneself() -> None:
    rows = gap_rows(30)
    same = system(rows, 0.7)
    gain = paired_gain(rows, [same], [same, same])
    assert (gain.low, gain.high, gain.chance) == (0, 0, 0)


def test_the_other_way_round_a_gain_is_a_loss() -> None:
    rows = gap_rows(90)
    weak, strong = system(rows, 0.6, seed=1), system(rows, 0.9, seed=2)
    gain = paired_gain(rows, [weak], [strong])
    loss = paired_gain(rows, [strong], [weak])
    assert 0 < gain.low < gain.new - gain.old < gain.high
    assert (loss.low, loss.high) == pytest.approx((-gain.high, -gain.low))


def test_the_same_seed_gives_the_same_interval() -> None:
    rows = gap_rows(30)
    runs = [system(rows, 0.6, seed=1)], [system(rows, 0.7, seed=2)]
    assert paired_gain(rows, *runs, seed=5) == paired_gain(rows, *runs, seed=5)
    assert paired_gain(rows, *runs, seed=5) != paired_gain(rows, *runs, seed=6)
