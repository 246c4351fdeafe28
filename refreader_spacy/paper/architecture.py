"""The Thinc model around the torch reader: packs vectors, unpacks Readings.

Shapes: N tokens of all documents, T tokens of one, M memory cells, X input size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
import srsly
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import (
    ArgsKwargs,
    Model,
    PyTorchShim,
    chain,
    torch2xp,
    xp2torch,
)
from thinc.layers.pytorchwrapper import forward
from thinc.types import Floats2d
from torch import nn

from refreader_spacy.errors import Errors
from refreader_spacy.paper.packing import packed_order
from refreader_spacy.paper.reader import Packed, Reader
from refreader_spacy.paper.weights import NumpyWeights
from refreader_spacy.protocol import Reading

Vectors = list[Floats2d]
Readings = list[Reading]
Net = TypeVar("Net", bound=nn.Module)


def build_refreader_v1(
    tok2vec: Model[list[Doc], Vectors],
    width: int,
    hidden_size: int = 300,
    key_size: int = 16,
    n_cells: int = 2,
    entity_half_life: float = 4.0,
    word_half_life: float = 30.0,
    memory_bias: float = 0.0,
    dropout: float = 0.5,
    tolerance: float = 0.0,
) -> Model[list[Doc], Readings]:
    """The Referential Reader over any token encoder; defaults are the paper's.

    tok2vec (Model): One vector per token.
    width (int): Of the encoder's vectors.
    entity_half_life (float): Mentions until a cell's salience has halved.
    word_half_life (float): Other tokens until a cell's salience has halved.
    memory_bias (float): Where the gate that lets the memory into the hidden state
        starts; below zero, the reader begins as a plain recurrent network.
    dropout (float): On token vectors, pre-recurrent states and hidden states.
    tolerance (float): A gate below it leaves a cell's key and value as they are, which
        saves most of the work, in training and in reading; 0 is the paper's.
    """
    reader = Reader(
        width=width,
        hidden_size=hidden_size,
        key_size=key_size,
        n_cells=n_cells,
        entity_half_life=entity_half_life,
        word_half_life=word_half_life,
        memory_bias=memory_bias,
        dropout=dropout,
        tolerance=tolerance,
    )
    layer: Model[Vectors, Readings] = Model(
        "reader",
        forward,
        init=_reset,
        dims={"nI": width, "nO": None},
        attrs={
            # Not an attr, which would be loaded with the weights: the config decides
            "convert_inputs": partial(_pack, learn=tok2vec.attrs.get("learn", True)),
            "convert_outputs": _unpack,
            "temperature": 1.0,
            # For reading in NumPy; None if the encoder needs the tokens before a part
            "weights": None if tok2vec.attrs.get("needs_past") else _weights,
        },
        shims=[
            ReaderShim(
                reader,
                serialize_model=tensors_to_bytes,
                deserialize_model=tensors_from_bytes,
            )
        ],
    )
    return chain(tok2vec, layer)


class ReaderShim(PyTorchShim):
    """Thinc's torch wrapper, with support for averaged weights.

    The optimizer stores averages under (shim, name), but Thinc looks for another key,
    so `use_averages` has no effect on its torch models.
    """

    @contextmanager
    def use_params(self, params: dict[Any, Any]) -> Iterator[None]:
        """Use averaged weights within the block."""
        weights = dict(self._model.named_parameters())
        averages = {n: params[self.id, n] for n in weights if (self.id, n) in params}
        kept = {name: weights[name].detach().clone() for name in averages}
        with torch.no_grad():
            for name, average in averages.items():
                weights[name].copy_(xp2torch(average))
        try:
            yield
        finally:
            with torch.no_grad():
                for name, value in kept.items():
                    weights[name].copy_(value)


def _reset(
    model: Model[Vectors, Readings], X: Vectors | None = None, Y: Any = None
) -> None:
    """Draw fresh weights, and check the width of the encoder's vectors."""
    model.shims[0]._model.reset()
    expected = model.get_dim("nI")
    for found in {v.shape[-1] for v in X or ()} - {expected}:
        raise ValueError(Errors.R001.format(found=found, expected=expected))


