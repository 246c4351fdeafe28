"""A run that is killed at any moment goes on: nothing is lost, and nothing twice.

`make soak` does each of these 20 times.
"""

import os
import random
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from running import (
    LONGEST,
    TIMES,
    finish,
    ids_in,
    kill,
    processes_of,
    start,
    wait_for,
    write_records,
)

# So many that nearly each kill hits a run that still has work to do; where one doesn't,
# as on a machine where this process had to wait, there is another try
N_RECORDS = 600 * TIMES
TRIES = 10 + 2 * TIMES
OPTIONS = ("-n", 2, "--shard-size", 50, "--batch-size", 10)


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_is_resumed_and_has_everything_once(how):
    write_records(Path("in.jsonl"), N_RECORDS)
    chance = random.Random(TIMES)
    n_killed = 0
    for _ in range(TRIES):
        process = start("annotate", "in.jsonl", "-o", "out", *OPTIONS, "--resume")
        before = sum(ids_in(Path("out")).values())
        if chance.random() < 0.8:
            wait_for(
                lambda b=before, p=process: (
                    sum(ids_in(Path("out")).values()) > b or p.poll() is not None
                )
            )
        time.sleep(chance.random() * 0.2)
        kill(process, how)
        if process.returncode == 0:  # it had ended before
            shutil.rmtree("out")
            continue
        n_killed += 1
        if n_killed == TIMES:
            break
    assert n_killed == TIMES
    finish("annotate", "in.jsonl", "-o", "out", *OPTIONS, "--resume")
    assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)
    assert not list(Path("out").glob(".*"))


def test_a_killed_worker_is_replaced():
    """One after the other, in one run, which ends by itself."""
    write_records(Path("in.jsonl"), N_RECORDS)
    chance = random.Random(TIMES)
    for _ in range(TRIES):
        n_killed, n_needed = 0, 1
        with start("annotate", "in.jsonl", "-o", "out", *OPTIONS) as process:
            while n_killed < TIMES and process.poll() is None:
                n_shards = len(list(Path("out").glob("*-*.jsonl")))
                if n_shards >= n_needed:
                    with suppress(IndexError, ProcessLookupError):  # none at the moment
                        os.kill(chance.choice(workers_of(process.pid)), signal.SIGKILL)
                        n_killed += 1
                        # What was read when a process ended is done before that; a
                        # record whose second process ends too would be put aside
                        n_needed = n_shards + 3
                time.sleep(0.01)
            _, said = process.communicate(timeout=3 * LONGEST)
        assert (process.returncode, said.decode()) == (
            0,
            f"written to out: {N_RECORDS:,} texts\n",
        )
        assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)
        if n_killed == TIMES:
            return
        shutil.rmtree("out")
    pytest.fail("it always ended before")


def workers_of(pid: int) -> list[int]:
    return [child for child, parent in processes_of(pid).items() if parent == pid]


def test_a_file_is_joined_from_what_was_done_before():
    write_records(Path("in.jsonl"), N_RECORDS)
    finish("annotate", "in.jsonl", "-o", "whole.jsonl", *OPTIONS)
    parts = Path("out.jsonl.parts")
    for _ in range(TIMES):
        process = start("annotate", "in.jsonl", "-o", "out.jsonl", *OPTIONS, "--resume")
        n = len(list(parts.glob("*-*.jsonl")))
        wait_for(
            lambda n=n, p=process: (
                len(list(parts.glob("*-*.jsonl"))) > n or p.poll() is not None
            )
        )
        kill(process, signal.SIGKILL)
        if Path("out.jsonl").exists():
            break
    else:
        assert not Path("out.jsonl").exists()
        finish("annotate", "in.jsonl", "-o", "out.jsonl", *OPTIONS, "--resume")
    assert Path("out.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


def test_two_runs_do_not_write_to_one_folder():
    """The second one ends, and the first one goes on as if nothing had been."""
    write_records(Path("in.jsonl"), N_RECORDS)
    command = ("annotate", "in.jsonl", "-o", "out", *OPTIONS, "--resume")
    for _ in range(TRIES):
        with start(*command) as first:
            wait_for(lambda: ids_in(Path("out")))
            first.send_signal(signal.SIGSTOP)
            if sum(ids_in(Path("out")).values()) == N_RECORDS:  # it had done all before
                first.kill()
                first.wait(LONGEST)
                shutil.rmtree("out")
                continue
            with start(*command) as second:
                _, said = second.communicate(timeout=LONGEST)
            first.send_signal(signal.SIGCONT)
            assert b"[R277] Another run is writing to out." in said
            assert second.returncode == 1
            _, said = first.communicate(timeout=LONGEST)
        assert (first.returncode, said.decode()) == (
            0,
            f"written to out: {N_RECORDS:,} texts\n",
        )
        assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)
        return
    pytest.fail("the first one always ended before")
