"""From SVG to PNG, with an optional library."""

from __future__ import annotations

from importlib import import_module

from refreader_spacy.errors import Errors

ZOOM = 2  # pixels for each of the image's, for sharp print


def png(svg: str) -> bytes:
    """The image in pixels."""
    try:
        resvg = import_module("resvg_py")
    except ImportError as error:
        raise ValueError(Errors.R225) from error
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=ZOOM))
