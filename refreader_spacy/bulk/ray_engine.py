"""Annotation on a Ray cluster: Ray Data schedules, retries, and replaces machines.

A task is some pieces of the input, which an actor reads, annotates and writes as shards
itself. So files must be seen by all machines at the same place, and only the numbers
for the manifest come back. A piece that is done twice replaces its shard.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
import ray.data

from refreader_spacy.bulk.job import Job, Notice
from refreader_spacy.bulk.local import AnnotatedBatch, annotate_batches, write_shards
from refreader_spacy.bulk.pieces import PieceKey, PieceRange, ranges_of
from refreader_spacy.bulk.records import Cursor
from refreader_spacy.bulk.shards import Shard, ShardFolder
from refreader_spacy.bulk.worker import Worker
from refreader_spacy.errors import Errors

MAX_TASKS = 20_000  # that Ray has to keep in mind; with more pieces, a task has several

Columns = dict[str, list[Any]]


class ShardAnnotator:
    """An actor: loads the pipeline once, in a process that a text may crash."""

    def __init__(
        self,
        job: Job,
        folder: ShardFolder,
        done: Mapping[PieceKey, Cursor],
        directory: Path,
    ) -> None:
        os.chdir(directory)  # names of files are as they were given
        self.job, self.folder, self.done = job, folder, done
        self.workers = [Worker(job.setup(), "spawn")]

    def __call__(self, tasks: Columns) -> Columns:
        ranges = [pickle.loads(data) for data in tasks["range"]]
        sizes: dict[PieceKey, int] = {}

        def add_size(batch: AnnotatedBatch) -> None:
            sizes[batch.key] = sizes.get(batch.key, 0) + batch.size

        batches = self.job.batches(ranges, self.done)
        annotated = annotate_batches(self.workers, batches, self.job.time_limit)
        shards = list(write_shards(annotated, self.folder, add_size))
        return {
            "shard": [pickle.dumps(shard) for shard in shards],
            "size": [sizes[shard.key] for shard in shards],
        }


def run_on_ray(
    job: Job,
    folder: ShardFolder,
    done: Mapping[PieceKey, Cursor],
    *,
    address: str | None = None,
    n_actors: int | None = None,
    notice: Notice = lambda n_texts, n_words, size: None,
) -> Iterator[Shard]:
    """Write all shards that are still to do, and tell of each as it is done.

    address (str | None): Of a cluster; by default, one is started on this machine.
    n_actors (int | None): By default, one for each core of the cluster.
    """
    with connected(address, n_actors):
        ranges = left_to_do(job, done)
        if not ranges:
            return
        n_cores = int(ray.cluster_resources().get("CPU", 1))
        n_actors = min(n_actors or n_cores, len(ranges))
        tasks = ray.data.from_items(
            [{"range": pickle.dumps(each)} for each in ranges],
            override_num_blocks=min(len(ranges), MAX_TASKS),
        )
        shards = tasks.map_batches(
            ShardAnnotator,
            fn_constructor_args=(job, folder, done, Path.cwd()),
            batch_size=1,
            num_cpus=1,
            concurrency=n_actors,
        )
        for row in shards.iter_rows():
            shard: Shard = pickle.loads(row["shard"])
            notice(shard.texts, shard.words, row["size"])
            yield shard


def left_to_do(job: Job, done: Mapping[PieceKey, Cursor]) -> list[PieceRange]:
    """Ranges that the manifest doesn't have; files are looked through side by side."""
    size = job.shard_size
    directory = Path.cwd()

    def plan(row: dict[str, Any]) -> list[dict[str, Any]]:
        os.chdir(directory)
        ranges = ranges_of(pickle.loads(row["source"]), size)
        return [{"range": pickle.dumps(each)} for each in ranges]

    sources = [{"source": pickle.dumps(source)} for source in job.sources]
    rows = ray.data.from_items(sources).flat_map(plan).take_all()
    ranges = [pickle.loads(row["range"]) for row in rows]
    return sorted(
        each
        for each in ranges
        if each.n_pieces is None or (each.source.number, each.first) not in done
    )


@contextmanager
def connected(address: str | None, n_cores: int | None) -> Iterator[None]:
    """With a cluster; one that is started here has a core for each actor, at least."""
    own: dict[str, Any] = (
        {} if address else {"num_cpus": max(n_cores or 1, os.cpu_count() or 1)}
    )
    try:
        ray.init(
            address=address or "local",  # None may mean one that was killed
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False if own else None,
            **own,
        )
    except Exception as error:  # Ray raises plain ones, as where a machine is too busy
        how = f"reached at {address}" if address else "started"
        problem = " ".join(str(error).split()).rstrip(".")
        raise ValueError(Errors.R271.format(how=how, problem=problem)) from error
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield
    finally:
        ray.shutdown()
