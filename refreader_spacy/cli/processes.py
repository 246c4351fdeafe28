"""Mapping a function over pieces of work, in this process or in several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TypeVar

from refreader_spacy.errors import Errors

Piece = TypeVar("Piece")
Result = TypeVar("Result")

AHEAD = 3  # pieces a process has or waits for: more would only fill the memory


def map_in_processes(
    work: Callable[[Piece], Result],
    pieces: Iterable[Piece],
    n_process: int,
    prepare: Callable[[], object],
) -> Iterator[Result]:
    """The result for each piece, in order.

    Only pieces and results go from process to process, so they should be small and the
    work large.

    prepare (Callable[[], object]): Called first, in every process that works.
    """
    if n_process == 1:
        prepare()
        yield from map(work, pieces)
        return
    left = iter(pieces)
    pool = ProcessPoolExecutor(n_process, initializer=prepare)
    try:
        ahead = islice(left, AHEAD * n_process)
        waiting = deque(pool.submit(work, piece) for piece in ahead)
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(work, piece) for piece in islice(left, 1))
            yield result
    except BrokenProcessPool as e:
        raise ChildProcessError(Errors.R233.format(n_process=n_process)) from e
    finally:
        pool.shutdown(cancel_futures=True)
