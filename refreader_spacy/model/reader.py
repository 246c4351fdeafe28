"""The recurrent unit: reads tokens left to right and lets each one work the memory.

Documents are packed: sorted from long to short, all first tokens, then all second ones,
and so on. Padding never exists, so it can't change anything.

Shapes: N packed tokens, B documents, M memory cells, X input size, H hidden size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from refreader_spacy.model.memory import Cells, Memory, gru

EPS = 1e-10


class State(NamedTuple):
    """All that the reader knows between two tokens."""

    hidden: Tensor  # (B, H)
    cells: Cells


class Packed(NamedTuple):
    """What the reader did at each of N packed tokens."""

    update: Tensor  # (N, M)
    overwrite: Tensor  # (N, M)
    salience: Tensor  # (N, M)
    hidden: Tensor  # (N, H)
    state: State  # after each document's last token, in packed order


class Reader(nn.Module):
    """The Referential Reader: sections 2.1 and 2.2 of the paper."""

    def __init__(
        self,
        *,
        width: int,
        hidden_size: int,
        key_size: int,
        value_size: int,
        n_cells: int,
        entity_half_life: float,
        word_half_life: float,
        memory_bias: float,
        dropout: float,
    ) -> None:
        super().__init__()
        self.memory = Memory(
            n_cells=n_cells,
            hidden_size=hidden_size,
            key_size=key_size,
            value_size=value_size,
            entity_half_life=entity_half_life,
            word_half_life=word_half_life,
        )
        self.pre_hidden = nn.Linear(hidden_size, hidden_size, bias=False)
        self.pre_input = nn.Linear(width, hidden_size, bias=False)
        self.importance = nn.Linear(hidden_size, 1)
        nn.init.constant_(self.importance.bias, memory_bias)
        self.recurrence = nn.GRUCell(width, hidden_size)
        # What the memory sums up enters the hidden state, so the sizes must agree.
        self.summary = (
            nn.Identity()
            if value_size == hidden_size
            else nn.Linear(value_size, hidden_size, bias=False)
        )
        self.initial_hidden = nn.Parameter(torch.zeros(hidden_size))
        self.dropout = dropout

    def start(self, n_docs: int) -> State:
        """The state before the first token."""
        return State(
            self.initial_hidden.expand(n_docs, -1), self.memory.empty(n_docs)
        )

    def forward(
        self,
        tokens: Tensor,
        *,
        batch_sizes: Sequence[int],
        temperature: float = 1.0,
        state: State | None = None,
    ) -> Packed:
        """Read documents side by side.

        tokens (Tensor): Packed token vectors (N, X).
        batch_sizes (Sequence[int]): How many documents have a first token, a second
            one, and so on.
        temperature (float): Of the choice of the cell to overwrite, in training.
        state (State | None): Where an earlier reading of the same documents stopped.
        """
        sizes = list(batch_sizes) or [0]
        tokens = nn.functional.dropout(tokens, self.dropout, self.training)
        pre_inputs = self.pre_input(tokens).split(sizes)
        gru_inputs = nn.functional.linear(
            tokens, self.recurrence.weight_ih, self.recurrence.bias_ih
        ).split(sizes)
        drop_pre = self._drops(tokens, sizes)
        drop_hidden = self._drops(tokens, sizes)
        choices = self._choices(tokens, sizes)
        heads = fused([*self.memory.heads(), self.importance])

        hidden, cells = self.start(sizes[0]) if state is None else state
        steps = []
        finished: list[State] = []
        for t, size in enumerate(sizes):
            if size < len(hidden):
                finished.append(State(hidden[size:], Cells(*(c[size:] for c in cells))))
                hidden, cells = hidden[:size], Cells(*(c[:size] for c in cells))
            recalled = hidden if drop_hidden is None else hidden * drop_hidden[t]
            pre = torch.tanh(pre_inputs[t] + self.pre_hidden(recalled))
            if drop_pre is not None:
                pre = pre * drop_pre[t]
            *signals, importance = heads(pre)
            gates, cells = self.memory(
                self.memory.signals(signals),
                cells,
                None if choices is None else choices[t],
                temperature,
            )
            hidden = self._recur(gru_inputs[t], importance, hidden, cells)
            steps.append((gates.update, gates.overwrite, cells.salience, hidden))
        finished.append(State(hidden, cells))
        update, overwrite, salience, hidden = map(torch.cat, zip(*steps, strict=True))
        return Packed(update, overwrite, salience, hidden, _joined(finished[::-1]))

    def _recur(
        self, inputs: Tensor, importance: Tensor, hidden: Tensor, cells: Cells
    ) -> Tensor:
        summary = self.summary(torch.einsum("bm,bmv->bv", cells.salience, cells.values))
        use = torch.minimum(
            torch.sigmoid(importance), cells.salience.sum(dim=-1, keepdim=True)
        )  # (B, 1)
        mixed = torch.lerp(hidden, summary, use)  # (B, H)
        recurrent = nn.functional.linear(
            mixed, self.recurrence.weight_hh, self.recurrence.bias_hh
        )
        return gru(inputs, recurrent, mixed)

    def _drops(self, tokens: Tensor, sizes: list[int]) -> Sequence[Tensor] | None:
        """Dropout masks for a hidden vector of each token, drawn at once."""
        if not self.training or self.dropout == 0:
            return None
        ones = tokens.new_ones(len(tokens), len(self.initial_hidden))
        return nn.functional.dropout(ones, self.dropout).split(sizes)

    def _choices(self, tokens: Tensor, sizes: list[int]) -> Sequence[Tensor] | None:
        """Gumbel noise for each token's choice among the cells, drawn at once."""
        if not self.training:
            return None
        uniform = torch.rand(
            len(tokens), len(self.memory.initial_keys), device=tokens.device
        )
        return (-torch.log(-torch.log(uniform + EPS) + EPS)).split(sizes)


def fused(layers: Sequence[nn.Linear]) -> Callable[[Tensor], tuple[Tensor, ...]]:
    """Several linear layers that read the same vector, as one product."""
    sizes = [layer.out_features for layer in layers]
    weights = torch.cat([layer.weight for layer in layers]).T
    biases = torch.cat(
        [
            layer.weight.new_zeros(layer.out_features)
            if layer.bias is None
            else layer.bias
            for layer in layers
        ]
    )

    def apply(vectors: Tensor) -> tuple[Tensor, ...]:
        return torch.addmm(biases, vectors, weights).split(sizes, dim=-1)

    return apply


def _joined(parts: list[State]) -> State:
    hidden = torch.cat([part.hidden for part in parts])
    columns = zip(*(part.cells for part in parts), strict=True)
    return State(hidden, Cells(*(torch.cat(column) for column in columns)))
