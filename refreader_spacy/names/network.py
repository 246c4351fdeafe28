"""The recurrent unit and what is said after each token.

Shapes: N packed tokens, B documents, X input size, H hidden size, G view size, D size
of what is judged, S what a token says.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from refreader_spacy.names.says import N_FACTS, N_MARKS

MOMENTUM = 0.05  # of what the hidden states' mean and deviation are averaged with


class Packed(NamedTuple):
    """What was said at each of N packed tokens, and how it is judged."""

    said: Tensor  # (N, S)
    judge: Tensor  # (40 + 2, D)


class Network(nn.Module):
    """A gated recurrent unit, one view of it for all that is said, and the judge.

    Whom a pronoun means is a matter of what it asks, of what is remembered of somebody
    and of facts about them: the three are added up, and a layer judges the sum. In some
    of its units, the first may instead be multiplied with the sum of the others.
    """

    def __init__(
        self,
        *,
        width: int,
        hidden_size: int,
        view_size: int,
        judged_size: int,
        dropout: float,
        learn_recurrence: bool,
        products: int = 0,
    ) -> None:
        super().__init__()
        self.recurrence = nn.GRU(width, hidden_size)
        self.initial_hidden = nn.Parameter(torch.zeros(hidden_size))
        self.norm = nn.BatchNorm1d(2 * hidden_size, affine=False, momentum=MOMENTUM)
        self.view = nn.Linear(2 * hidden_size, view_size)
        self.new = nn.Linear(view_size, 1)
        self.asks = nn.Linear(view_size, N_FACTS)
        self.query = nn.Linear(view_size, judged_size)
        self.marks = nn.Linear(view_size, N_MARKS * judged_size, bias=False)
        self.facts = nn.Linear(N_FACTS, judged_size, bias=False)
        self.worth = nn.Linear(judged_size, 1, bias=False)
        self.products = products
        self.dropout = dropout
        self.learn_recurrence = learn_recurrence
        self.recurrence.requires_grad_(learn_recurrence)
        self.initial_hidden.requires_grad_(learn_recurrence)

    def forward(self, tokens: Tensor, *, batch_sizes: Sequence[int]) -> Packed:
        """Read documents side by side.

        tokens (Tensor): Packed token vectors (N, X).
        batch_sizes (Sequence[int]): How many documents have a first token, a second
            one, and so on.
        """
        drop = nn.functional.dropout
        products = torch.zeros_like(self.worth.weight)
        products[:, products.shape[1] - self.products :] = 1
        judge = torch.cat([self.facts.weight.T, self.worth.weight, products])
        heads = [self.new, self.asks, self.query, self.marks]
        if not len(tokens):
            size = sum(head.out_features for head in heads)
            return Packed(tokens.new_zeros(0, size), judge)
        if self.learn_recurrence:
            tokens = drop(tokens, self.dropout / 2, self.training)
        sizes = torch.tensor(batch_sizes)
        start = self.initial_hidden.expand(1, batch_sizes[0], -1).contiguous()
        hidden = self.recurrence(PackedSequence(tokens, sizes), start)[0].data
        before = torch.cat([start[0], hidden])[_one_back(batch_sizes)]
        seen = self.norm(torch.cat([hidden, before], dim=-1))
        view = torch.tanh(self.view(drop(seen, self.dropout / 2, self.training)))
        view = drop(view, self.dropout, self.training)
        return Packed(torch.cat([head(view) for head in heads], dim=-1), judge)

    def reset(self) -> None:
        """Draw fresh weights."""
        for module in self.modules():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset):
                reset()
        nn.init.zeros_(self.initial_hidden)
        # What never comes in training changes nothing later, as the pronouns before
        # another where only that one is labelled
        for head in (self.asks, self.marks, self.facts):
            for parameter in head.parameters():
                nn.init.zeros_(parameter)


def _one_back(batch_sizes: Sequence[int]) -> Tensor:
    """For each packed token, its document's place one token earlier.

    The first B places are what the documents began with, the tokens come after them.
    """
    first = batch_sizes[0]
    places, start = [torch.arange(first)], first
    for before, size in pairwise(batch_sizes):
        places.append(torch.arange(start, start + size))
        start += before
    return torch.cat(places)
