"""The recurrent unit: reads tokens left to right, each of which updates the memory.

Documents are packed: sorted from long to short, all first tokens, then all second ones,
and so on. So there is no padding.

Shapes: N packed tokens, B documents, M memory cells, X input size, H hidden and value
size, K key size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from refreader_spacy.paper.memory import Cells, Memory, gru
from refreader_spacy.paper.step import Constants
from refreader_spacy.paper.unrolled import Unrolled

EPS = 1e-10


class NetworkState(NamedTuple):
    """The network's state between two tokens."""

    hidden: Tensor  # (B, H)
    keys: Tensor  # (B, M, K)
    values: Tensor  # (B, M, H)
    salience: Tensor  # (B, M)


class Packed(NamedTuple):
    """The network's output at each of N packed tokens."""

    update: Tensor  # (N, M)
    overwrite: Tensor  # (N, M)
    salience: Tensor  # (N, M)
    hidden: Tensor  # (N, H)
    state: NetworkState  # after each document's last token, in packed order


class Noise(NamedTuple):
    """The random numbers of training, for all tokens."""

    drop_pre: Tensor  # (N, H), 0 or 1 / (1 - dropout)
    drop_hidden: Tensor  # (N, H)
    choice: Tensor  # (N, M), Gumbel


class PaperNetwork(nn.Module):
    """The Referential Reader: sections 2.1 and 2.2 of the paper."""

    def __init__(
        self,
        *,
        width: int,
        hidden_size: int,
        key_size: int,
        n_cells: int,
        entity_half_life: float,
        word_half_life: float,
        memory_bias: float,
        dropout: float,
        tolerance: float = 0.0,
    ) -> None:
        super().__init__()
        self.memory = Memory(
            n_cells=n_cells,
            hidden_size=hidden_size,
            key_size=key_size,
            entity_half_life=entity_half_life,
            word_half_life=word_half_life,
            tolerance=tolerance,
        )
        self.pre_hidden = nn.Linear(hidden_size, hidden_size, bias=False)
        self.pre_input = nn.Linear(width, hidden_size, bias=False)
        self.importance = nn.Linear(hidden_size, 1)
        self.recurrence = nn.GRUCell(width, hidden_size)
        self.initial_hidden = nn.Parameter(torch.empty(hidden_size))
        self.memory_bias = memory_bias
        self.dropout = dropout
        self.reset()

    def forward(
        self,
        tokens: Tensor,
        *,
        batch_sizes: Sequence[int],
        temperature: float = 1.0,
        state: NetworkState | None = None,
    ) -> Packed:
        """Read documents side by side.

        tokens (Tensor): Packed token vectors (N, X).
        batch_sizes (Sequence[int]): How many documents have a first token, a second
            one, and so on.
        temperature (float): Of the choice of the cell to overwrite, in training.
        state (NetworkState | None): Where an earlier reading of them stopped.
        """
        sizes = list(batch_sizes) or [0]
        state = self.start(sizes[0]) if state is None else state
        if not self.training:
            return self.read(tokens, sizes, state)
        tokens = tokens * self._mask(tokens, tokens.shape[-1])
        return self.read_to_learn(tokens, sizes, state, self.noise(tokens), temperature)

    def reset(self) -> None:
        """Draw fresh weights."""
        for module in self.modules():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset):
                reset()
        nn.init.zeros_(self.initial_hidden)
        nn.init.constant_(self.importance.bias, self.memory_bias)

    def renew_memory(self) -> None:
        """Fresh weights for all but a recurrent unit that was trained without memory.

        The pre-recurrent state starts with the unit's candidate weights: the equations
        have the same form.
        """
        trained = {k: v.clone() for k, v in self.recurrence.state_dict().items()}
        initial = self.initial_hidden.detach().clone()
        self.reset()
        self.recurrence.load_state_dict(trained)
        with torch.no_grad():
            self.initial_hidden.copy_(initial)
            self.pre_input.weight.copy_(trained["weight_ih"].chunk(3)[2])
            self.pre_hidden.weight.copy_(trained["weight_hh"].chunk(3)[2])

    def start(self, n_docs: int) -> NetworkState:
        """The state before the first token."""
        hidden = self.initial_hidden.expand(n_docs, -1)
        return NetworkState(hidden, *self.memory.empty(n_docs))

    def noise(self, tokens: Tensor) -> Noise:
        """Dropout masks and Gumbel noise for these tokens."""
        size, n_cells = len(self.initial_hidden), len(self.memory.initial_keys)
        uniform = torch.rand(len(tokens), n_cells, device=tokens.device)
        gumbel = -torch.log(-torch.log(uniform + EPS) + EPS)
        return Noise(self._mask(tokens, size), self._mask(tokens, size), gumbel)

    def _mask(self, tokens: Tensor, size: int) -> Tensor:
        """A dropout mask, four times as fast as torch's own."""
        kept = torch.rand(len(tokens), size, device=tokens.device) >= self.dropout
        return kept.to(tokens.dtype) / max(1 - self.dropout, EPS)

    def read(
        self,
        tokens: Tensor,
        sizes: list[int],
        state: NetworkState,
        noise: Noise | None = None,
        temperature: float = 1.0,
    ) -> Packed:
        """The reference implementation, step by step.

        noise (Noise | None): None reads as inference does.
        """
        pre_inputs, gru_inputs = (x.split(sizes) for x in self._projections(tokens))
        drawn = [None] * len(sizes) if noise is None else _by_step(noise, sizes)
        heads = fused(self._heads())
        hidden, cells = state.hidden, Cells(*state[1:])
        steps = []
        finished: list[NetworkState] = []
        for pre_input, gru_input, draw in zip(
            pre_inputs, gru_inputs, drawn, strict=True
        ):
            size = len(pre_input)
            if size < len(hidden):
                ended = (field[size:] for field in (hidden, *cells))
                finished.append(NetworkState(*ended))
                hidden, cells = hidden[:size], Cells(*(c[:size] for c in cells))
            recalled = hidden * draw.drop_hidden if draw else hidden
            pre = torch.tanh(pre_input + self.pre_hidden(recalled))
            use, *outputs = heads(pre * draw.drop_pre if draw else pre)
            gates, cells = self.memory(
                self.memory.signals(outputs),
                cells,
                draw.choice if draw else None,
                temperature,
            )
            summary = torch.einsum("bm,bmh->bh", cells.salience, cells.values)
            amount = torch.minimum(
                torch.sigmoid(use), cells.salience.sum(dim=-1, keepdim=True)
            )  # (B, 1)
            mixed = torch.lerp(hidden, summary, amount)
            recurrent = nn.functional.linear(
                mixed, self.recurrence.weight_hh, self.recurrence.bias_hh
            )
            hidden = gru(gru_input, recurrent, mixed)
            steps.append((gates.update, gates.overwrite, cells.salience, hidden))
        finished.append(NetworkState(hidden, *cells))
        update, overwrite, salience, hidden = map(torch.cat, zip(*steps, strict=True))
        return Packed(update, overwrite, salience, hidden, _joined(finished[::-1]))

    def read_to_learn(
        self,
        tokens: Tensor,
        sizes: list[int],
        state: NetworkState,
        noise: Noise,
        temperature: float,
    ) -> Packed:
        """The same with the gradient written out, in half of autograd's time."""
        memory = self.memory
        hidden, keys, values, salience = state
        decays = memory.entity_decay, memory.word_decay
        constants = Constants(sizes, *noise, temperature, *decays, memory.tolerance)
        heads, heads_bias = fused_weights(self._heads())
        weights = (
            self.pre_hidden.weight,
            heads,
            heads_bias,
            *memory.query_out.parameters(),
            *memory.key_out.parameters(),
            *_side_by_side(memory.key_update, memory.value_update),
            self.recurrence.weight_hh,
            self.recurrence.bias_hh,
            memory.link_bias,
        )
        inputs = self._projections(tokens)
        outputs: tuple[Tensor, ...] = Unrolled.apply(
            *inputs,
            constants,
            hidden,
            torch.cat([keys, values], dim=-1),
            salience,
            *weights,
        )  # type: ignore[no-untyped-call]
        update, overwrite, saliences, hiddens, hidden, content, salience = outputs
        keys, values = content.split([keys.shape[-1], values.shape[-1]], dim=-1)
        state = NetworkState(hidden, keys, values, salience)
        return Packed(update, overwrite, saliences, hiddens, state)

    def _heads(self) -> list[nn.Linear]:
        return [self.importance, *self.memory.heads()]

    def _projections(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The projections of the inputs, one product each over all tokens."""
        return self.pre_input(tokens), nn.functional.linear(
            tokens, self.recurrence.weight_ih, self.recurrence.bias_ih
        )


def fused_weights(layers: Sequence[nn.Linear]) -> tuple[Tensor, Tensor]:
    """Several linear layers that read the same vector, as one."""
    weights: list[Tensor] = [layer.weight for layer in layers]
    biases = [
        layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias
        for layer in layers
    ]
    return torch.cat(weights), torch.cat(tuple(biases))


def fused(layers: Sequence[nn.Linear]) -> Callable[[Tensor], tuple[Tensor, ...]]:
    """Several linear layers that read the same vector, as one product."""
    weights, biases = fused_weights(layers)
    sizes = [layer.out_features for layer in layers]
    return lambda vectors: torch.addmm(biases, vectors, weights.T).split(sizes, dim=-1)


def _side_by_side(*cells: nn.GRUCell) -> tuple[Tensor, ...]:
    """Independent units as one with block-diagonal weights: fewer, larger products."""

    def weight(name: str) -> Tensor:
        parts = (getattr(cell, name).chunk(3) for cell in cells)
        return torch.cat([torch.block_diag(*gate) for gate in zip(*parts, strict=True)])

    def bias(name: str) -> Tensor:
        parts = (getattr(cell, name).chunk(3) for cell in cells)
        return torch.cat([torch.cat(gate) for gate in zip(*parts, strict=True)])

    return weight("weight_ih"), bias("bias_ih"), weight("weight_hh"), bias("bias_hh")


def _by_step(noise: Noise, sizes: list[int]) -> list[Noise]:
    return [Noise(*draw) for draw in zip(*(x.split(sizes) for x in noise), strict=True)]


def _joined(parts: list[NetworkState]) -> NetworkState:
    return NetworkState(*map(torch.cat, zip(*parts, strict=True)))
