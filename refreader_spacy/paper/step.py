"""One token of each document, with its gradient written out.

Shapes: N packed tokens, B documents at a step, M cells, H hidden and value size, K key
size, S size of a cell's content (its key, then its value), C output size of all heads,
R cells that are updated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

tanh_gradient = torch.ops.aten.tanh_backward.default
sigmoid_gradient = torch.ops.aten.sigmoid_backward.default


class LoopWeights(NamedTuple):
    """The parameters that the loop reads, weights before their biases."""

    pre: Tensor  # (H, H)
    heads: Tensor  # (C, H)
    heads_bias: Tensor
    query: Tensor  # (K, K)
    query_bias: Tensor
    key: Tensor  # (K, K)
    key_bias: Tensor
    content_ih: Tensor  # (3S, S)
    content_ih_bias: Tensor
    content_hh: Tensor  # (3S, S)
    content_hh_bias: Tensor
    hidden_hh: Tensor  # (3H, H)
    hidden_hh_bias: Tensor
    link_bias: Tensor  # (1,)


class Constants(NamedTuple):
    """Inputs of the loop without a gradient."""

    sizes: Sequence[int]  # documents at each step
    drop_pre: Tensor | None  # (N, H)
    drop_hidden: Tensor | None  # (N, H)
    noise: Tensor  # (N, M)
    temperature: float
    entity_decay: float
    word_decay: float
    tolerance: float  # gates below it leave a cell's content as it is


class Carried(NamedTuple):
    """The state between two steps, or its gradient."""

    hidden: Tensor  # (B, H)
    content: Tensor  # (B, M, S)
    salience: Tensor  # (B, M)


class Gru:
    """A gated recurrent unit, forward and back, given both its projections."""

    def __init__(self, inputs: Tensor, recurrent: Tensor, state: Tensor) -> None:
        size = state.shape[-1]
        self.state = state
        self.last = recurrent[..., 2 * size :]
        self.gates = inputs[..., : 2 * size] + recurrent[..., : 2 * size]
        self.reset, self.keep = self.gates.sigmoid_().split(size, dim=-1)
        self.candidate = torch.addcmul(
            inputs[..., 2 * size :], self.reset, self.last
        ).tanh_()
        self.new = torch.lerp(self.candidate, state, self.keep)

    def backward(self, d_new: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """RETURNS: The gradients of the inputs, of the projection and of the state."""
        d_state = d_new * self.keep
        d_candidate = tanh_gradient(d_new - d_state, self.candidate)
        d_gates = torch.cat(
            [d_candidate * self.last, d_new * (self.state - self.candidate)], dim=-1
        )
        d_gates = sigmoid_gradient(d_gates, self.gates)
        d_inputs = torch.cat([d_gates, d_candidate], dim=-1)
        d_recurrent = torch.cat([d_gates, d_candidate * self.reset], dim=-1)
        return d_inputs, d_recurrent, d_state


class CellContents:
    """The content of all cells: one write, forward and back.

    The new content mixes the old content, the candidate, and the old content updated by
    the candidate. The last is most of the reader's work, and only computed for the R
    cells that a token updates by more than the tolerance.
    """

    def __init__(
        self,
        old: Tensor,
        candidate: Tensor,
        gates: tuple[Tensor, Tensor],
        updated: Tensor,
        w: LoopWeights,
    ) -> None:
        """updated (Tensor): Which cells of all documents, laid end to end (R,)."""
        self.updated = updated
        _, n_cells, size = old.shape
        self.docs = torch.div(updated, n_cells, rounding_mode="floor")  # (R,)
        self.update = gates[0].reshape(-1, 1)[updated]  # (R, 1)
        self.overwrite = gates[1][..., None]  # (B, M, 1)
        self.candidate = candidate[self.docs]  # (R, size)
        self.old = old.reshape(-1, size)[updated]  # (R, size)
        self.gru = Gru(
            torch.addmm(w.content_ih_bias, self.candidate, w.content_ih.T),
            torch.addmm(w.content_hh_bias, self.old, w.content_hh.T),
            self.old,
        )
        self.gain = self.gru.new - self.old  # (R, size)
        self.change = candidate[:, None] - old  # (B, M, size)
        self.new = torch.addcmul(old, self.overwrite, self.change)
        self.new.view(-1, size).index_add_(0, updated, self.update * self.gain)

    def backward(self, d_new: Tensor, w: LoopWeights) -> tuple[Tensor, ...]:
        """RETURNS: The gradients of the old content, the candidate and both gates."""
        size = d_new.shape[-1]
        d_overwrite = (d_new * self.change).sum(dim=-1)  # (B, M)
        d_written = self.overwrite * d_new
        d_candidate = d_written.sum(dim=1)  # (B, size)
        d_old = d_new - d_written
        d_rows = d_new.view(-1, size)[self.updated]  # (R, size)
        d_update = torch.zeros_like(d_overwrite)
        d_update.view(-1)[self.updated] = (d_rows * self.gain).sum(dim=-1)
        d_rows *= self.update
        self.d_inputs, self.d_recurrent, d_kept = self.gru.backward(d_rows)
        d_candidate.index_add_(0, self.docs, self.d_inputs @ w.content_ih)
        d_kept.addmm_(self.d_recurrent, w.content_hh).sub_(d_rows)
        d_old.view(-1, size).index_add_(0, self.updated, d_kept)
        return d_old, d_candidate, d_update, d_overwrite


class Step:
    """One token of each document: forward when created, then backward."""

    def __init__(
        self,
        pre_input: Tensor,
        gru_input: Tensor,
        before: Carried,
        constants: Constants,
        place: slice,
        w: LoopWeights,
    ) -> None:
        self.before, self.constants, self.place = before, constants, place
        hidden, content, salience = before
        size = hidden.shape[-1]
        self.key_size = key_size = content.shape[-1] - size
        keys = content[..., :key_size]
        self.recalled = _dropped(hidden, constants.drop_hidden, place)
        self.bare = torch.addmm(pre_input, self.recalled, w.pre.T).tanh_()
        self.pre = _dropped(self.bare, constants.drop_pre, place)
        heads = torch.addmm(w.heads_bias, self.pre, w.heads.T)
        self.gates, self.projected = heads[:, :3].sigmoid(), heads[:, 3:].tanh()
        self.use, self.entity, self.known = self.gates.split(1, dim=-1)
        self.query_in, self.key_in, value = self.projected.split(
            [key_size, key_size, size], dim=-1
        )
        self.query = torch.addmm(w.query_bias, self.query_in, w.query.T)
        self.key_out = torch.addmm(w.key_bias, self.key_in, w.key.T).tanh_()

        scores = (keys @ self.query[..., None]).squeeze(dim=-1) + w.link_bias
        scores = torch.nn.functional.pad(scores, (0, 1))
        self.match = torch.softmax(scores, dim=-1)[:, :-1]
        self.reference = self.known * self.entity
        proposed = self.reference * self.match
        self.clipped = proposed > 2 * salience
        self.update = torch.where(self.clipped, 2 * salience, proposed)
        self.remaining = self.entity - self.update.sum(dim=-1, keepdim=True)
        self.choice = torch.softmax(
            (constants.noise[place] - salience) / constants.temperature, dim=-1
        )
        self.overwrite = self.remaining * self.choice
        self.keep = 1 - self.update - self.overwrite
        self.decay = (
            constants.word_decay
            + (constants.entity_decay - constants.word_decay) * self.entity
        )
        new_salience = self.decay * self.keep * salience + self.update + self.overwrite

        updated = self.update.view(-1) >= constants.tolerance
        self.replaced = self.overwrite >= constants.tolerance
        self.cells = CellContents(
            content,
            torch.cat([self.key_in + self.key_out, value], dim=-1),
            (self.update, self.overwrite * self.replaced),
            updated.nonzero().squeeze(dim=1),
            w,
        )
        self.values = self.cells.new[..., key_size:]
        self.summary = (new_salience[:, None] @ self.values).squeeze(dim=1)
        total = new_salience.sum(dim=-1, keepdim=True)
        self.scarce = total < self.use
        self.amount = torch.where(self.scarce, total, self.use)
        mixed = torch.lerp(hidden, self.summary, self.amount)
        recurrent = torch.addmm(w.hidden_hh_bias, mixed, w.hidden_hh.T)
        self.gru = Gru(gru_input, recurrent, mixed)
        self.after = Carried(self.gru.new, self.cells.new, new_salience)

    def backward(
        self, d: Carried, d_update: Tensor, d_overwrite: Tensor, w: LoopWeights
    ) -> Carried:
        """Gradients of the state after the token and of its gates -> of that before.

        Those of the projections are kept until all steps are done. `d` is overwritten.
        """
        before, constants = self.before, self.constants
        self.d_gru_input, self.d_hidden_hh, d_mixed = self.gru.backward(d.hidden)
        d_mixed.addmm_(self.d_hidden_hh, w.hidden_hh)
        d_amount = (d_mixed * (self.summary - before.hidden)).sum(dim=-1, keepdim=True)
        d_summary = self.amount * d_mixed
        d_hidden = d_mixed - d_summary
        d_total = d_amount * self.scarce
        d_use = d_amount - d_total
        d_salience = d.salience + d_total
        d_salience += (self.values @ d_summary[..., None]).squeeze(dim=-1)
        d.content[..., self.key_size :].addcmul_(
            self.after.salience[..., None], d_summary[:, None]
        )

        d_content, d_candidate, by_update, by_overwrite = self.cells.backward(
            d.content, w
        )
        d_key, d_value = d_candidate.split(
            [self.key_size, before.hidden.shape[-1]], dim=-1
        )
        d_keep = d_salience * self.decay * before.salience
        d_written = d_salience - d_keep
        d_update = d_update + by_update + d_written
        d_overwrite = d_overwrite + by_overwrite * self.replaced + d_written
        d_decay = (d_salience * self.keep * before.salience).sum(dim=-1, keepdim=True)
        d_salience = d_salience * self.decay * self.keep

        d_remaining = (d_overwrite * self.choice).sum(dim=-1, keepdim=True)
        d_salience -= (
            _softmax_gradient(self.choice, d_overwrite * self.remaining)
            / constants.temperature
        )
        d_update = d_update - d_remaining
        d_salience += 2 * d_update * self.clipped
        d_proposed = d_update * ~self.clipped
        d_reference = (d_proposed * self.match).sum(dim=-1, keepdim=True)
        self.d_scores = _softmax_gradient(self.match, d_proposed * self.reference)
        d_entity = (
            d_decay * (constants.entity_decay - constants.word_decay)
            + d_remaining
            + d_reference * self.known
        )
        keys = before.content[..., : self.key_size]
        d_content[..., : self.key_size].addcmul_(
            self.d_scores[..., None], self.query[:, None]
        )
        self.d_query = (self.d_scores[:, None] @ keys).squeeze(dim=1)

        self.d_key_out = tanh_gradient(d_key, self.key_out)
        d_key_in = torch.addmm(d_key, self.d_key_out, w.key)
        d_gates = torch.cat([d_use, d_entity, d_reference * self.entity], dim=-1)
        d_projected = torch.cat([self.d_query @ w.query, d_key_in, d_value], dim=-1)
        self.d_heads = torch.cat(
            [
                sigmoid_gradient(d_gates, self.gates),
                tanh_gradient(d_projected, self.projected),
            ],
            dim=-1,
        )
        d_pre = _dropped(self.d_heads @ w.heads, constants.drop_pre, self.place)
        self.d_pre_input = tanh_gradient(d_pre, self.bare)
        d_recalled = self.d_pre_input @ w.pre
        d_hidden += _dropped(d_recalled, constants.drop_hidden, self.place)
        return Carried(d_hidden, d_content, d_salience)


def _dropped(vectors: Tensor, mask: Tensor | None, place: slice) -> Tensor:
    return vectors if mask is None else vectors * mask[place]


def _softmax_gradient(values: Tensor, d_values: Tensor) -> Tensor:
    return values * (d_values - (values * d_values).sum(dim=-1, keepdim=True))
