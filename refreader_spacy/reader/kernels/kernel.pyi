from refreader_spacy.paper.weights import Index, Weights
from refreader_spacy.protocol import Array

class Kernel:
    def __init__(self, weights: Weights) -> None: ...
    def read(
        self,
        hidden: Array,
        keys: Array,
        values: Array,
        salience: Array,
        projected: Array,
        which: Index,
        starts: Index,
        gates: Array,
    ) -> None: ...
