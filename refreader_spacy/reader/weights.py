"""A network's parameters in NumPy, and the state of a text before its first token.

Shapes: E token size, H hidden size, V mention size.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from refreader_spacy.reader.memory import Floats, MemoryState, MemoryWeights
from refreader_spacy.reader.network import EMBEDDINGS
from refreader_spacy.reader.state import ReaderState
from refreader_spacy.reader.tokens import N_COLUMNS, TextState


class Linear:
    """A linear layer."""

    def __init__(self, parameters: Mapping[str, Floats], *names: str) -> None:
        """Several layers of the same input are one."""
        self.weight = np.concatenate(
            [parameters[f"{n}.weight"] for n in names]
        ).T.copy()
        self.bias = np.concatenate([parameters[f"{n}.bias"] for n in names])

    def __call__(self, x: Floats) -> Floats:
        out: Floats = x @ self.weight
        out += self.bias
        return out


class ReaderWeights:
    """A network's parameters, arranged for reading."""

    def __init__(self, parameters: Mapping[str, Floats], n_cells: int) -> None:
        p = parameters
        self.n_cells = n_cells
        self.tables = [p[f"embeddings.{i}.weight"] for i in range(len(EMBEDDINGS))]
        self.token = Linear(p, "token")
        self.recurrent_inputs = p["recurrence.weight_ih_l0"].T.copy()  # (E, 3H)
        self.recurrent_bias = p["recurrence.bias_ih_l0"]
        self.recurrent = np.ascontiguousarray(p["recurrence.weight_hh_l0"])  # (3H, H)
        self.hidden_bias = np.ascontiguousarray(p["recurrence.bias_hh_l0"])
        self.hidden_size = self.recurrent.shape[1]
        # All that is asked of every token
        self.per_token = Linear(p, "detection", "left_key", "right_key")
        self.detection_size = len(p["detection.bias"])
        self.edge_size = len(p["left_key.bias"])
        self.detected = Linear(p, "schemes", "types")
        # and of heads
        self.per_head = Linear(p, "left_query", "right_query")
        self.left_bias = p["left_bias"]
        self.right_value = p["right_value.weight"][0]
        self.right_bias = p["right_bias"] + p["right_value.bias"]
        self.kind = p["kind.weight"]
        self.mention = Linear(p, "mention")
        self.mention_size = len(p["mention.bias"])
        self.after = p["after.weight"].T.copy()  # (H, V)
        self.per_mention = Linear(p, "query", "query_product", "new_hidden")
        self.score_size = len(p["query.bias"])
        self.product_size = len(p["query_product.bias"])
        self.new = Linear(p, "new")
        self.memory = MemoryWeights(p)

    def start(self) -> ReaderState:
        """The state before a text's first token."""
        return ReaderState(
            hidden=np.zeros(self.hidden_size, np.float32),
            text=TextState(),
            memory=MemoryState.empty(
                self.n_cells, self.mention_size, self.score_size, self.product_size
            ),
            rows=np.zeros((0, N_COLUMNS), np.int32),
            inputs=np.zeros((0, len(self.token.bias)), np.float32),
            left_keys=np.zeros((0, self.edge_size), np.float32),
            open_number=np.zeros(0, np.int64),
            open_head=np.zeros(0, np.int64),
            open_query=np.zeros((0, self.edge_size), np.float32),
            pending_cell=np.zeros(0, np.int64),
            pending_known=np.zeros((0, self.mention_size), np.float32),
        )
