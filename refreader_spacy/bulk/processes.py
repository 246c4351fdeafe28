"""Work that is done piece by piece in several processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import wait
from typing import TypeVar

from refreader_spacy.bulk.worker import START_METHOD, Answer, Worker, WorkerStopped

Piece = TypeVar("Piece")
Result = TypeVar("Result")

AHEAD = 3  # pieces per process that are taken in before the first result is out


@contextmanager
def started_workers(
    setup: Callable[[], Answer[Piece, Result]],
    n_process: int,
    start_method: str = START_METHOD,
) -> Iterator[list[Worker[Piece, Result]]]:
    """Workers that are stopped when the block ends, however it ends."""
    workers = [Worker(setup, start_method) for _ in range(n_process)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.stop()


def map_in_processes(
    workers: list[Worker[Piece, Result]],
    pieces: Iterable[Piece],
    seconds: Callable[[Piece], float | None] = lambda piece: None,
) -> Iterator[Result | WorkerStopped]:
    """What comes of each piece, in order; WorkerStopped where its process ended.

    Only pieces and results go from process to process, so they should be small and the
    work large.

    seconds (Callable): How long a piece may take.
    """
    left = enumerate(pieces)
    idle, busy = deque(workers), dict[int, Worker[Piece, Result]]()
    prepared = deque[tuple[int, Piece]]()
    done = dict[int, Result | WorkerStopped]()
    n_out = 0
    while True:
        while n_out in done:
            yield done.pop(n_out)
            n_out += 1
        room = AHEAD * len(workers) - len(prepared) - len(busy) - len(done)
        prepared.extend(islice(left, min(room, len(workers) - len(prepared))))
        while idle and prepared:
            number, piece = prepared.popleft()
            idle[0].send(piece, seconds(piece))
            busy[number] = idle.popleft()
        if not busy:
            return
        for number, worker in finished(busy):
            try:
                done[number] = worker.receive()
            except WorkerStopped as stopped:
                done[number] = stopped
            idle.append(busy.pop(number))


def finished(
    busy: dict[int, Worker[Piece, Result]],
) -> list[tuple[int, Worker[Piece, Result]]]:
    """Wait until some have an answer, or no more time for one."""
    limits = [worker.seconds_left for worker in busy.values()]
    timeout = min((limit for limit in limits if limit is not None), default=None)
    ready = wait([worker.connection for worker in busy.values()], timeout)
    return [
        (number, worker)
        for number, worker in busy.items()
        if worker.connection in ready or worker.seconds_left == 0
    ]
