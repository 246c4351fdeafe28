"""The paper's reader behind the package's `Reader` protocol: Docs in, decisions out.

Several documents are read side by side in torch; one alone, or a stream, by the NumPy
step, which has less to do per token.

Shapes: T tokens, M memory cells, X input size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from spacy.tokens import Doc, Span
from spacy.training import Example

from refreader_spacy.paper.decisions import Decisions
from refreader_spacy.paper.gold import LossWeights, gold_links
from refreader_spacy.paper.loss import coreference_loss
from refreader_spacy.paper.network import NetworkState, PaperNetwork
from refreader_spacy.paper.numpy_reader import read_tokens
from refreader_spacy.paper.packing import by_document, packed_order
from refreader_spacy.paper.saved_state import state_from_saved, state_to_saved
from refreader_spacy.paper.weights import NumpyState, NumpyWeights
from refreader_spacy.protocol import Array, Part, Progress, Reading

Encode = Callable[[Sequence[Doc | Span]], list[Array]]


class TextState(NamedTuple):
    """All that is known between two tokens of a text."""

    network: NumpyState
    decisions: Decisions


class PaperReader:
    """Reads texts with a network whose weights don't change meanwhile."""

    labels = ("",)
    schemes: tuple[str, ...] = ()

    def __init__(
        self,
        network: PaperNetwork,
        encode: Encode,
        loss_weights: LossWeights,
        *,
        lookahead: bool,
        needs_past: bool,
    ) -> None:
        """encode (Callable): Gives a vector a token (T, X), of Docs or of parts."""
        self.network = network
        self.encode = encode
        self.loss_weights = loss_weights
        self.lookahead = lookahead
        self.needs_past = needs_past
        self.weights = NumpyWeights(
            {k: v.cpu().numpy() for k, v in network.state_dict().items()},
            entity_decay=network.memory.entity_decay,
            word_decay=network.memory.word_decay,
            tolerance=network.memory.tolerance,
        )
        self.n_cells = self.weights.n_cells

    def start(self) -> TextState:
        """The state before a text's first token."""
        return TextState(self.weights.start(), Decisions(self.n_cells))

    def read(
        self,
        states: Sequence[TextState],
        docs: Sequence[Doc | Span],
        *,
        gates: bool = False,
        last: bool = False,
    ) -> list[Part]:
        """Go on with several texts; their states are brought up to date."""
        readings = self._gates([text.network for text in states], self.encode(docs))
        parts = []
        for text, doc, reading in zip(states, docs, readings, strict=True):
            part = text.decisions.read(doc, reading, last=last)
            parts.append(replace(part, gates=reading) if gates else part)
        return parts

    def _gates(self, states: list[NumpyState], vectors: list[Array]) -> list[Reading]:
        on_cpu = self.network.initial_hidden.device.type == "cpu"
        if len(states) == 1 and on_cpu:
            return [read_tokens(self.weights, states[0], vectors[0])]
        return read_side_by_side(self.network, states, vectors)

    def progress(self, state: TextState) -> Progress:
        """How far the text of a state was read."""
        decisions = state.decisions
        mention = decisions.open
        places = [] if mention is None else [mention.start, mention.end - 1]
        return Progress(decisions.n_tokens, decisions.n_mentions, places)

    def to_saved(self, state: TextState) -> dict[str, Any]:
        """A state as what msgpack can store."""
        return state_to_saved(state.network, state.decisions)

    def from_saved(self, saved: dict[str, Any]) -> TextState:
        """A state again; a ValueError if it isn't one of this reader."""
        return TextState(*state_from_saved(self.weights.start(), saved))

    def get_loss(
        self, examples: Iterable[Example], outputs: Any, prefix: str
    ) -> tuple[float, list[Reading]]:
        """The loss of the gates that came out in training, and its gradient in them."""
        golds = [gold_links(each, prefix, self.loss_weights) for each in examples]
        return coreference_loss(outputs, golds)


@torch.no_grad()
def read_side_by_side(
    network: PaperNetwork, states: Sequence[NumpyState], vectors: Sequence[Array]
) -> list[Reading]:
    """Read on in several documents; their states are brought up to date."""
    lengths = [len(v) for v in vectors]
    if not any(lengths):
        nothing = np.zeros((0, len(network.memory.initial_keys)), np.float32)
        return [Reading(nothing, nothing, nothing) for _ in vectors]
    order, sizes = packed_order(lengths)
    longest_first = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
    read = [states[i] for i in longest_first if lengths[i]]
    device = network.initial_hidden.device
    fields = zip(*read, strict=True)
    packed = network.read(
        torch.from_numpy(np.concatenate(vectors)[order]).to(device),
        sizes,
        NetworkState(*(torch.from_numpy(np.stack(x)).to(device) for x in fields)),
    )
    after = [field.cpu().numpy() for field in packed.state]
    for number, state in enumerate(read):
        for field, value in zip(state, after, strict=True):
            field[:] = value[number]
    gates = (packed.update, packed.overwrite, packed.salience)
    columns = (by_document(gate.cpu().numpy(), order, lengths) for gate in gates)
    return [Reading(*each) for each in zip(*columns, strict=True)]
