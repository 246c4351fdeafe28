"""The two loops of inference: compiled where that was possible, else in NumPy.

Set the environment variable REFREADER_NO_COMPILED to read in NumPy anyway.
"""

import os
from contextlib import suppress

from refreader_spacy.reader.memory import read_mentions
from refreader_spacy.reader.recurrence import recur_reference as recur

if not os.environ.get("REFREADER_NO_COMPILED"):
    with suppress(ImportError):  # where there was no compiler
        from refreader_spacy.reader.kernels.entity import read_mentions, recur

__all__ = ["read_mentions", "recur"]
