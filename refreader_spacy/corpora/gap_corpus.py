"""GAP row -> Example."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.util import ensure_path, logger

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.gap import GAP_KEYS, GapRow, Mention, read_gap
from refreader_spacy.corpora.gold_docs import write_gold
from refreader_spacy.errors import Errors
from refreader_spacy.tokenization import tokenize


def create_gap_corpus(
    path: Path, limit: int = 0, pairs: bool = False
) -> Callable[[Language], Iterator[Example]]:
    """A GAP file as a training or development corpus.

    path (Path): The TSV file, read and checked at once.
    limit (int): How many rows to use, from the first; 0 for all.
    pairs (bool): Join the texts of the first and second row, the third and fourth, ...
    """
    rows = read_gap(ensure_path(path))[: limit or None]
    if pairs:
        rows = paired(rows)
    return lambda nlp: gap_examples(rows, nlp)


def paired(rows: Sequence[GapRow]) -> list[GapRow]:
    """Each row in the joined text of its pair, as in the paper's longer test set.

    Every row is still asked by itself, so a joined text is there twice; the last of an
    odd number stays alone.
    """
    joined = []
    for first, second in zip(rows[::2], rows[1::2], strict=False):
        before = f"{first.text} "
        text = before + second.text
        pronoun, a, b = (
            mention._replace(offset=len(before) + mention.offset)
            for mention in (second.pronoun, second.a, second.b)
        )
        joined.append(replace(first, text=text))
        joined.append(replace(second, text=text, pronoun=pronoun, a=a, b=b))
    return [*joined, *rows[len(joined) :]]


def gap_examples(rows: Sequence[GapRow], nlp: Language) -> Iterator[Example]:
    """Rows as Examples; at the end, log how many mentions had to be widened."""
    widened = 0
    for row in rows:
        example = gap_example(row, nlp)
        widened += n_widened(example.reference)
        yield example
    if rows:
        _report(rows[0].id, rows[-1].id, widened, len(rows) * len(GAP_KEYS))


def gap_example(row: GapRow, nlp: Language) -> Example:
    """Gold clusters, singletons included, and the three mentions GAP asks about.

    What is not a span is kept in the attributes of span groups, because they
    survive a DocBin without user data.
    """
    predicted = tokenize(nlp.make_doc, row.text)
    reference = predicted.copy()
    pronoun = _write_mention(
        reference, "gap_pronoun", row.pronoun, id=row.id, gender=row.gender
    )
    a = _write_mention(reference, "gap_a", row.a, coref=row.a_coref)
    b = _write_mention(reference, "gap_b", row.b, coref=row.b_coref)
    document = GoldDocument(row.id, "gap", words=[token.text for token in reference])
    document.add_mention("pronoun", GoldMention(pronoun.start, pronoun.end))
    for key, name, coref in (("a", a, row.a_coref), ("b", b, row.b_coref)):
        entity = "pronoun" if coref else key
        document.add_mention(entity, GoldMention(name.start, name.end))
    write_gold(reference, document)
    return Example(predicted, reference)


def n_widened(reference: Doc) -> int:
    """How many of the three mentions did not end where tokens do."""
    return sum(reference.spans[key].attrs["widened"] for key in GAP_KEYS)


def _write_mention(doc: Doc, key: str, mention: Mention, **attrs: str | bool) -> Span:
    """Write a group of one span: the mention, widened to all tokens it touches."""
    end = mention.offset + len(mention.text)
    span = doc.char_span(mention.offset, end, alignment_mode="expand")
    if not span:
        raise ValueError(Errors.R111.format(found=doc.text, **mention._asdict()))
    attrs["widened"] = span.start_char < mention.offset or span.end_char > end
    doc.spans[key] = SpanGroup(doc, name=key, spans=[span], attrs=attrs)
    return span


@lru_cache
def _report(first: str, last: str, widened: int, total: int) -> None:
    """Say it once: a development corpus is read again for every evaluation."""
    logger.info(
        "GAP rows %s to %s: %d of %d mentions end inside a token and were widened.",
        *(first, last, widened, total),
    )
