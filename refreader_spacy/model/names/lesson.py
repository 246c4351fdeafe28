"""What tokens should have said: names by how they look, pronouns by gold clusters.

In training the memory does what is right, so each decision is learned by itself, and
all of a batch at once. Names need no gold: one that shares its first word with an
earlier one is the same person. Of whom a pronoun means, gold tells.

Shapes: T tokens, E decisions, M memory cells, S what a token says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax

from refreader_spacy.decode import NAME, Gender
from refreader_spacy.lexicon import GENDERS, word_kind, words
from refreader_spacy.model.names import says
from refreader_spacy.model.names.memory import Cells, Numbers, empty
from refreader_spacy.model.names.architecture import word_numbers
from refreader_spacy.model.names.says import Said
from refreader_spacy.model.types import Array
from refreader_spacy.training.gold import gold_groups

Mask = NDArray[np.bool_]

NAMES_WEIGHT = 0.3  # of decisions about names, beside those about pronouns
JOINING = words("de van von der la le di da du del bin al . - '")
NOBODY = words(
    "January February March April May June July August September October November "
    "December Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
)
PEOPLE = (Gender.HE, Gender.SHE)


class Decision(NamedTuple):
    """One token's choice among the cells."""

    token: int
    keys: NDArray[np.intp]  # which token wrote each cell's key (M,)
    facts: Numbers  # (M, 22)
    used: Mask  # (M,)
    right: Mask  # (M + 1,), last: somebody new
    pronoun: bool


class Lesson(NamedTuple):
    """What one document teaches."""

    mentions: Mask  # (T,)
    names: Mask  # (T,)
    decisions: list[Decision]


def lesson_of(example: Example, prefix: str, n_cells: int) -> Lesson:
    """Walk through a document, doing what is right."""
    doc = example.predicted
    named = names_of(doc)  # (T,)
    person = people_of(doc, named)  # (T,)
    gold = _gold(example, prefix)  # (T,)
    pronouns = pronouns_of(doc)  # (T,)
    people = [set(person[(gold == g) & named]) for g in range(gold.max(initial=-1) + 1)]
    numbers = word_numbers(doc)
    cells = Cells(*(f[0] for f in empty(np.zeros(0, np.float32), 1, n_cells, 0)))
    holds = np.full(n_cells, -1)  # who is in each cell
    decisions = []
    for token, word in enumerate(numbers.tolist()):
        cell: int | None = None
        acts = bool(named[token])
        right: Mask | None = None
        if named[token]:
            found = np.flatnonzero(holds == person[token])
            if not len(found):  # a pronoun may have come before the name
                awaited = [-2 - g for g, who in enumerate(people) if person[token] in who]
                found = np.flatnonzero(np.isin(holds, awaited))
            cell = int(found[0]) if len(found) else None
            right = np.zeros(n_cells + 1, dtype=bool)
            right[n_cells if cell is None else cell] = True
        elif pronouns[token] and gold[token] >= 0:
            right, acts = _meant(
                holds, people, gold[token], _later(person, named, token)
            )
        if right is not None and right.any():
            used = holds != -1
            decisions.append(
                Decision(
                    token,
                    cells.keys[:, 0].astype(np.intp),
                    cells.facts_now(word),
                    used,
                    right,
                    not named[token],
                )
            )
        if acts:
            key = np.array([token], np.float32)
            cell = cells.write(cell, key, word, bool(named[token]))
            holds[cell] = person[token] if named[token] else -2 - gold[token]
        cells.tick(word, bool(named[token]))
    return Lesson(named | pronouns, named, decisions)


def _meant(
    holds: NDArray[np.intp], people: list[set[int]], group: int, later: set[int]
) -> tuple[Mask, bool]:
    """Which cells a pronoun of a gold group may link to, and whether it is somebody new.

    holds: Who is in each cell (M,). later: Who is named after the pronoun.
    """
    right = np.zeros(len(holds) + 1, dtype=bool)
    mine = people[group]
    annotated = set().union(*people)
    right[:-1] = np.isin(holds, list(mine))
    if right.any():
        return right, False
    absent = annotated - set(holds.tolist())
    if mine:
        right[-1] = bool(mine & later)
        return right, bool(mine & later)
    # Of a pronoun without a name it is only known whom it doesn't mean
    right[:-1] = (holds != -1) & ~np.isin(holds, list(annotated))
    right[-1] = True
    return right, bool(absent & later)


def _later(person: NDArray[np.intp], named: Mask, token: int) -> set[int]:
    return set(person[token + 1 :][named[token + 1 :]].tolist())


