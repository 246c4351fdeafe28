"""The reader's loop for training: the same equations, with the gradient written out.

Autograd would split every weight's gradient into one small product a step and keep
thousands of nodes; here it is one product over all tokens, which halves the time of
an epoch. The loop of `PaperNetwork.read` is the reference: a test compares the two.

Shapes: N packed tokens, M cells, H hidden size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from refreader_spacy.paper.step import Carried, Constants, LoopWeights, Step


class Unrolled(torch.autograd.Function):
    """All steps of a packed batch."""

    @staticmethod
    def forward(
        ctx: Any,
        pre_inputs: Tensor,
        gru_inputs: Tensor,
        constants: Constants,
        *rest: Tensor,
    ) -> tuple[Tensor, ...]:
        """pre_inputs (Tensor): The input's part of the pre-recurrent states (N, H).
        gru_inputs (Tensor): The input's part of the hidden state's gates (N, 3H).
        rest (Tensor): The fields of the first Carried, then those of LoopWeights.
        RETURNS: update, overwrite, salience (N, M) and hidden (N, H) of each token,
            then the fields of the Carried after each document's last token.
        """
        carried, w = Carried(*rest[:3]), LoopWeights(*rest[3:])
        column_major = LoopWeights(*map(_column_major, w))
        steps: list[Step] = []
        ends: list[Carried] = []
        for place in _places(constants.sizes):
            n = place.stop - place.start
            if n < len(carried.hidden):
                ends.append(Carried(*(field[n:] for field in carried)))
                carried = Carried(*(field[:n] for field in carried))
            steps.append(
                Step(
                    pre_inputs[place],
                    gru_inputs[place],
                    carried,
                    constants,
                    place,
                    column_major,
                )
            )
            carried = steps[-1].after
        ends.append(carried)
        ctx.steps, ctx.w = steps, w
        return (
            torch.cat([step.update for step in steps]),
            torch.cat([step.overwrite for step in steps]),
            torch.cat([step.after.salience for step in steps]),
            torch.cat([step.after.hidden for step in steps]),
            *(torch.cat(field) for field in zip(*reversed(ends), strict=True)),
        )

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        d_update, d_overwrite, d_salience, d_hidden, *d_ends = gradients
        steps: list[Step] = ctx.steps
        d = Carried(*(field[:0] for field in d_ends))
        for step in reversed(steps):
            place, n = step.place, len(step.update)
            if n > len(d.hidden):  # documents that end here
                ending = slice(len(d.hidden), n)
                d = Carried(
                    *(
                        torch.cat([later, end[ending]])
                        for later, end in zip(d, d_ends, strict=True)
                    )
                )
            d = step.backward(
                d._replace(
                    hidden=d.hidden + d_hidden[place],
                    salience=d.salience + d_salience[place],
                ),
                d_update[place],
                d_overwrite[place],
                ctx.w,
            )
        del ctx.steps
        return (
            torch.cat([step.d_pre_input for step in steps]),
            torch.cat([step.d_gru_input for step in steps]),
            None,
            *d,
            *_weight_gradients(steps),
        )


def _weight_gradients(steps: list[Step]) -> tuple[Tensor, ...]:
    """Each weight's gradient, a product over all tokens, in LoopWeights' order."""

    def product(outputs: list[Tensor], inputs: list[Tensor]) -> tuple[Tensor, Tensor]:
        d_outputs = torch.cat([d.reshape(-1, d.shape[-1]) for d in outputs])
        values = torch.cat([x.reshape(-1, x.shape[-1]) for x in inputs])
        return d_outputs.T @ values, d_outputs.sum(dim=0)

    d_pre, _ = product([s.d_pre_input for s in steps], [s.recalled for s in steps])
    return (
        d_pre,
        *product([s.d_heads for s in steps], [s.pre for s in steps]),
        *product([s.d_query for s in steps], [s.query_in for s in steps]),
        *product([s.d_key_out for s in steps], [s.key_in for s in steps]),
        *product([s.cells.d_inputs for s in steps], [s.cells.candidate for s in steps]),
        *product([s.cells.d_recurrent for s in steps], [s.cells.old for s in steps]),
        *product([s.d_hidden_hh for s in steps], [s.gru.state for s in steps]),
        torch.cat([s.d_scores for s in steps]).sum().view(1),
    )


def _places(sizes: Sequence[int]) -> list[slice]:
    stops = list(accumulate(sizes))
    return [slice(stop - n, stop) for n, stop in zip(sizes, stops, strict=True)]


def _column_major(weight: Tensor) -> Tensor:
    """The same matrix in column-major order: products with its transpose are faster."""
    return weight.T.contiguous().T if weight.ndim == 2 else weight
