"""How quick `refreader annotate` and the page are, and whether their memory is flat.

    OMP_NUM_THREADS=1 python -m benchmarks.bulk [--texts 200000] [--only ray]

Annotates short texts with two processes, on Ray with two actors, and with one process,
and watches memory and processor time of all that was started. Speeds are per second of
a core too, which other work on the machine changes less than the clock's. Then 60
clients read on the page, without and with another one that sends the worst text found.
Writes metrics/bulk.json after each, and keeps what is in it and wasn't asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import httpx
import psutil

from benchmarks.report import report
from refreader_spacy.cli.serve import load_reader
from refreader_spacy.page.app import page_app
from refreader_spacy.page.pool import ReadingPool
from refreader_spacy.page.server import serving

N_CLIENTS = 60
SENTENCES = [
    "{a} told {b} that she had lost his key.",
    "He laughed at her, and {a} left the house.",
    "The company said that it would sell its {c}.",
    "{b} wrote to his mother, who lived in {c}.",
]
NAMES = ["Ann Lee", "Mary Jones", "Ruth Calder"], ["Bo Hart", "John Smith", "Tom Hale"]
THINGS = ["cars", "Paris", "Dublin", "machines"]
OPTIONS = {
    "two": ("-n", "2"),
    "ray": ("--engine", "ray", "-n", "2"),
    "one": ("-n", "1"),
}
TARGETS = {
    "ray.share_of_words_per_core_second": (">=", 0.8),
    "one.memory_growth": ("<=", 0.05),
    "two.memory_growth": ("<=", 0.05),
    "page.slowdown": ("<=", 2),
}


def main() -> None:
    """Measure everything, print it beside what was aimed for, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=200_000)
    parser.add_argument("--only", action="append", choices=[*OPTIONS, "page"])
    parser.add_argument("--output", type=Path, default=Path("metrics/bulk.json"))
    args = parser.parse_args()
    results: dict[str, Any] = {}
    if args.output.exists():
        results = json.loads(args.output.read_text())
    wanted = args.only or [*OPTIONS, "page"]
    with TemporaryDirectory() as folder:
        source = Path(folder, "in.jsonl")
        write_texts(source, args.texts)
        for name in wanted:
            load = {"load_average": os.getloadavg()[0], "date": f"{date.today()}"}
            if name == "page":
                results[name] = page() | load
            else:
                found = annotate(source, Path(folder, name), *OPTIONS[name])
                results[name] = found | {"texts": args.texts} | load
            if {"two", "ray"} <= {*results}:
                two, ray = results["two"], results["ray"]
                for field in ("words_per_second", "words_per_core_second"):
                    ray[f"share_of_{field}"] = ray[field] / two[field]
            args.output.parent.mkdir(exist_ok=True)
            args.output.write_text(json.dumps(results, indent=2))
    targets = {k: v for k, v in TARGETS.items() if k.split(".")[0] in results}
    report(results, targets, args.output)


def write_texts(path: Path, n: int) -> None:
    chance = random.Random(0)
    with path.open("w") as file:
        for i in range(n):
            women, men = NAMES
            sentences = chance.choices(SENTENCES, k=chance.randint(2, 8))
            names = {"a": chance.choice(women), "b": chance.choice(men)}
            text = " ".join(sentences).format(**names, c=chance.choice(THINGS))
            file.write(json.dumps({"id": i, "text": text}) + "\n")


def annotate(source: Path, out: Path, *options: str) -> dict[str, float]:
    """Words a second from the first shard to the last, and how memory grew after the
    first minute."""
    command = [sys.executable, "-m", "refreader_spacy", "annotate", str(source)]
    size = max(1000, source.stat().st_size // 200 // 50)
    options = (*options, "-o", str(out), "--shard-size", str(size))
    memory: list[tuple[float, float]] = []
    seconds_of: dict[int, float] = {}
    started = time.monotonic()
    with subprocess.Popen([*command, *options]) as process:
        while process.poll() is None:
            megabytes = 0.0
            for each in processes_of(process.pid):
                with suppress(psutil.Error), each.oneshot():
                    times = each.cpu_times()
                    seconds_of[each.pid] = times.user + times.system
                    megabytes += each.memory_full_info().pss / 2**20
            memory.append((time.monotonic() - started, megabytes))
            time.sleep(1)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    shards = sorted(out.glob("*-*.jsonl"), key=lambda path: path.stat().st_mtime)
    manifest = (out / "manifest.jsonl").read_text().splitlines()[1:]
    n_words = {(s["source"], s["piece"]): s["words"] for s in map(json.loads, manifest)}
    first = n_words[tuple(map(int, shards[0].stem.split("-")))]
    seconds = shards[-1].stat().st_mtime - shards[0].stat().st_mtime
    warm = [mb for at, mb in memory if at > min(60, memory[-1][0] / 3)][:-2]
    return {
        "seconds": memory[-1][0],
        "words_per_second": (sum(n_words.values()) - first) / seconds,
        "core_seconds": sum(seconds_of.values()),
        "words_per_core_second": sum(n_words.values()) / sum(seconds_of.values()),
        "megabytes": max(warm),
        "memory_growth": median(warm[-10:]) / median(warm[:10]) - 1,
    }


def processes_of(pid: int) -> list[psutil.Process]:
    """A command and all that it started, which share some of their memory."""
    with suppress(psutil.Error):
        command = psutil.Process(pid)
        return [command, *command.children(recursive=True)]
    return []


def page() -> dict[str, float]:
    """The median time of clients, without and with the worst text."""
    pool = ReadingPool(partial(load_reader, None))
    chance = random.Random(0)
    worst = "".join(chance.choice("$(") for _ in range(100_000))
    try:
        with serving(page_app(pool)) as address:
            asyncio.run(visits(address, None))
            quiet = asyncio.run(visits(address, None))
            busy = asyncio.run(visits(address, worst))
    finally:
        pool.close()
    return {
        "quiet_ms": 1000 * median(quiet),
        "busy_ms": 1000 * median(busy),
        "slowdown": median(busy) / median(quiet),
    }


async def visits(address: str, worst: str | None) -> list[float]:
    """How long each of many texts took, with so many clients at a time."""
    text = " ".join(SENTENCES * 3).format(a="Ann Lee", b="Bo Hart", c="Paris")
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    taken: list[float] = []

    async with httpx.AsyncClient(timeout=600, limits=limits) as client:

        async def visit() -> None:
            for _ in range(5):
                started = time.monotonic()
                answer = await client.post(f"{address}read", content=text)
                answer.raise_for_status()
                taken.append(time.monotonic() - started)

        hog = None
        if worst:
            hog = asyncio.create_task(client.post(f"{address}read", content=worst))
            await asyncio.sleep(1)
        await asyncio.gather(*(visit() for _ in range(N_CLIENTS)))
        if hog:
            await hog
    return taken


if __name__ == "__main__":
    main()
