"""What tokens should have said of whom a pronoun means, by gold clusters.

In training the memory does what is right, so each decision is learned by itself, and
all of a batch at once.

Shapes: T tokens, E decisions, M memory cells, S what a token says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from spacy.training import Example
from torch.nn.functional import log_softmax

from refreader_spacy.model.types import Array
from refreader_spacy.names import says
from refreader_spacy.names.memory import Cells, Mask, Numbers, empty
from refreader_spacy.names.says import Said
from refreader_spacy.names.words import (
    IS_JOINING,
    IS_NAME,
    IS_PRONOUN,
    numbers_of,
)
from refreader_spacy.training.gold import gold_groups

Numbering = NDArray[np.intp]

NOBODY = -1  # is in a cell, or is named by a token
SOMEBODY = -(2**31)  # whom nothing is known of


class Decision(NamedTuple):
    """One token's choice among the cells."""

    token: int
    keys: Numbering  # which token wrote each cell's key (M,)
    facts: Numbers  # (M, 24)
    open: Mask  # which cells are asked (M,)
    right: Mask  # (M + 1,), last: somebody new


def decisions_of(example: Example, prefix: str, n_cells: int) -> list[Decision]:
    """Walk through a document, doing what is right."""
    numbers = numbers_of(example.predicted)
    person = people_of(numbers)  # (T,)
    gold = gold_of(example, prefix)  # (T,)
    people = [
        set(person[(gold == group) & (person != NOBODY)].tolist())
        for group in range(gold.max(initial=-1) + 1)
    ]
    walk = _Walk(n_cells, people)
    decisions = []
    for token, (word, kind) in enumerate(numbers.tolist()):
        later = set(person[token + 1 :].tolist())
        made = walk.step(token, word, int(kind), person[token], gold[token], later)
        if made is not None:
            decisions.append(made)
    return decisions


class _Walk:
    """A document's memory while it does what is right."""

    def __init__(self, n_cells: int, people: list[set[int]]) -> None:
        """people (list[set[int]]): Who is named in each gold cluster."""
        self.people = people
        self.annotated = set().union(*people)
        state = empty(np.zeros(0, np.float32), 1, n_cells, 0)
        self.cells = Cells(*(field[0] for field in state))
        # Who is in each cell; -2 and below: a pronoun of gold cluster 0, 1, ...
        self.holds = np.full(n_cells, NOBODY)

    def step(
        self,
        token: int,
        word: float,
        kind: int,
        person: int,
        group: int,
        later: set[int],
    ) -> Decision | None:
        """One token.

        group (int): Its gold cluster, or -1. later (set[int]): Who is named after it.
        """
        cells = self.cells
        right: Mask | None = None
        cell: int | None = None
        acts = False
        if person != NOBODY:
            acts = True
            cell = cells.known(word, kind)
            if cell is None and cells.open_to(kind).any():
                awaited = [-2 - g for g, who in enumerate(self.people) if person in who]
                right = np.append(np.isin(self.holds, awaited), False)
                right[-1] = not right.any()
                cell = None if right[-1] else int(right.argmax())
        elif kind & IS_PRONOUN and group >= 0:
            right, acts = self._meant(group, later)
        elif kind & IS_PRONOUN:
            acts = not cells.open_to(kind).any()
        made = None
        if right is not None and right.any():
            keys = cells.keys[:, 0].astype(np.intp)
            facts, asked = cells.facts_now(word, kind), cells.open_to(kind)
            made = Decision(token, keys, facts, asked, right)
        if acts:
            cell = cells.write(cell, np.array([token], np.float32), word, kind)
            awaits = -2 - group if group >= 0 else SOMEBODY
            self.holds[cell] = awaits if person == NOBODY else person
        cells.tick(kind, cell if acts else None)
        return made

    def _meant(self, group: int, later: set[int]) -> tuple[Mask, bool]:
        """Which cells a gold cluster's pronoun may link to, and if it is a new one."""
        mine, holds = self.people[group], self.holds
        right = np.append(np.isin(holds, [*mine, -2 - group]), False)
        if right.any():
            return right, False
        if mine:
            right[-1] = bool(mine & later)
            return right, bool(right[-1])
        # Of a pronoun without a name it is only known whom it doesn't mean
        right[:-1] = (holds != NOBODY) & ~np.isin(holds, list(self.annotated))
        right[-1] = True
        absent = self.annotated - set(holds.tolist())
        return right, bool(absent & later)


