"""How quick `refreader annotate` and the page are, and whether their memory is flat.

    OMP_NUM_THREADS=1 python -m benchmarks.bulk [--texts 200000] [--no-ray] [--page]

Annotates short texts with one process, with two, and on Ray with two actors, and
watches resident memory. Then 60 clients read on the page, without and with another
one that sends the worst text found; with --page, only that. Writes metrics/bulk.json.
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
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import httpx

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
TARGETS = {
    "ray.share_of_two_processes": (">=", 0.8),
    "one.memory_growth": ("<=", 0.05),
    "two.memory_growth": ("<=", 0.05),
    "page.slowdown": ("<=", 2),
}


def main() -> None:
    """Measure everything, print it beside what was aimed for, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=200_000)
    parser.add_argument("--no-ray", action="store_true")
    parser.add_argument("--page", action="store_true", help="only the page, as printed")
    parser.add_argument("--output", type=Path, default=Path("metrics/bulk.json"))
    args = parser.parse_args()
    if args.page:
        print(json.dumps(page(), indent=2))
        return
    with TemporaryDirectory() as folder:
        source = Path(folder, "in.jsonl")
        write_texts(source, args.texts)
        results: dict[str, Any] = {
            "texts": args.texts,
            "load_average": os.getloadavg()[0],
            "two": annotate(source, Path(folder, "two"), "-n", "2"),
        }
        if not args.no_ray:
            options = ("--engine", "ray", "-n", "2")
            results["ray"] = annotate(source, Path(folder, "ray"), *options)
            speeds = [results[name]["words_per_second"] for name in ("ray", "two")]
            results["ray"]["share_of_two_processes"] = speeds[0] / speeds[1]
        results["page"] = page()
        results["one"] = annotate(source, Path(folder, "one"), "-n", "1")
    targets = {k: v for k, v in TARGETS.items() if "ray" not in k or not args.no_ray}
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
    started = time.monotonic()
    with subprocess.Popen([*command, *options], start_new_session=True) as process:
        while process.poll() is None:
            memory.append((time.monotonic() - started, resident_mb(process.pid)))
            time.sleep(0.5)
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
        "megabytes": max(warm),
        "memory_growth": median(warm[-10:]) / median(warm[:10]) - 1,
    }


def resident_mb(session: int) -> float:
    """What all processes of a session have for themselves, and share."""
    total = 0.0
    for path in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                lines = (path / "smaps_rollup").read_text().splitlines()
                total += sum(int(s.split()[1]) for s in lines if s.startswith("Pss:"))
    return total / 1024


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
