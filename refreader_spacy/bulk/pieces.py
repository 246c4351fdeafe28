"""A source cut into pieces, each of which becomes a shard of the output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from refreader_spacy.bulk.readers import next_line, opened, read_source
from refreader_spacy.bulk.records import BEGINNING, Cursor, Record
from refreader_spacy.bulk.sources import Fields, Source, Unit

LARGEST_BATCH = 1_000_000  # characters that are read together, if not of one text


class PieceKey(NamedTuple):
    """Which piece: the source's number, and the piece's in it."""

    source: int
    piece: int


class Batch(NamedTuple):
    """Records of one piece that are read together."""

    key: PieceKey
    records: list[Record]


def batches_of(
    source: Source,
    fields: Fields,
    done: Mapping[PieceKey, Cursor],
    *,
    piece_size: int,
    batch_size: int,
    first: int = 0,
    start: Cursor = BEGINNING,
    n_pieces: int | None = None,
) -> Iterator[Batch]:
    """Pieces that are still to do, in batches.

    done (Mapping): Where the pieces end that need no more work.
    first (int): The number of the piece at `start`.
    n_pieces (int | None): Leave off after so many.
    """
    records = None
    last = None if n_pieces is None else first + n_pieces
    while last is None or first < last:
        key = PieceKey(source.number, first)
        first += 1
        if key in done:
            start, records = done[key], None
            continue
        if records is None:
            records = read_source(source, fields, start)
        batch = None
        for batch in in_batches(islice(records, piece_size), batch_size):
            yield Batch(key, batch)
        if batch is None:
            return


def in_batches(records: Iterator[Record], size: int) -> Iterator[list[Record]]:
    """Some records at a time; fewer if they are long."""
    batch: list[Record] = []
    length = 0
    for record in records:
        batch.append(record)
        length += text_length(record)
        if len(batch) == size or length >= LARGEST_BATCH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def text_length(record: Record) -> int:
    return len(getattr(record, "text", ""))


class PieceRange(NamedTuple):
    """Pieces of a source that are read in one go, perhaps on another machine."""

    source: Source
    first: int  # piece
    start: Cursor
    n_pieces: int | None  # None: to its end


def ranges_of(source: Source, piece_size: int) -> Iterator[PieceRange]:
    """A range for each piece; one for all of what can't be read from its middle."""
    if source.compressed or source.unit is Unit.FILE:
        yield PieceRange(source, 0, BEGINNING, None)
        return
    for number, start in enumerate(piece_starts(source, piece_size)):
        yield PieceRange(source, number, start, 1)


def piece_starts(source: Source, piece_size: int) -> Iterator[Cursor]:
    path = source.paths[0]
    if source.unit is Unit.ROW:
        from refreader_spacy.bulk.parquet import n_rows

        yield from (Cursor(n) for n in range(0, n_rows(path), piece_size))
        return
    records, offset, line = BEGINNING
    with opened(path) as file:
        while True:
            data, length = next_line(file.data)
            if not length:
                return
            if not data.isspace():
                if records % piece_size == 0:
                    yield Cursor(records, offset, line)
                records += 1
            offset, line = offset + length, line + 1