def gold_of(example: Example, prefix: str) -> Numbering:
    """Which gold cluster each token of the predicted Doc is in, or -1 (T,)."""
    group = np.full(len(example.predicted), -1)
    spans = [
        (span.end - span.start, number, span)
        for number, spans in enumerate(gold_groups(example, prefix))
        for span in spans
    ]
    for _, number, span in sorted(spans, key=lambda each: each[0], reverse=True):
        group[example.alignment.y2x[span.start : span.end]] = number
    return group


def people_of(numbers: Array) -> Numbering:
    """Who each word of a name stands for, by number; -1 for other words (T,).

    A name that begins with a word of an earlier one is the same person.

    numbers (Array): What `numbers_of` says of the words (T, 2).
    """
    person = np.full(len(numbers), NOBODY)
    latest: dict[float, int] = {}  # by word
    n_people = 0
    current = NOBODY
    for token, (word, kind) in enumerate(numbers.tolist()):
        joins = int(kind) & IS_JOINING and current != NOBODY
        if not (int(kind) & IS_NAME or joins):
            current = NOBODY
            continue
        if current == NOBODY:
            current = latest.get(word, n_people)
            n_people += current == n_people
        if not joins:
            latest[word] = current
        person[token] = current
    return person


def decision_loss(
    said: Sequence[Said], decisions: Sequence[list[Decision]]
) -> tuple[float, list[Said]]:
    """The mean loss of a decision, and its gradient in what was said."""
    rows = torch.from_numpy(np.concatenate([each.rows for each in said]))
    rows.requires_grad_()
    starts = np.cumsum([0, *(len(each) for each in said)])[:-1]
    made = [
        each._replace(token=each.token + start, keys=each.keys + start)
        for some, start in zip(decisions, starts.tolist(), strict=True)
        for each in some
    ]
    loss = _loss(rows, made) if made else (rows * 0).sum()
    loss.backward()
    parts = np.split(rows.grad.numpy(), starts[1:])  # type: ignore[union-attr]
    return loss.item(), [
        Said(part, each.n_cells) for part, each in zip(parts, said, strict=True)
    ]


def _loss(rows: torch.Tensor, made: list[Decision]) -> torch.Tensor:
    tokens = torch.tensor([each.token for each in made])  # (E,)
    keys = torch.from_numpy(np.stack([each.keys for each in made]))  # (E, M)
    facts = torch.from_numpy(np.stack([each.facts for each in made])).float()
    asked = torch.from_numpy(np.stack([each.open for each in made]))  # (E, M)
    right = torch.from_numpy(np.stack([each.right for each in made]))  # (E, M + 1)
    key_size = (rows.shape[1] - says.N_SCORES - says.N_FACTS) // 2
    new, query, asks, _ = rows[tokens].split(
        [says.N_SCORES, key_size, says.N_FACTS, key_size], dim=1
    )
    scores = rows[keys, 1] + torch.einsum("emk,ek->em", rows[keys, -key_size:], query)
    scores = scores + torch.einsum("emf,ef->em", facts, asks)
    scores = scores.masked_fill(~asked, -torch.inf)
    chances = log_softmax(torch.cat([scores, new[:, :1]], dim=1), dim=1)
    return -torch.logsumexp(chances.masked_fill(~right, -torch.inf), dim=1).mean()
