"""The memory unit: cells with a key, a value and a salience, and its step.

Shapes: B documents, M memory cells, H hidden and value size, K key size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Cells(NamedTuple):
    """The memory after a token."""

    keys: Tensor  # (B, M, K)
    values: Tensor  # (B, M, H)
    salience: Tensor  # (B, M)


class Gates(NamedTuple):
    """The gates of one token."""

    update: Tensor  # (B, M)
    overwrite: Tensor  # (B, M)


class Signals(NamedTuple):
    """What is computed from a token's pre-recurrent state alone."""

    entity: Tensor  # (B, 1), is the token an entity mention?
    reference: Tensor  # (B, 1), of an entity mentioned before?
    query: Tensor  # (B, K)
    key: Tensor  # (B, K), overwrite candidate
    value: Tensor  # (B, H), overwrite candidate


def gru(inputs: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """A gated recurrent unit, given the projections of its input and of its state.

    The gates are in torch's order: reset, update, candidate.
    """
    size = hidden.shape[-1]
    reset, keep = torch.sigmoid(
        inputs[..., : 2 * size] + recurrent[..., : 2 * size]
    ).split(size, dim=-1)
    candidate = torch.tanh(
        torch.addcmul(inputs[..., 2 * size :], reset, recurrent[..., 2 * size :])
    )
    return torch.lerp(candidate, hidden, keep)


class Memory(nn.Module):
    """The cells' parameters and one step of reading."""

    def __init__(
        self,
        *,
        n_cells: int,
        hidden_size: int,
        key_size: int,
        entity_half_life: float,
        word_half_life: float,
        tolerance: float = 0.0,
    ) -> None:
        super().__init__()
        self.tolerance = tolerance
        # Values are summed up into a vector that takes the hidden state's place, so
        # they have its size.
        self.entity = nn.Linear(hidden_size, 1, bias=False)
        self.reference = nn.Linear(hidden_size, 1, bias=False)
        self.query_in = nn.Linear(hidden_size, key_size)
        self.query_out = nn.Linear(key_size, key_size)
        self.key_in = nn.Linear(hidden_size, key_size)
        self.key_out = nn.Linear(key_size, key_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.key_update = nn.GRUCell(key_size, key_size)
        self.value_update = nn.GRUCell(hidden_size, hidden_size)
        # The paper adds b to every cell's score inside the softmax over cells, where
        # one number added to all changes nothing. It is meant to weigh a link against
        # a new entity, so the softmax here has one more place, with score 0: no link.
        self.link_bias = nn.Parameter(torch.empty(1))
        self.initial_keys = nn.Parameter(torch.empty(n_cells, key_size))
        self.initial_values = nn.Parameter(torch.empty(n_cells, hidden_size))
        self.entity_decay = math.exp(math.log(0.5) / entity_half_life)
        self.word_decay = math.exp(math.log(0.5) / word_half_life)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fresh weights for the parameters that belong to no layer."""
        nn.init.zeros_(self.link_bias)
        nn.init.normal_(self.initial_keys, std=0.1)
        nn.init.normal_(self.initial_values, std=0.1)

    def empty(self, n_docs: int) -> Cells:
        """The cells before the first token: learned content, no salience."""
        n_cells, _ = self.initial_keys.shape
        return Cells(
            self.initial_keys.expand(n_docs, -1, -1),
            self.initial_values.expand(n_docs, -1, -1),
            self.initial_keys.new_zeros(n_docs, n_cells),
        )

    def heads(self) -> list[nn.Linear]:
        """The layers that read the pre-recurrent state, for one fused product."""
        return [self.entity, self.reference, self.query_in, self.key_in, self.value]

    def signals(self, heads: Sequence[Tensor]) -> Signals:
        """heads (Sequence[Tensor]): The outputs of the layers of `heads`, in order."""
        entity, reference, query, key, value = heads
        entity = torch.sigmoid(entity)
        key = torch.tanh(key)
        return Signals(
            entity,
            torch.sigmoid(reference) * entity,
            self.query_out(torch.tanh(query)),
            key + torch.tanh(self.key_out(key)),
            torch.tanh(value),
        )

    def forward(
        self, signals: Signals, cells: Cells, choice: Tensor | None, temperature: float
    ) -> tuple[Gates, Cells]:
        """One token's updates and overwrites.

        choice (Tensor | None): Gumbel noise (B, M) that makes the choice of the cell to
            overwrite soft, at this temperature; None takes the least salient one.
        """
        keys, values, salience = cells
        scores = torch.einsum("bmk,bk->bm", keys, signals.query)  # (B, M)
        scores = scores + self.link_bias
        no_link = scores.new_zeros(len(scores), 1)
        match = torch.softmax(torch.cat([scores, no_link], dim=-1), dim=-1)[:, :-1]
        update = torch.minimum(signals.reference * match, 2 * salience)  # (B, M)
        remaining = signals.entity - update.sum(dim=-1, keepdim=True)  # (B, 1)
        if choice is None:
            place = torch.zeros_like(salience).scatter_(
                1, salience.argmin(dim=-1, keepdim=True), 1.0
            )
        else:
            place = torch.softmax((choice - salience) / temperature, dim=-1)
        overwrite = remaining * place  # (B, M)
        keep = 1 - update - overwrite  # (B, M)

        decay = torch.lerp(
            torch.full_like(signals.entity, self.word_decay),
            torch.full_like(signals.entity, self.entity_decay),
            signals.entity,
        )  # (B, 1)
        salience = decay * keep * salience + update + overwrite
        # Not in the paper: most gates are close to 0, and applying them is most of the
        # work, so below the tolerance keys and values don't change.
        gates = Gates(update, overwrite)
        written = Gates(*(torch.where(g < self.tolerance, 0.0, g) for g in gates))
        keys = _write(self.key_update, keys, signals.key, written)
        values = _write(self.value_update, values, signals.value, written)
        return gates, Cells(keys, values, salience)


def _write(cell: nn.GRUCell, old: Tensor, new: Tensor, gates: Gates) -> Tensor:
    """Mix the old content, the candidate, and the content updated by the candidate.

    The candidate's projection is the same for all cells, so it is computed once.
    """
    inputs = nn.functional.linear(new, cell.weight_ih, cell.bias_ih)  # (B, 3 * size)
    recurrent = nn.functional.linear(old, cell.weight_hh, cell.bias_hh)
    updated = gru(inputs[:, None], recurrent, old)  # (B, M, size)
    update, overwrite = (gate[..., None] for gate in gates)  # (B, M, 1)
    keep = 1 - update - overwrite
    return update * updated + overwrite * new[:, None] + keep * old
