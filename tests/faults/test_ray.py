"""The same run on a Ray cluster of this machine, with and without faults."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from running import TIMES, finish, ids_in, kill, start, wait_for, write_records

ray = pytest.importorskip("ray", reason="needs pip install 'refreader-spacy[ray]'")
from refreader_spacy.bulk.ray_engine import connected  # noqa: E402

N_RECORDS = 200 if TIMES == 1 else 3000
SIZES = ("--shard-size", 20, "--batch-size", 10)
RAY = (*SIZES, "--engine", "ray", "-n", 2)


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    # By default Ray's workers give way to all else: on a busy machine they stand still
    monkeypatch.setenv("RAY_worker_niceness", "0")


def test_a_run_that_was_begun_here_goes_on_there():
    """Input, shards and manifest are the same."""
    write_records(Path("in.jsonl"), N_RECORDS)
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("Ann lost her key.")
    inputs = ("in.jsonl", "texts")
    finish("annotate", *inputs, "-o", "local", *SIZES)
    lines = Path("local/manifest.jsonl").read_text().splitlines(keepends=True)
    Path("out").mkdir()
    Path("out/manifest.jsonl").write_text("".join([lines[0], *lines[2:4]]))
    for name in ("000000-000001.jsonl", "000000-000002.jsonl"):
        Path("out", name).write_bytes(Path("local", name).read_bytes())
    finish("annotate", *inputs, "-o", "out", *RAY, "--resume", seconds=900)
    for path in Path("local").glob("*-*.jsonl"):
        assert Path("out", path.name).read_bytes() == path.read_bytes()
    found = Path("out/manifest.jsonl").read_text().splitlines(keepends=True)
    assert sorted(found) == sorted(lines)


def test_no_cluster_is_a_message_of_ours(monkeypatch):
    """Where a machine is too busy, Ray gives up after 30 seconds."""

    def fail(**settings) -> None:
        raise Exception("The node timed out\nduring startup.")

    monkeypatch.setattr(ray, "init", fail)
    expected = r"\[R271\] No Ray cluster could be started: The node timed out during"
    with pytest.raises(ValueError, match=expected), connected(None, 2):
        pass


def running_actors() -> list[int]:
    """Those of this test that annotate: they work in the folder of the command."""
    found = []
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            here = path.name.isdigit() and (path / "cwd").readlink() == Path.cwd()
            if here and b"ray::MapWorker" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def n_shards() -> int:
    return len(list(Path("out").glob("*-*.jsonl")))


@pytest.mark.skipif(TIMES == 1, reason="for `make soak`")
def test_killed_drivers_lose_nothing():
    write_records(Path("in.jsonl"), N_RECORDS)
    codes = []
    for _ in range(TIMES):
        before = n_shards()
        process = start("annotate", "in.jsonl", "-o", "out", *RAY, "--resume")
        wait_for(
            lambda b=before, p=process: n_shards() > b or p.poll() is not None, 600
        )
        kill(process, signal.SIGKILL)  # Ray takes a while to notice
        codes.append(process.returncode)
    finish("annotate", "in.jsonl", "-o", "out", *RAY, "--resume", seconds=1800)
    assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)
    assert codes == [-signal.SIGKILL] * TIMES  # none had ended before


@pytest.mark.skipif(TIMES == 1, reason="for `make soak`")
def test_killed_actors_are_replaced():
    """One after the other, in one run, which ends by itself."""
    write_records(Path("in.jsonl"), N_RECORDS)
    n_killed = 0
    with start("annotate", "in.jsonl", "-o", "out", *RAY) as process:
        while n_killed < TIMES and process.poll() is None:
            if n_shards() > 2 * n_killed:
                with suppress(IndexError, ProcessLookupError):  # none at the moment
                    os.kill(random.choice(running_actors()), signal.SIGKILL)
                    n_killed += 1
            time.sleep(0.01)
        _, said = process.communicate(timeout=1800)
    assert process.returncode == 0, said.decode()
    assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)
    assert n_killed == TIMES


@pytest.mark.skipif(TIMES == 1, reason="for `make soak`")
def test_nodes_that_die_are_done_without():
    """As many as there is time for: each takes a while until another has come."""
    n_records = 1000 * TIMES
    write_records(Path("in.jsonl"), n_records)
    script = f"""
import subprocess, sys, time
from pathlib import Path
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args=dict(num_cpus=1))
node = cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
run = subprocess.Popen(
    [sys.executable, "-m", "refreader_spacy", "annotate", "in.jsonl", "-o", "out",
     "--address", cluster.address, *{[str(each) for each in RAY]!r}])
def n_shards():
    return len(list(Path("out").glob("*-*.jsonl")))
for n in range({TIMES}):
    done = n_shards()
    while n_shards() < done + 3 and run.poll() is None:
        time.sleep(0.05)
    if run.poll() is not None:
        break
    cluster.remove_node(node, allow_graceful=False)
    Path(f"killed-{{n}}").touch()
    node = cluster.add_node(wait=False, num_cpus=1)
code = run.wait()
cluster.shutdown()
sys.exit(code)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=3600)
    assert ids_in(Path("out")) == dict.fromkeys(range(n_records), 1)
    n_killed = len(list(Path().glob("killed-*")))
    print(f"{n_killed} nodes were killed")
    assert n_killed
