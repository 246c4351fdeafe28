"""What tokens should have said of whom a pronoun means, by gold clusters or a teacher.

In training the memory does what is right, so each decision is learned by itself, and
all of a batch at once.

Shapes: T tokens, E decisions, M memory cells, S what a token says, D size of what is
judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from spacy.training import Example
from torch.nn.functional import log_softmax

from refreader_spacy.errors import Errors
from refreader_spacy.names import says
from refreader_spacy.names.memory import NAMELESS, Cells, Mask, Numbers, empty
from refreader_spacy.names.says import Said
from refreader_spacy.names.words import (
    IS_JOINING,
    IS_NAME,
    IS_PRONOUN,
    numbers_of,
)
from refreader_spacy.protocol import Array
from refreader_spacy.training.gold import LossWeights, gold_groups
from refreader_spacy.training.shares import read_shares

Numbering = NDArray[np.intp]

NOBODY = -1  # is in a cell, or is named by a token
SOMEBODY = -(2**31)  # whom nothing is known of


class Decision(NamedTuple):
    """One token's choice among the cells."""

    token: int
    marks: Numbering  # which token said what each cell remembers, or -1 (M, 4)
    facts: Numbers  # (M, 40)
    open: Mask  # which cells are asked (M,)
    share: Numbers  # what is right (M + 1,), last: somebody new
    certain: (
        bool  # any one of those with a share will do, and it isn't a teacher's word
    )


def decisions_of(example: Example, prefix: str, n_cells: int) -> list[Decision]:
    """Walk through a document, doing what is right.

    Where gold clusters say nothing, a teacher's word counts, if there is one.
    """
    numbers = numbers_of(example.predicted)
    person = people_of(numbers)  # (T,)
    gold = gold_of(example, prefix)  # (T,)
    people = [
        set(person[(gold == group) & (person != NOBODY)].tolist())
        for group in range(gold.max(initial=-1) + 1)
    ]
    taught = read_shares(example)
    for share in taught.values():
        if len(share) != n_cells + 1:
            found = len(share) - 1
            raise ValueError(Errors.R316.format(found=found, expected=n_cells))
    walk = _Walk(n_cells, people, taught, {who: i for i, who in enumerate(person)})
    decisions = []
    for token, (word, kind) in enumerate(numbers.tolist()):
        made = walk.step(token, word, int(kind), person[token], gold[token])
        if made is not None:
            decisions.append(made)
    return decisions


