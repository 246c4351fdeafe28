"""GAP's official metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spacy.util import logger

from refreader_spacy.corpora.gap import Answer, GapRow, Gender
from refreader_spacy.errors import Errors


class Decision(NamedTuple):
    """One name of one row: does the pronoun mean it, and what was answered?"""

    gender: Gender
    gold: bool
    answer: bool


@dataclass(frozen=True)
class Counts:
    """How often answers were right and wrong, and the ratios of that."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def recall(self) -> float:
        return self.tp / max(1, self.tp + self.fn)

    @property
    def precision(self) -> float:
        return self.tp / max(1, self.tp + self.fp)

    @property
    def f1(self) -> float:
        return 2 * self.tp / max(1, 2 * self.tp + self.fp + self.fn)

    def __str__(self) -> str:
        return (
            f"recall: {100 * self.recall:.1f} precision: {100 * self.precision:.1f} "
            f"f1: {100 * self.f1:.1f}\n"
            f"\t\ttp {self.tp}\tfp {self.fp}\n\t\tfn {self.fn}\ttn {self.tn}\n"
        )


@dataclass(frozen=True)
class ScoreCard:
    """The official scores; as text, what the official scorer prints."""

    overall: Counts
    masculine: Counts
    feminine: Counts

    @property
    def bias(self) -> float | None:
        """Feminine over masculine F1, if that exists."""
        return self.feminine.f1 / self.masculine.f1 if self.masculine.f1 else None

    def __str__(self) -> str:
        bias = "-" if self.bias is None else f"{self.bias:.2f}"
        return (
            f"Overall {self.overall}Masculine {self.masculine}Feminine {self.feminine}"
            f"Bias (F/M): {bias}\n"
        )


def score_card(decisions: Iterable[Decision]) -> ScoreCard:
    """Count decisions, overall and by the pronoun's gender."""
    decisions = list(decisions)
    return ScoreCard(
        overall=_counts(decisions),
        masculine=_counts(each for each in decisions if each.gender == "M"),
        feminine=_counts(each for each in decisions if each.gender == "F"),
    )


def score_system(rows: Sequence[GapRow], answers: Mapping[str, Answer]) -> ScoreCard:
    """Score the answers of a system; a row without one counts as FALSE, FALSE."""
    ids = {row.id for row in rows}
    if unknown := [row_id for row_id in answers if row_id not in ids]:
        raise ValueError(Errors.R108.format(n=len(unknown), found=unknown[:5]))
    if missing := [row.id for row in rows if row.id not in answers]:
        logger.warning(
            "The system has no answer for %d of %d rows, such as %s; they count as "
            "FALSE.",
            *(len(missing), len(rows), missing[0]),
        )
    nothing = Answer(a=False, b=False)
    return score_card(
        Decision(row.gender, gold, answer)
        for row in rows
        for gold, answer in zip(
            (row.a_coref, row.b_coref), answers.get(row.id, nothing), strict=True
        )
    )


def _counts(decisions: Iterable[Decision]) -> Counts:
    counts = Counter((each.gold, each.answer) for each in decisions)
    return Counts(
        tp=counts[True, True],
        fp=counts[False, True],
        fn=counts[True, False],
        tn=counts[False, False],
    )
