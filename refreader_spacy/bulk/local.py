"""Annotation on this machine, in processes that may be stopped one by one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from refreader_spacy.bulk.annotator import Annotated, joined
from refreader_spacy.bulk.pieces import Batch, PieceKey, text_length
from refreader_spacy.bulk.processes import map_in_processes
from refreader_spacy.bulk.records import Cursor, Record, TextRecord, rejected
from refreader_spacy.bulk.shards import Shard, ShardFolder
from refreader_spacy.bulk.worker import Worker, WorkerStopped

AnnotatorWorker = Worker[list[Record], Annotated]

CHARACTERS = 100_000  # that may take as long as the time limit says


class AnnotatedBatch(NamedTuple):
    """What came of a batch."""

    key: PieceKey
    annotated: Annotated
    size: int  # bytes of input
    end: Cursor


def annotate_batches(
    workers: list[AnnotatorWorker], batches: Iterable[Batch], time_limit: float
) -> Iterator[AnnotatedBatch]:
    """What comes of each batch, in order; no record can stop it.

    time_limit (float): Seconds for a text of up to CHARACTERS; longer ones have more.
    """

    def seconds(records: list[Record]) -> float:
        length = sum(map(text_length, records))
        return time_limit * max(1.0, length / CHARACTERS)

    waiting = deque[Batch]()

    def taken() -> Iterator[list[Record]]:
        for batch in batches:
            waiting.append(batch)
            yield batch.records

    for found in map_in_processes(workers, taken(), seconds):
        key, records = waiting.popleft()
        if isinstance(found, WorkerStopped):
            found = annotate_singly(workers[0].twin, records, seconds)
        size = sum(record.size for record in records)
        yield AnnotatedBatch(key, found, size, records[-1].end)


def annotate_singly(
    make_worker: Callable[[], AnnotatorWorker],
    records: list[Record],
    seconds: Callable[[list[Record]], float],
) -> Annotated:
    """Find the records of a batch that a process can't survive, and do the others.

    A record that was alone in its batch has another try too: its process may have been
    ended by something else.
    """
    worker = make_worker()

    def annotated(record: Record) -> Annotated:
        try:
            return worker.call([record], seconds([record]))
        except WorkerStopped as stopped:
            if isinstance(record, TextRecord):
                record = rejected(record, str(stopped))
            return Annotated(rejected=[record])

    try:
        return joined([annotated(record) for record in records])
    finally:
        worker.stop()


def write_shards(
    batches: Iterable[AnnotatedBatch],
    folder: ShardFolder,
    notice: Callable[[AnnotatedBatch], None] = lambda batch: None,
) -> Iterator[Shard]:
    """A shard for each piece, as soon as it is whole.

    notice (Callable): Called with every batch.
    """

    def noticed() -> Iterator[AnnotatedBatch]:
        for batch in batches:
            notice(batch)
            yield batch

    for key, group in groupby(noticed(), key=lambda batch: batch.key):
        yield folder.write(key, ((batch.annotated, batch.end) for batch in group))
