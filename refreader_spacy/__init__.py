"""Incremental coreference for spaCy: the Referential Reader as a trainable pipe."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from refreader_spacy.annotation.entities import entities
from refreader_spacy.annotation.extensions import register_extensions
from refreader_spacy.annotation.parts import as_doc
from refreader_spacy.component import RefReader

if TYPE_CHECKING:
    from refreader_spacy.pictures import render
    from refreader_spacy.streaming.stream import Stream

    __version__: str

__all__ = [
    "RefReader",
    "Stream",
    "as_doc",
    "entities",
    "register_extensions",
    "render",
]

_LATER = {
    "render": "refreader_spacy.pictures",
    "Stream": "refreader_spacy.streaming.stream",
}


def __getattr__(name: str) -> Any:
    """Import on first use what costs time."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name == "__version__":
        return version("refreader-spacy")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
