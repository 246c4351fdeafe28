from __future__ import annotations

import os
import signal
from functools import partial
from itertools import count, islice

import pytest

from refreader_spacy.cli.processes import AHEAD, map_in_processes

prepared: list[int] = []


def prepare() -> None:
    prepared.append(os.getpid())


def square(number: int) -> tuple[int, bool]:
    return number**2, os.getpid() in prepared


def die(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number: int) -> int:
    raise ValueError(f"no {number}")


@pytest.mark.parametrize("n_process", [1, 2, 3])
def test_results_come_in_order_from_prepared_processes(n_process):
    found = map_in_processes(square, range(50), n_process, prepare)
    assert list(found) == [(n**2, True) for n in range(50)]


@pytest.mark.parametrize("n_process", [1, 2])
def test_no_more_is_taken_in_than_is_needed(n_process):
    taken = count()
    results = map_in_processes(square, taken, n_process, prepare)
    assert len(list(islice(results, 10))) == 10
    results.close()
    assert next(taken) <= 10 + AHEAD * n_process


def test_what_goes_wrong_elsewhere_is_said_here():
    with pytest.raises(ValueError, match="no 0"):
        list(map_in_processes(fail, range(3), 2, prepare))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_killed_process_is_a_clear_error():
    results = map_in_processes(partial(die), range(50), 2, prepare)
    with pytest.raises(ChildProcessError, match=r"R233.*--resume"):
        list(results)
