"""The readers that come with the package: each a folder of weights and their config."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import numpy as np
from spacy.util import registry
from thinc.api import Config, Model

from refreader_spacy.errors import Errors
from refreader_spacy.protocol import Array, ReaderModel
from refreader_spacy.reader.model import shim_of

CARD = "card.json"  # threshold, data, licences, scores and limits of the weights
OUTPUT = "next_word"  # the attribute that holds a language model's output layer
LARGEST = "largest"  # the attribute that holds the largest number of each row
STEPS = 127  # of a byte, to either side of zero
SMALLEST = 1e-8  # a row of zeros is divided by this


def build_packaged_reader_v1(
    name: str, transformer: str | None = None, surprisal: bool = False
) -> ReaderModel:
    """A trained reader of the package, by name.

    A name's config stays in the package for ever, so that pipelines saved with it can
    be loaded; weights that have been superseded may go.

    name (str): Such as "en_general_6".
    transformer (str | None): Where the transformer is that some weights need, if not on
        the hub: a folder.
    surprisal (bool): Keep what a causal language model needs to predict words, so that
        the component can be asked for `surprisal`.
    """
    config = packaged_config(name)
    needed = config["tok2vec"].get("transformer")
    if surprisal:
        if needed is None or needed["lookahead"]:
            raise ValueError(Errors.R027.format(name=name))
        needed["surprisal"] = True
    if transformer is not None:
        if needed is None:
            raise ValueError(Errors.R026.format(name=name, found=transformer))
        needed["name"] = transformer
    folder = files("refreader_spacy") / "weights" / name
    model = cast(ReaderModel, registry.resolve({"model": config})["model"])
    if (folder / "model").is_file():
        _load(model, (folder / "model").read_bytes(), name, needs_more=bool(needed))
        _restore(model)
        card = json.loads((folder / CARD).read_text("utf8"))
        model.attrs["threshold"] = card["threshold"]
        model.attrs["card"] = card
    return model


def _load(model: ReaderModel, data: bytes, name: str, *, needs_more: bool) -> None:
    try:
        model.from_bytes(data)
    except ValueError as error:
        if not needs_more:
            raise
        problem = Errors.R025.format(name=name, problem=error)
        raise ValueError(problem) from error


def packaged_names() -> list[str]:
    """The readers of the package."""
    weights = files("refreader_spacy") / "weights"
    return sorted(entry.name for entry in weights.iterdir() if entry.is_dir())


def packaged_config(name: str) -> dict[str, Any]:
    """The config of a reader of the package: what its weights fit."""
    file = files("refreader_spacy") / "weights" / name / "config.cfg"
    if not file.is_file():
        raise ValueError(Errors.R012.format(name=name, known=packaged_names()))
    config: dict[str, Any] = Config().from_str(file.read_text("utf8"))["model"]
    return config


def copy_packaged(model: ReaderModel, name: str) -> dict[str, Any]:
    """Give a model the weights of a reader of the package, to train on; their card."""
    packaged = build_packaged_reader_v1(name)
    if "card" not in packaged.attrs:
        raise ValueError(Errors.R019.format(name=name))
    card: dict[str, Any] = packaged.attrs.pop("card")  # of what they were trained on
    try:
        model.from_bytes(packaged.to_bytes())
    except ValueError as error:
        raise ValueError(Errors.R018.format(name=name, problem=error)) from error
    return card


def write_packaged(
    model: ReaderModel, config: dict[str, Any], card: dict[str, Any], folder: Path
) -> None:
    """Put a trained model, its config and its card into a folder, as small as they get.

    The model itself is left like that. An output layer is not kept: training on
    coreference has made it useless.
    """
    folder.mkdir(parents=True)
    Config({"model": config}).to_disk(folder / "config.cfg")
    text = json.dumps(card, indent=2, ensure_ascii=False)
    (folder / CARD).write_text(text + "\n", "utf8")
    model.attrs.pop(OUTPUT, None)
    for layer in model.walk():
        for name in layer.param_names:
            value: Any = layer.get_param(name)
            is_table = layer.name == "word_vectors"  # the most of the model
            small = _in_bytes(layer, value) if is_table else value.astype(np.float16)
            layer.set_param(name, small)
    shim_of(model)._model.half()
    (folder / "model").write_bytes(model.to_bytes())


def _in_bytes(layer: Model[Any, Any], table: Array) -> Any:
    """A table at a byte a number, in parts of its row's largest, kept beside it."""
    largest = np.maximum(np.abs(table).max(axis=1), SMALLEST)  # (rows,)
    layer.attrs[LARGEST] = largest.astype("<f4").tobytes()
    return np.round(table / largest[:, None] * STEPS).astype(np.int8)


def _restore(model: ReaderModel) -> None:
    for layer in model.walk():
        largest = np.frombuffer(layer.attrs.pop(LARGEST, b""), "<f4")
        for name in layer.param_names:
            parts = cast(Any, layer.get_param(name)).astype(np.float32)
            if len(largest):
                parts *= largest[:, None] / STEPS
            layer.set_param(name, parts)
    shim_of(model)._model.float()
    shim_of(model).changed()
