"""The reader as a language model: word vectors, the reader, and an output layer.

The word at t is predicted from the hidden state after t - 1, an article's first word
from the state before it: every word counts once, however the text is cut.

Shapes: N packed tokens, B articles side by side, S streams, H hidden size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import srsly
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from refreader_spacy.errors import Errors
from refreader_spacy.paper.network import NetworkState, PaperNetwork
from refreader_spacy.pretraining.blocks import Block
from refreader_spacy.pretraining.vocabulary import Vocabulary
from refreader_spacy.protocol import ReaderModel
from refreader_spacy.reader.model import shim_of
from refreader_spacy.reader.packaged import OUTPUT

SHRINK = 2.0  # each group of words is predicted with half as many numbers


class Prediction(NamedTuple):
    """A language model's output for N packed tokens."""

    log_probability: Tensor  # (N,), of each word given those before it
    written: Tensor  # (N,), sum of its gates


class LanguageModel(nn.Module):
    """Embeddings, a reader, and an output layer of its size."""

    def __init__(
        self,
        table: Tensor,
        reader: PaperNetwork,
        output: nn.AdaptiveLogSoftmaxWithLoss,
    ) -> None:
        """table (Tensor): Word vectors; row 0, of unknown words, is not trained. It is
        trained in place, as is the reader.
        """
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(
            table, freeze=False, padding_idx=0, sparse=True
        )
        self.reader = reader
        self.output = output

    def forward(
        self,
        rows: Tensor,
        classes: Tensor,
        sizes: list[int],
        state: NetworkState,
        temperature: float = 1.0,
    ) -> tuple[Prediction, NetworkState]:
        """The log probability of each word given those before it, and the new state.

        rows, classes (Tensor): Of packed tokens (N,).
        sizes (list[int]): How many articles have a first token, a second one, ...
        """
        packed = self.reader(
            self.embed(rows), batch_sizes=sizes, temperature=temperature, state=state
        )
        *earlier, _ = packed.hidden.split(sizes)
        longer = zip(earlier, sizes[1:], strict=True)
        before = [state.hidden, *(hidden[:size] for hidden, size in longer)]
        written = (packed.update + packed.overwrite).sum(dim=-1)
        prediction = Prediction(self.output(torch.cat(before), classes).output, written)
        return prediction, packed.state


def output_layer(
    hidden_size: int, n_classes: int, cutoffs: Sequence[int]
) -> nn.AdaptiveLogSoftmaxWithLoss:
    """cutoffs (Sequence[int]): Where the groups of rarer and rarer words begin."""
    within = [cutoff for cutoff in cutoffs if cutoff < n_classes]
    return nn.AdaptiveLogSoftmaxWithLoss(
        hidden_size, n_classes, within or [n_classes - 1], div_value=SHRINK
    )


class Streams:
    """Reads a text block by block, with a state for each stream."""

    def __init__(
        self,
        model: LanguageModel,
        n_streams: int,
        rows: NDArray[np.int64],
        classes: NDArray[np.int64],
        tokens: NDArray[np.int32],
    ) -> None:
        """rows, classes (NDArray): Of each word of the text.

        tokens (NDArray): Which word each token is.
        """
        self.model = model
        self.rows, self.classes, self.tokens = rows, classes, tokens
        start = model.reader.start(n_streams)
        self.state = NetworkState(*(field.detach().clone() for field in start))

    def read(self, block: Block, temperature: float = 1.0) -> Prediction:
        """The predictions for a block's words, in packed order."""
        places, sizes = block.packed()
        words = self.tokens[places]
        streams = torch.from_numpy(block.streams)
        fresh = torch.from_numpy(block.fresh)
        start = self.model.reader.start(len(streams))
        state = [
            torch.where(fresh.view(-1, *[1] * (new.ndim - 1)), new, old[streams])
            for new, old in zip(start, self.state, strict=True)
        ]
        prediction: Prediction
        prediction, after = self.model(
            torch.from_numpy(self.rows[words]),
            torch.from_numpy(self.classes[words]),
            sizes,
            NetworkState(*state),
            temperature,
        )
        self.state = NetworkState(
            *(
                old.index_copy(0, streams, new.detach())
                for old, new in zip(self.state, after, strict=True)
            )
        )
        return prediction


def write_output(
    model: ReaderModel, vocabulary: Vocabulary, output: nn.AdaptiveLogSoftmaxWithLoss
) -> None:
    """Store an output layer in the model's attrs, at half precision."""
    tensors = {k: v.half().numpy() for k, v in output.state_dict().items()}
    model.attrs[OUTPUT] = srsly.msgpack_dumps(
        {"keys": vocabulary.keys, "cutoffs": output.cutoffs[:-1], "tensors": tensors}
    )


def read_language_model(
    model: ReaderModel, name: str
) -> tuple[LanguageModel, Vocabulary]:
    """The language model of a reader, if it has an output layer."""
    kept = model.attrs.get(OUTPUT)
    if not kept:
        raise ValueError(Errors.R330.format(name=name))
    reader: PaperNetwork = shim_of(model)._model
    table: Any = model.layers[0].get_param("E")
    output, vocabulary = _output(kept, len(reader.initial_hidden))
    language_model = LanguageModel(torch.from_numpy(table), reader, output)
    return language_model.eval(), vocabulary


@lru_cache(maxsize=2)
def _output(
    kept: bytes, hidden_size: int
) -> tuple[nn.AdaptiveLogSoftmaxWithLoss, Vocabulary]:
    data = srsly.msgpack_loads(kept)
    vocabulary = Vocabulary(data["keys"])
    output = output_layer(hidden_size, len(vocabulary), data["cutoffs"])
    arrays = {k: v.astype(np.float32) for k, v in data["tensors"].items()}
    output.load_state_dict({k: torch.from_numpy(v) for k, v in arrays.items()})
    return output, vocabulary