class _Walk:
    """A document's memory while it does what is right."""

    def __init__(
        self,
        n_cells: int,
        people: list[set[int]],
        taught: dict[int, Numbers],
        last: dict[int, int],
    ) -> None:
        """people (list[set[int]]): Who is named in each gold cluster.

        taught (dict[int, Numbers]): What a teacher says at some tokens (M + 1,).
        last (dict[int, int]): The last token that names each.
        """
        self.last = last
        self.people = people
        self.taught = taught
        self.annotated = set().union(*people)
        state = empty(np.zeros(0, np.float32), 1, n_cells, 1)
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
    ) -> Decision | None:
        """One token.

        group (int): Its gold cluster, or -1.
        """
        cells, named = self.cells, person != NOBODY
        marks = np.full((says.N_MARKS, 1), token + 1, np.float32)
        cell: int | None = None
        made = None
        acts = named or bool(kind & IS_PRONOUN)
        asked = cells.open_to(kind)
        if named:
            cell = cells.known(word, kind)
        if acts and cell is None and asked.any():
            right = self._right(token, person, group)
            certain = right is not None and bool(right.any())
            share = self._share(token, asked, right if certain else None)
            if share is not None:
                facts = cells.facts_now(word, kind)
                remembered = cells.marks[:, :, 0].astype(np.intp) - 1
                target = right.astype(float) if certain and right is not None else share
                made = Decision(token, remembered, facts, asked, target, certain)
                best = int(share.argmax())
                cell = None if best == len(share) - 1 else best
            # Of a pronoun that nobody speaks of, it isn't known whom it means
            acts = named or share is not None
        if acts:
            cell = cells.write(cell, marks, word, kind)
            awaits = -2 - group if group >= 0 else SOMEBODY
            if named:
                self.holds[cell] = person
            elif cells.facts[cell, NAMELESS]:
                self.holds[cell] = awaits
        cells.tick(kind, cell if acts else None, marks)
        return made

    def _share(self, token: int, asked: Mask, right: Mask | None) -> Numbers | None:
        """What a token should choose (M + 1,), or None where nobody knows."""
        taught = self.taught.get(token)
        if taught is not None:
            taught = np.where(np.append(asked, True), taught, 0)
        if right is None:
            total = 0 if taught is None else taught.sum()
            return taught / total if taught is not None and total else None
        # Of several that are right, the teacher chooses
        return np.where(right, 1e-6 if taught is None else 1e-6 + taught, 0.0)

    def _right(self, token: int, person: int, group: int) -> Mask | None:
        """Which cells a token may link to by gold, and if to somebody new (M + 1,)."""
        holds = self.holds
        if person != NOBODY:
            awaited = [-2 - g for g, who in enumerate(self.people) if person in who]
            right = np.append(np.isin(holds, awaited), False)
            if right.any() or not self.taught:
                right[-1] = not right.any()
                return right
            return None
        if group < 0:
            return None
        mine = self.people[group]
        right = np.append(np.isin(holds, [*mine, -2 - group]), False)
        if mine:
            later = any(self.last[who] > token for who in mine)
            right[-1] = not right.any() and later
        elif not right.any():
            # Of a pronoun without a name it is only known whom it doesn't mean
            right[:-1] = (holds != NOBODY) & ~np.isin(holds, list(self.annotated))
            right[-1] = True
        return right


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
    said: Sequence[Said], decisions: Sequence[list[Decision]], weights: LossWeights
) -> tuple[float, list[Said]]:
    """The mean loss of a decision, and its gradient in what was said.

    weights (LossWeights): `coref` is what a decision counts that gold tells, and
        `other` one that a teacher does; the less, by `focus`, the more the reader
        agrees already: most of a biography's pronouns are easy.
    """
    rows = torch.from_numpy(np.concatenate([each.rows for each in said]))
    judge = torch.from_numpy(said[0].judge)
    rows.requires_grad_()
    judge.requires_grad_()
    starts = np.cumsum([0, *(len(each) for each in said)])[:-1]
    made = [
        each._replace(
            token=each.token + start,
            marks=np.where(each.marks < 0, -1, each.marks + start),
        )
        for some, start in zip(decisions, starts.tolist(), strict=True)
        for each in some
    ]
    loss = (
        _loss(rows, judge, made, weights) if made else rows.sum() * 0 + judge.sum() * 0
    )
    loss.backward()
    d_judge = judge.grad.numpy()  # type: ignore[union-attr]
    parts = np.split(rows.grad.numpy(), starts[1:])  # type: ignore[union-attr]
    # It is one judge's for all documents: its gradient goes with the first
    d_judges = [d_judge, *[np.zeros_like(d_judge)] * (len(said) - 1)]
    return loss.item(), [
        Said(part, d_judge, each.n_cells)
        for part, d_judge, each in zip(parts, d_judges, said, strict=True)
    ]


def _loss(
    rows: torch.Tensor,
    judge: torch.Tensor,
    made: list[Decision],
    weights: LossWeights,
) -> torch.Tensor:
    tokens = torch.tensor([each.token for each in made])  # (E,)
    marks = torch.from_numpy(np.stack([each.marks for each in made]))  # (E, M, 4)
    facts = torch.from_numpy(np.stack([each.facts for each in made])).float()
    asked = torch.from_numpy(np.stack([each.open for each in made]))  # (E, M)
    share = torch.from_numpy(np.stack([each.share for each in made])).float()
    certain = torch.tensor([each.certain for each in made])  # (E,)
    size = judge.shape[1]
    new, asks, query, _ = rows[tokens].split(
        [1, says.N_FACTS, size, says.N_MARKS * size], dim=1
    )
    said = rows[:, -says.N_MARKS * size :].unflatten(1, (says.N_MARKS, size))
    weigh, worth, products = judge.split([says.N_FACTS, 1, 1])
    query = query[:, None]  # (E, 1, D)
    seen = facts @ weigh  # (E, M, D)
    for mark in range(says.N_MARKS):
        which = marks[:, :, mark]  # (E, M)
        seen = seen + said[which.clamp(min=0), mark] * (which >= 0)[:, :, None]
    judged = torch.where(
        products[0] > 0, query * torch.tanh(seen), torch.relu(query + seen)
    )
    scores = judged @ worth[0] + torch.einsum("emf,ef->em", facts, asks)
    scores = scores.masked_fill(~asked, -torch.inf)
    chances = log_softmax(torch.cat([scores, new], dim=1), dim=1)  # (E, M + 1)
    possible = share > 0
    any_right = -torch.logsumexp(chances.masked_fill(~possible, -torch.inf), dim=1)
    as_taught = -(share * chances.masked_fill(~possible, 0.0)).sum(dim=1)
    agreed = (share * chances.exp()).sum(dim=1).detach().clamp(max=1)  # (E,)
    taught = weights.other * (1 - agreed) ** weights.focus
    weight = torch.where(certain, weights.coref, taught)
    return torch.where(certain, any_right, as_taught) @ (weight / weight.sum())
