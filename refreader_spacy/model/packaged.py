"""The readers that come with the package: each a folder of weights and their config."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, cast

import torch
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Config, Model

from refreader_spacy.errors import Errors
from refreader_spacy.model.types import Reading

ReaderModel = Model[list[Doc], list[Reading]]


def build_packaged_reader_v1(name: str) -> ReaderModel:
    """A trained reader of the package, by name.

    A name's config stays in the package for ever, so that pipelines saved with it can
    be loaded; weights that have been superseded may go.
    """
    weights = files("refreader_spacy") / "weights"
    folder = weights / name
    if not (folder / "config.cfg").is_file():
        known = sorted(entry.name for entry in weights.iterdir() if entry.is_dir())
        raise ValueError(Errors.R012.format(name=name, known=known))
    config = Config().from_str((folder / "config.cfg").read_text("utf8"))
    model = cast(ReaderModel, registry.resolve(config)["model"])
    if (folder / "model").is_file():
        model.from_bytes((folder / "model").read_bytes())
        _set_precision(model, "float32")
    return model


def write_packaged(model: ReaderModel, config: dict[str, Any], folder: Path) -> None:
    """Put a trained model and its config into a folder, at half precision.

    The model itself is left at half precision too.
    """
    folder.mkdir(parents=True)
    Config({"model": config}).to_disk(folder / "config.cfg")
    _set_precision(model, "float16")
    (folder / "model").write_bytes(model.to_bytes())


def _set_precision(model: ReaderModel, dtype: Literal["float16", "float32"]) -> None:
    for layer in model.walk():
        for name in layer.param_names:
            value: Any = layer.get_param(name)
            layer.set_param(name, value.astype(dtype))
        for shim in layer.shims:
            module: Any = shim._model
            module.to(getattr(torch, dtype))
