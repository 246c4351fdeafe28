"""Incremental coreference for spaCy: the Referential Reader as a trainable pipe."""

from typing import TYPE_CHECKING, Any

from refreader_spacy.annotation.entities import entities
from refreader_spacy.annotation.extensions import register_extensions
from refreader_spacy.annotation.parts import as_doc
from refreader_spacy.component import RefReader

if TYPE_CHECKING:
    from refreader_spacy.pictures import render

__all__ = ["RefReader", "as_doc", "entities", "register_extensions", "render"]


def __getattr__(name: str) -> Any:
    """Import `render` on first use."""
    if name == "render":
        from refreader_spacy.pictures import render

        return render
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