def _pack(
    model: Model[Vectors, Readings], vectors: Vectors, is_train: bool, *, learn: bool
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], Vectors]]:
    xp = model.ops.xp
    width = model.get_dim("nI")
    lengths = [len(v) for v in vectors]
    order, batch_sizes = packed_order(lengths)
    flat = xp.concatenate(vectors) if sum(lengths) else model.ops.alloc2f(0, width)
    packed = cast(Any, flat)[order]
    learn = is_train and learn
    tokens = xp2torch(model.ops.as_contig(packed), requires_grad=learn)
    kwargs = {
        "batch_sizes": batch_sizes,
        "temperature": model.attrs["temperature"],
    }

    def d_vectors(d_inputs: ArgsKwargs) -> Vectors:
        if not learn:
            return []
        d_flat = xp.zeros_like(flat)
        d_flat[order] = torch2xp(d_inputs.args[0])
        return list(xp.split(d_flat, np.cumsum(lengths)[:-1]))

    return ArgsKwargs(args=(tokens,), kwargs=kwargs), d_vectors


def _unpack(
    model: Model[Vectors, Readings],
    inputs_outputs: tuple[Vectors, Packed],
    is_train: bool,
) -> tuple[Readings, Callable[[Readings], ArgsKwargs]]:
    vectors, packed = inputs_outputs
    lengths = [len(v) for v in vectors]
    order, _ = packed_order(lengths)
    stops = np.cumsum(lengths)[:-1]
    gates = [packed.update, packed.overwrite, packed.salience]

    def by_doc(tensor: torch.Tensor) -> list[NDArray[np.float32]]:
        flat = np.empty(tensor.shape, dtype=np.float32)
        flat[order] = tensor.detach().cpu().numpy()
        return np.split(flat, stops)

    def d_gates(d_readings: Readings) -> ArgsKwargs:
        fields = [
            np.concatenate([getattr(d_reading, name) for d_reading in d_readings])
            for name in ("update", "overwrite", "salience")
        ]
        d_packed = [
            torch.from_numpy(field[order]).to(gate.device)
            for field, gate in zip(fields, gates, strict=True)
        ]
        return ArgsKwargs(args=(gates,), kwargs={"grad_tensors": d_packed})

    columns = zip(*(by_doc(gate) for gate in gates), strict=True)
    return [Reading(*column) for column in columns], d_gates


def _weights(model: Model[Vectors, Readings]) -> NumpyWeights:
    """The reader's weights for NumPy: on the CPU the same memory, not a copy."""
    reader: Reader = model.shims[0]._model
    parameters = {k: v.cpu().numpy() for k, v in reader.state_dict().items()}
    return NumpyWeights(
        parameters,
        entity_decay=reader.memory.entity_decay,
        word_decay=reader.memory.word_decay,
        tolerance=reader.memory.tolerance,
    )


def tensors_to_bytes(reader: nn.Module) -> bytes:
    arrays = {k: v.cpu().numpy() for k, v in reader.state_dict().items()}
    return cast(bytes, srsly.msgpack_dumps(arrays))


def tensors_from_bytes(reader: Net, data: bytes, device: Any) -> Net:
    """Plain arrays, so that loading weights never runs code."""
    arrays = srsly.msgpack_loads(data)
    state = {k: torch.from_numpy(v.astype(np.float32)) for k, v in arrays.items()}
    for name in ("memory.initial_keys", "memory.initial_values"):
        if name in state:
            # Cells beyond those that were trained start as copies of them
            n_cells = len(reader.get_parameter(name))
            state[name] = state[name][torch.arange(n_cells) % len(state[name])]
    try:
        reader.load_state_dict(state)
    except RuntimeError as error:
        _, problem, *_ = str(error).splitlines()  # the first of several lines
        problem = problem.strip().rstrip(".")
        raise ValueError(Errors.R005.format(problem=problem)) from error
    return reader.to(device)
