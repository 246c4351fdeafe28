"""A Doc as a table: a row per token, or a row per mention."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import accumulate
from typing import NamedTuple

from spacy.tokens import Doc

from refreader_spacy.annotation.entities import Entity, entities
from refreader_spacy.annotation.extensions import read_surprisals, read_trace
from refreader_spacy.annotation.sentences import sentence_starts


class MentionRow(NamedTuple):
    """A mention; mentions are numbered from 1 in text order, tokens from 0.

    An outer mention comes before the ones that are nested in it.

    doc (str): The id that was given for the Doc.
    mention (int): The mention's number.
    cluster (int): The entity's number, in the order of first mentions.
    start, end (int): Tokens, the end not included.
    start_char, end_char (int): Characters of the text, the end not included.
    sentence (int): The sentence that the mention begins in, counted from 1.
    head (int): The token that is its head.
    kind (str): pronoun, quantified, description, name, titled_name or full_name.
    type (str): Of the entity, such as "person"; empty where it isn't known.
    kb_id (str): Of the entity in a knowledge base, if `doc.ents` have one.
    main (str): The entity's most informative mention.
    antecedent (int | None): The number of the mention that this one is linked to.
    distance (int | None): Tokens from the antecedent's head to this one's.
    probability (float | None): Of the link.
    """

    doc: str
    mention: int
    cluster: int
    text: str
    start: int
    end: int
    start_char: int
    end_char: int
    sentence: int
    head: int
    head_text: str
    kind: str
    type: str
    kb_id: str
    main: str
    antecedent: int | None
    antecedent_text: str | None
    distance: int | None
    probability: float | None


class TokenRow(NamedTuple):
    """A token, with the innermost mention that it is in.

    doc (str): The id that was given for the Doc.
    start_char, end_char (int): Characters of the text, the end not included.
    sentence (int): Counted from 1.
    surprisal (float | None): In bits, if the pipe keeps it.
    cluster (int | None): The number of the mention's entity.
    mention (int | None): The mention's number.
    is_head (bool): Whether the token is the mention's head, which has its link.
    kind (str | None): Of the mention, as in MentionRow.
    type (str | None): Of the entity, as in MentionRow.
    antecedent (int | None): The number of the mention that this one is linked to.
    distance (int | None): Tokens from the antecedent's head to this one's.
    probability (float | None): Of the link.
    update, overwrite (float | None): Gates, summed over the cells, with a trace.
    cell (int | None): The cell that was written most, with a trace.
    salience (float | None): The highest of all cells, with a trace.
    """

    doc: str
    token: int
    text: str
    start_char: int
    end_char: int
    sentence: int
    surprisal: float | None
    cluster: int | None
    mention: int | None
    is_head: bool
    kind: str | None
    type: str | None
    antecedent: int | None
    antecedent_text: str | None
    distance: int | None
    probability: float | None
    update: float | None
    overwrite: float | None
    cell: int | None
    salience: float | None


def mention_rows(doc: Doc, id: str = "") -> list[MentionRow]:
    """All mentions in text order.

    id (str): Of the Doc, for the column "doc".
    """
    sentences = sentence_numbers(doc)
    found = [(entity, i) for entity in entities(doc) for i in range(len(entity))]
    found.sort(key=lambda pair: text_order(*pair))
    numbers = {
        (entity.number, i): number for number, (entity, i) in enumerate(found, start=1)
    }
    links = {
        (entity.number, anaphor): (antecedent, probability)
        for entity in {entity.number: entity for entity, _ in found}.values()
        for antecedent, anaphor, probability in entity.links
    }
    rows = []
    for entity, i in found:
        mention, head = entity.mentions[i], entity.heads[i]
        link = links.get((entity.number, i))
        rows.append(
            MentionRow(
                doc=id,
                mention=numbers[entity.number, i],
                cluster=entity.number,
                text=mention.text,
                start=mention.start,
                end=mention.end,
                start_char=mention.start_char,
                end_char=mention.end_char,
                sentence=sentences[mention.start],
                head=head,
                head_text=doc[head].text,
                kind=entity.kinds[i].name.lower(),
                type=entity.type,
                kb_id=entity.kb_id,
                main=entity.main.text,
                antecedent=link and numbers[entity.number, link[0]],
                antecedent_text=link and entity.mentions[link[0]].text,
                distance=link and head - entity.heads[link[0]],
                probability=link and link[1],
            )
        )
    return rows


def text_order(entity: Entity, i: int) -> tuple[int, int]:
    """By the mention's start, the longer first."""
    mention = entity.mentions[i]
    return mention.start, -mention.end


def token_rows(doc: Doc, id: str = "") -> Iterator[TokenRow]:
    """All tokens, with what was found of each.

    id (str): Of the Doc, for the column "doc".
    """
    innermost = {
        token: row for row in mention_rows(doc) for token in range(row.start, row.end)
    }
    sentences = sentence_numbers(doc)
    surprisals = read_surprisals(doc)
    trace = read_trace(doc)
    for token in doc:
        i = token.i
        row = innermost.get(i)
        head = row if row is not None and row.head == i else None
        written = None if trace is None else trace.update[i] + trace.overwrite[i]
        yield TokenRow(
            doc=id,
            token=i,
            text=token.text,
            start_char=token.idx,
            end_char=token.idx + len(token),
            sentence=sentences[i],
            surprisal=None if surprisals is None else float(surprisals[i]),
            cluster=row and row.cluster,
            mention=row and row.mention,
            is_head=head is not None,
            kind=row and row.kind,
            type=row and row.type,
            antecedent=head and head.antecedent,
            antecedent_text=head and head.antecedent_text,
            distance=head and head.distance,
            probability=head and head.probability,
            update=None if trace is None else float(trace.update[i].sum()),
            overwrite=None if trace is None else float(trace.overwrite[i].sum()),
            cell=None if written is None else int(written.argmax()),
            salience=None if trace is None else float(trace.salience[i].max()),
        )


def sentence_numbers(doc: Doc) -> list[int]:
    """Each token's sentence, counted from 1; by rule where none are annotated."""
    starts = {*sentence_starts(doc)}
    return list(accumulate(token.i in starts for token in doc))


def csv_lines(rows: Iterable[NamedTuple], *, header: bool = True) -> Iterator[str]:
    """Rows as lines of CSV.

    Numbers that aren't whole have six digits; what isn't known is empty.

    header (bool): Begin with the columns' names.
    """
    for row in rows:
        if header:
            yield csv_line(row._fields)
            header = False
        yield csv_line(
            f"{value:.6g}" if isinstance(value, float) else value for value in row
        )


def csv_line(values: Iterable[object]) -> str:
    line = StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()
