"""The recurrent unit and what is said after each token.

Shapes: N packed tokens, B documents, X input size, H hidden size, G view size, K key
size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from refreader_spacy.names.says import N_FACTS, N_SCORES

MOMENTUM = 0.05  # of what the hidden states' mean and deviation are averaged with


class Packed(NamedTuple):
    """What was said at each of N packed tokens, and the hidden states."""

    said: Tensor  # (N, S)
    hidden: Tensor  # (N, H)


class Network(nn.Module):
    """A gated recurrent unit, and one view of it for all that is said."""

    def __init__(
        self,
        *,
        width: int,
        hidden_size: int,
        view_size: int,
        key_size: int,
        dropout: float,
        learn_recurrence: bool,
    ) -> None:
        super().__init__()
        self.key_size = key_size
        self.recurrence = nn.GRU(width, hidden_size)
        self.initial_hidden = nn.Parameter(torch.zeros(hidden_size))
        self.norm = nn.BatchNorm1d(2 * hidden_size, affine=False, momentum=MOMENTUM)
        self.view = nn.Linear(2 * hidden_size, view_size)
        self.scores = nn.Linear(view_size, N_SCORES)
        self.query = nn.Linear(view_size, key_size)
        self.facts = nn.Linear(view_size, N_FACTS)
        self.key = nn.Linear(view_size, key_size)
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
        if not len(tokens):
            size = N_SCORES + 2 * self.key_size + N_FACTS
            return Packed(tokens.new_zeros(0, size), tokens.new_zeros(0, 0))
        if self.learn_recurrence:
            tokens = drop(tokens, self.dropout / 2, self.training)
        sizes = torch.tensor(batch_sizes)
        start = self.initial_hidden.expand(1, batch_sizes[0], -1).contiguous()
        hidden = self.recurrence(PackedSequence(tokens, sizes), start)[0].data
        before = torch.cat([start[0], hidden])[_one_back(batch_sizes)]
        seen = self.norm(torch.cat([hidden, before], dim=-1))
        view = torch.tanh(self.view(drop(seen, self.dropout / 2, self.training)))
        view = drop(view, self.dropout, self.training)
        said = [
            self.scores(view),
            self.query(view) * (2 / math.sqrt(self.key_size)),
            self.facts(view),
            torch.tanh(self.key(view)),
        ]
        return Packed(torch.cat(said, dim=-1), hidden)

    def reset(self) -> None:
        """Draw fresh weights."""
        for module in self.modules():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset):
                reset()
        nn.init.zeros_(self.initial_hidden)


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
