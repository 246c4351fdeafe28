"""The recurrent unit and the memory, compiled where they can be, else in NumPy."""

from refreader_spacy.reader.memory import read_mentions
from refreader_spacy.reader.recurrence import recur_reference as recur

__all__ = ["read_mentions", "recur"]
