"""What a worker does: read the texts of a batch, and encode what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from spacy.errors import Errors as SpacyErrors
from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.annotation.speakers import write_speakers
from refreader_spacy.bulk.formats import AnnotatedDoc, Format
from refreader_spacy.bulk.records import Record, Rejected, TextRecord, rejected
from refreader_spacy.tokenization import tokenize

# A vocab's tables keep a place for each string that was ever in them, forgotten or not
MAX_STRINGS = 2_000_000


@dataclass
class Annotated:
    """What came of some records: data of a format, and those that were rejected."""

    data: list[bytes] = field(default_factory=list)
    n_texts: int = 0
    n_words: int = 0
    rejected: list[Rejected] = field(default_factory=list)


class Annotator:
    """A pipeline that reads batches, in a process of its own."""

    def __init__(self, nlp: Language, format: Format) -> None:
        self.nlp = nlp
        self.format = format
        self._n_strings = 0

    def __call__(self, records: list[Record]) -> Annotated:
        # Words that were never seen before are forgotten again after each batch
        strings = self.nlp.vocab.strings
        n_before = len(strings)
        with self.nlp.memory_zone():
            found = annotated(self.nlp, self.format, records)
            self._n_strings += len(strings) - n_before
        return found

    @property
    def is_worn(self) -> bool:
        """Should another process take the place of this one?"""
        return self._n_strings > MAX_STRINGS


def make_annotator(load: Callable[[], Language], format: Format) -> Annotator:
    """Load a pipeline, and try it: what is wrong with it is wrong for every record."""
    nlp = load()
    with nlp.memory_zone():
        format.encode([AnnotatedDoc("", nlp("Ann lost her key."))])
    return Annotator(nlp, format)


def annotated(nlp: Language, format: Format, records: list[Record]) -> Annotated:
    """Read together if possible, and one by one if not."""
    texts = [r for r in records if isinstance(r, TextRecord)]
    found = Annotated(rejected=[r for r in records if isinstance(r, Rejected)])
    try:
        docs = list(nlp.pipe([make_doc(nlp, r) for r in texts]))
        pairs = [AnnotatedDoc(r.id, d) for r, d in zip(texts, docs, strict=True)]
        found.data = [format.encode(pairs)]
        found.n_texts, found.n_words = len(docs), sum(map(len, docs))
    except Exception as error:  # a pipeline may raise anything
        if len(records) == 1:
            return Annotated(rejected=[rejected(r, error) for r in texts])
        return joined([annotated(nlp, format, [record]) for record in records])
    return found


def joined(parts: list[Annotated]) -> Annotated:
    return Annotated(
        [data for part in parts for data in part.data],
        sum(part.n_texts for part in parts),
        sum(part.n_words for part in parts),
        [each for part in parts for each in part.rejected],
    )


def make_doc(nlp: Language, record: TextRecord) -> Doc:
    """As `nlp.make_doc`, in linear time; with who says what, if that is known."""
    text = record.text
    if len(text) > nlp.max_length:
        raise ValueError(
            SpacyErrors.E088.format(length=len(text), max_length=nlp.max_length)
        )
    doc = tokenize(nlp.make_doc, text)
    if record.turns:
        write_speakers(doc, record.turns)
    return doc
