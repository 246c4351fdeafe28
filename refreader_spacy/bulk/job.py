"""A whole run: sources in, shards out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from spacy.language import Language

from refreader_spacy.bulk.annotator import make_annotator
from refreader_spacy.bulk.formats import Format
from refreader_spacy.bulk.local import AnnotatedBatch, annotate_batches, write_shards
from refreader_spacy.bulk.pieces import Batch, PieceKey, PieceRange, batches_of
from refreader_spacy.bulk.processes import started_workers
from refreader_spacy.bulk.records import BEGINNING, Cursor
from refreader_spacy.bulk.shards import Shard, ShardFolder, settings_of
from refreader_spacy.bulk.sources import Fields, Source

Notice = Callable[[int, int, int], None]  # texts, words, bytes of input


@dataclass(frozen=True)
class Job:
    """What is annotated, with what, and how it is cut."""

    sources: list[Source]
    load: Callable[[], Language]  # the pipeline, in any process
    format: Format
    fields: Fields
    batch_size: int = 64
    shard_size: int = 10_000
    time_limit: float = 60.0

    def settings(self, **more: Any) -> dict[str, Any]:
        """What a run that goes on must have in common with the one before."""
        return settings_of(
            self.sources,
            text_field=self.fields.text,
            id_field=self.fields.id,
            format=self.format.suffix,
            shard_size=self.shard_size,
            **more,
        )

    def batches(
        self, ranges: list[PieceRange], done: Mapping[PieceKey, Cursor]
    ) -> Iterator[Batch]:
        """What is still to do of some ranges."""
        return chain.from_iterable(
            batches_of(
                part.source,
                self.fields,
                done,
                piece_size=self.shard_size,
                batch_size=self.batch_size,
                first=part.first,
                start=part.start,
                n_pieces=part.n_pieces,
            )
            for part in ranges
        )

    def setup(self) -> partial[Any]:
        """What a worker of this job does first."""
        return partial(make_annotator, self.load, self.format)


def annotate_locally(
    job: Job, n_process: int, done: Mapping[PieceKey, Cursor]
) -> Iterator[AnnotatedBatch]:
    """What comes of all batches that are still to do, in order."""
    everything = [PieceRange(source, 0, BEGINNING, None) for source in job.sources]
    with started_workers(job.setup(), n_process) as workers:
        batches = job.batches(everything, done)
        yield from annotate_batches(workers, batches, job.time_limit)


def run_locally(
    job: Job,
    folder: ShardFolder,
    done: Mapping[PieceKey, Cursor],
    *,
    n_process: int = 1,
    notice: Notice = lambda n_texts, n_words, size: None,
) -> Iterator[Shard]:
    """Write all shards that are still to do."""

    def tell(batch: AnnotatedBatch) -> None:
        notice(batch.annotated.n_texts, batch.annotated.n_words, batch.size)

    return write_shards(annotate_locally(job, n_process, done), folder, tell)
