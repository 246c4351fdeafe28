"""A run that is killed at any moment goes on: nothing is lost, and nothing twice.

`make soak` does each of these 20 times.
"""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from running import (
    TIMES,
    finish,
    ids_in,
    kill,
    processes_of,
    start,
    wait_for,
    write_records,
)

# So many that each kill hits a run that still has work to do
N_RECORDS = 600 * TIMES
OPTIONS = ("-n", 2, "--shard-size", 50, "--batch-size", 10)


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_is_resumed_and_has_everything_once(how):
    write_records(Path("in.jsonl"), N_RECORDS)
    chance = random.Random(TIMES)
    for _ in range(TIMES):
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
        assert process.returncode != 0, "it had ended before"
    finish("annotate", "in.jsonl", "-o", "out", *OPTIONS, "--resume")
    assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)
    assert not list(Path("out").glob(".*"))


def test_a_killed_worker_is_replaced():
    write_records(Path("in.jsonl"), N_RECORDS)
    chance = random.Random(TIMES)
    process = start("annotate", "in.jsonl", "-o", "out", *OPTIONS)
    with process:
        for n in range(TIMES):
            wait_for(lambda n=n: len(list(Path("out").glob("*-*.jsonl"))) > n)
            wait_for(lambda: workers_of(process.pid), 20)
            os.kill(chance.choice(workers_of(process.pid)), signal.SIGKILL)
        _, said = process.communicate(timeout=900)
    assert (process.returncode, said.decode()) == (
        0,
        f"written to out: {N_RECORDS} texts\n",
    )
    assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)


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
