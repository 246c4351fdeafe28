from collections.abc import Sequence

from refreader_spacy.reader.features import Feature
from refreader_spacy.reader.memory import Choices, Floats, MemoryState, MemoryWeights
from refreader_spacy.reader.mentions import MentionTable
from refreader_spacy.reader.recurrence import Longs

OPERATIONS: dict[str, int]

class Columns:
    def __init__(self, table: Sequence[Feature]) -> None: ...

COLUMNS: Columns

def recur(
    weight: Floats, bias: Floats, hidden: Floats, projected: Floats, lengths: Longs
) -> Floats: ...
def read_mentions(
    weights: MemoryWeights,
    state: MemoryState,
    table: MentionTable,
    vectors: Floats,
    queries: Floats,
    products: Floats,
    new: Floats,
    *,
    links: bool = False,
    columns: Columns = ...,
) -> Choices: ...
