"""The readers that come with the package: each a folder of weights and their config."""

from __future__ import annotations

from importlib.resources import files
from typing import cast

from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Config, Model

from refreader_spacy.errors import Errors
from refreader_spacy.model.types import Reading


def build_packaged_reader_v1(name: str) -> Model[list[Doc], list[Reading]]:
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
    model = cast(Model[list[Doc], list[Reading]], registry.resolve(config)["model"])
    if (folder / "model").is_file():
        model.from_bytes((folder / "model").read_bytes())
    return model
