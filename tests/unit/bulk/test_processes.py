from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial
from itertools import count, islice
from pathlib import Path

import pytest

from refreader_spacy.bulk.processes import AHEAD, map_in_processes, started_workers
from refreader_spacy.bulk.worker import Worker, WorkerStopped

METHODS = multiprocessing.get_all_start_methods()


def answers(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 6:
        time.sleep(600)
    if number == 7:
        raise ValueError("no 7")
    return number**2


def setup():
    return answers


def fails():
    raise ValueError("no such pipeline")


def dies():
    os._exit(3)


def dies_at_first(path: Path):
    if not path.exists():
        path.touch()
        os._exit(3)
    return answers


@pytest.fixture
def worker():
    worker = Worker(setup)
    yield worker
    worker.stop()


@pytest.mark.parametrize("n_process", [1, 2, 3])
def test_results_come_in_order(n_process):
    pieces = [n % 5 + 8 for n in range(50)]
    with started_workers(setup, n_process) as workers:
        found = list(map_in_processes(workers, pieces))
    assert found == [piece**2 for piece in pieces]


@pytest.mark.parametrize("method", METHODS)
def test_processes_may_be_started_in_any_way(method):
    with started_workers(setup, 1, method) as workers:
        assert list(map_in_processes(workers, [1, 2])) == [1, 4]


@pytest.mark.parametrize("n_process", [1, 2])
def test_no_more_is_taken_in_than_is_needed(n_process):
    taken = count(8)
    with started_workers(setup, n_process) as workers:
        results = map_in_processes(workers, taken)
        assert len(list(islice(results, 10))) == 10
    assert next(taken) - 8 <= 10 + AHEAD * n_process


def test_pieces_that_end_or_stall_a_process_are_reported_in_their_place():
    with started_workers(setup, 2) as workers:
        found = list(
            map_in_processes(workers, range(1, 7), lambda n: 0.5 if n == 6 else 600)
        )
    assert found[:4] == [1, 4, 9, 16]
    assert [type(each) for each in found[4:]] == [WorkerStopped] * 2
    assert "exit code -9" in str(found[4])
    assert "longer than 0.5 seconds" in str(found[5])


def test_what_goes_wrong_in_a_worker_is_raised_here(worker):
    with pytest.raises(ValueError, match="no 7"):
        worker.call(7)
    assert worker.call(2) == 4


def test_a_stopped_worker_is_started_again(worker):
    with pytest.raises(WorkerStopped, match="longer than"):
        worker.call(6, seconds=0.2)
    assert worker.call(3, seconds=600) == 9
    with pytest.raises(WorkerStopped, match="exit code"):
        worker.call(5)
    assert worker.call(4) == 16


def test_a_setup_that_fails_is_an_error_at_the_first_call():
    expected = pytest.raises(ValueError, match="no such pipeline")
    with started_workers(fails, 2) as workers, expected:
        list(map_in_processes(workers, [1]))
    expected = pytest.raises(ChildProcessError, match=r"R233.*--resume")
    with started_workers(dies, 1) as workers, expected:
        workers[0].call(1)


def test_a_worker_that_ends_while_it_starts_is_started_again(tmp_path):
    """Something else may have ended it: of a long run, that is no reason to end."""
    with started_workers(partial(dies_at_first, tmp_path / "died"), 1) as workers:
        assert list(map_in_processes(workers, [1, 2])) == [1, 4]


class Worn:
    """Answers two requests in a process."""

    n_answers = 0

    def __call__(self, number: int) -> int:
        self.n_answers += 1
        return os.getpid()

    @property
    def is_worn(self) -> bool:
        return self.n_answers == 2


def test_a_worn_process_is_replaced_and_no_request_is_lost():
    with started_workers(Worn, 1) as workers:
        pids = list(map_in_processes(workers, range(6)))
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4] == pids[5]


FORKED = """
import torch
from refreader_spacy.bulk.worker import Worker
numbers = torch.ones(1_000_000)
def setup():
    return lambda n: int((numbers + n).sum())
assert torch.get_num_threads() == 2
print(setup()(1))
worker = Worker(setup, "fork")
print(worker.call(1, seconds=120))
worker.stop()
"""


@pytest.mark.skipif("fork" not in METHODS, reason="this system has no fork")
def test_a_forked_process_may_compute_with_torch():
    """Also where its parent has done so in several threads, which aren't forked."""
    found = subprocess.run(
        [sys.executable, "-c", FORKED],
        env={**os.environ, "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
    )
    assert (found.stdout, found.returncode) == ("2000000\n" * 2, 0), found.stderr


PARENT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
import os, sys, time
from refreader_spacy.bulk.worker import Worker
def pid(seconds):
    if seconds:
        time.sleep(seconds)
    return os.getpid()
def setup():
    return pid
workers = [Worker(setup) for _ in range(3)]
print(*(worker.call(0) for worker in workers), flush=True)
for worker in workers[:2]:
    worker.send(600)
time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(how):
    """Whether they are busy or not."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        time.sleep(0.2)
        parent.send_signal(how)
        parent.wait(60)
    assert len(pids) == 3
    wait_until(lambda: not any(map(is_running, pids)))


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return status != "Z"


def wait_until(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
