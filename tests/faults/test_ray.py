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

pytest.importorskip("ray", reason="needs pip install 'refreader-spacy[ray]'")

N_RECORDS = 200 if TIMES == 1 else 3000
SIZES = ("--shard-size", 20, "--batch-size", 10)
RAY = (*SIZES, "--engine", "ray", "-n", 2)


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")


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
    finish("annotate", *inputs, "-o", "out", *RAY, "--resume")
    for path in Path("local").glob("*-*.jsonl"):
        assert Path("out", path.name).read_bytes() == path.read_bytes()
    found = Path("out/manifest.jsonl").read_text().splitlines(keepends=True)
    assert sorted(found) == sorted(lines)


def running_actors() -> list[int]:
    """Those of this test: an actor works in the folder of the command."""
    found = []
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            here = path.name.isdigit() and (path / "cwd").readlink() == Path.cwd()
            if here and b"ray::" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


@pytest.mark.skipif(TIMES == 1, reason="for `make soak`")
def test_killed_actors_and_drivers_lose_nothing():
    write_records(Path("in.jsonl"), N_RECORDS)
    for n in range(TIMES):
        process = start("annotate", "in.jsonl", "-o", "out", *RAY, "--resume")
        before = sum(ids_in(Path("out")).values())
        wait_for(
            lambda b=before, p=process: (
                sum(ids_in(Path("out")).values()) > b or p.poll() is not None
            ),
            120,
        )
        actors = running_actors()
        if actors and n % 2:
            os.kill(random.choice(actors), signal.SIGKILL)
            time.sleep(1)
        kill(process, signal.SIGKILL, 120)  # Ray takes a while to notice
    finish("annotate", "in.jsonl", "-o", "out", *RAY, "--resume")
    assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)


@pytest.mark.skipif(TIMES == 1, reason="for `make soak`")
def test_a_node_that_dies_is_done_without():
    write_records(Path("in.jsonl"), N_RECORDS)
    script = f"""
import sys, threading, time
from ray.cluster_utils import Cluster
from refreader_spacy.cli import app
cluster = Cluster(initialize_head=True, head_node_args=dict(num_cpus=1))
node = cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
def kill():
    from pathlib import Path
    while len(list(Path("out").glob("*-*.jsonl"))) < 3:
        time.sleep(0.05)
    cluster.remove_node(node, allow_graceful=False)
    cluster.add_node(num_cpus=1)
threading.Thread(target=kill, daemon=True).start()
app(["annotate", "in.jsonl", "-o", "out", "--address", cluster.address,
     *{[str(each) for each in RAY]!r}])
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600)
    assert ids_in(Path("out")) == dict.fromkeys(range(N_RECORDS), 1)
