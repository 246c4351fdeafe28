"""Which languages the weights in the package are for."""

from __future__ import annotations

import warnings

from refreader_spacy.errors import Warnings

LANGUAGES = ("en", "xx")  # "xx" is spaCy's code for several languages


def warn_of_language(language: str, name: str) -> None:
    """Say so if a pipeline with the packaged weights is for another language.

    language (str): The pipeline's `nlp.lang`.
    name (str): The component's name.
    """
    if language not in LANGUAGES:
        warnings.warn(Warnings.R902.format(name=name, found=language), stacklevel=2)