def _gold(example: Example, prefix: str) -> NDArray[np.intp]:
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


def names_of(doc: Doc) -> Mask:
    """Which tokens look like part of a name (T,)."""
    texts = [token.text for token in doc]
    named = np.array(
        [
            bool(word_kind(text) & NAME) and text not in NOBODY and len(text) > 1
            for text in texts
        ],
        dtype=bool,
    ).reshape(len(texts))
    for i in range(1, len(texts) - 1):
        joins = texts[i] in JOINING and (texts[i] != "." or len(texts[i - 1]) <= 2)
        named[i] |= bool(named[i - 1] and named[i + 1] and joins)
    return named


def pronouns_of(doc: Doc) -> Mask:
    """Which tokens are pronouns for a woman or a man (T,)."""
    found = [GENDERS.get(token.lower_) in PEOPLE for token in doc]
    return np.array(found, dtype=bool).reshape(len(found))


def people_of(doc: Doc, named: Mask) -> NDArray[np.intp]:
    """Who each word of a name stands for, by number; -1 for other words (T,)."""
    person = np.full(len(doc), -1)
    latest: dict[str, int] = {}  # by word
    n_people = 0
    for i, token in enumerate(doc):
        if not named[i]:
            continue
        if i and named[i - 1]:
            person[i] = person[i - 1]
        elif token.text in latest:
            person[i] = latest[token.text]
        else:
            person[i] = n_people
            n_people += 1
        if len(token.text) > 1:
            latest[token.text] = person[i]
    return person


def lesson_loss(
    said: Sequence[Said], lessons: Sequence[Lesson]
) -> tuple[float, list[Said]]:
    """The mean loss of a decision, and its gradient in what was said.

    RETURNS: The loss of decisions about pronouns and, to a lesser part, about names; and
        of what is a mention at all.
    """
    lengths = [len(each) for each in said]
    rows = torch.from_numpy(np.concatenate([each.rows for each in said]))
    rows.requires_grad_()
    starts = np.cumsum([0, *lengths[:-1]])
    loss = _mention_loss(rows, lessons)
    made = list(_decisions(lessons, starts))
    for pronoun, weight in ((True, 1.0), (False, NAMES_WEIGHT)):
        some = [each for each in made if each.pronoun == pronoun]
        if some:
            loss = loss + weight * _decision_loss(rows, some)
    loss.backward()  # type: ignore[no-untyped-call]
    parts = np.split(rows.grad.numpy(), starts[1:])  # type: ignore[union-attr]
    return loss.item(), [
        Said(part, each.n_cells) for part, each in zip(parts, said, strict=True)
    ]


def _decisions(lessons: Sequence[Lesson], starts: Array) -> Iterator[Decision]:
    for lesson, start in zip(lessons, starts.tolist(), strict=True):
        for each in lesson.decisions:
            yield each._replace(token=each.token + start, keys=each.keys + start)


def _mention_loss(rows: torch.Tensor, lessons: Sequence[Lesson]) -> torch.Tensor:
    mentions = torch.from_numpy(np.concatenate([each.mentions for each in lessons]))
    names = torch.from_numpy(np.concatenate([each.names for each in lessons]))
    loss = binary_cross_entropy_with_logits(rows[:, 0], mentions.float())
    if mentions.any():
        is_name = rows[mentions, 1], names[mentions].float()
        loss = loss + binary_cross_entropy_with_logits(*is_name)
    return loss


def _decision_loss(rows: torch.Tensor, made: list[Decision]) -> torch.Tensor:
    tokens = torch.tensor([each.token for each in made])  # (E,)
    keys = torch.from_numpy(np.stack([each.keys for each in made]))  # (E, M)
    facts = torch.from_numpy(np.stack([each.facts for each in made])).float()
    used = torch.from_numpy(np.stack([each.used for each in made]))
    right = torch.from_numpy(np.stack([each.right for each in made]))  # (E, M + 1)
    key_size = (rows.shape[1] - says.N_GATES - says.N_FACTS) // 2
    _, query, asks, _ = rows[tokens].split(
        [says.N_GATES, key_size, says.N_FACTS, key_size], dim=1
    )
    scores = rows[keys, 3] + torch.einsum("emk,ek->em", rows[keys, -key_size:], query)
    scores = scores + torch.einsum("emf,ef->em", facts, asks)
    scores = scores.masked_fill(~used, -torch.inf)
    chances = log_softmax(torch.cat([scores, rows[tokens, 2:3]], dim=1), dim=1)
    return -torch.logsumexp(chances.masked_fill(~right, -torch.inf), dim=1).mean()
