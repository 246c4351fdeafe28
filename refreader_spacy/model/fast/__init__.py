"""The reader at inference on the CPU: a compiled loop, or NumPy where there is none."""

from refreader_spacy.model.fast.documents import Documents
from refreader_spacy.model.fast.weights import State, Weights

__all__ = ["Documents", "State", "Weights"]
