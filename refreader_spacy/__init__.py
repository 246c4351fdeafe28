"""Incremental coreference for spaCy: the Referential Reader as a trainable pipe."""

from refreader_spacy.component import RefReader

__all__ = ["RefReader"]
