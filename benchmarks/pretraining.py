"""How many words a second pretraining learns from on one core, and in what memory.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/pretraining.py
    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/pretraining.py training/lm

The second goes on from the checkpoint of a run, when most gates have closed, as they
are for all but the first minutes; nothing is written there. Steps are timed as they
are taken, without measuring perplexity and saving. Writes metrics/pretraining.json.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from itertools import islice
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import srsly
from spacy.util import load_config

from refreader_spacy.pretraining.run import Run

CONFIG = Path("configs/lm.cfg")
WARM_UP, STEPS = 10, 100


def resident() -> float:
    """What the process holds in memory now, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main(output: Path | None) -> None:
    """Take some steps; print words a second of CPU time."""
    run = Run(load_config(CONFIG), output or Path("training/none"))
    if output:
        run.load()
    start = run.step
    run.save_every = 0
    blocks = run.cutter(run.corpus.starts, run.articles)
    held = []
    seconds, words = 0.0, 0
    for block in islice(blocks, start, start + WARM_UP + STEPS):
        began, before = time.process_time(), run.n_words
        run.learn(block)
        if run.step > start + WARM_UP:
            seconds += time.process_time() - began
            words += run.n_words - before
            held.append(resident())
    half = len(held) // 2
    result = {
        "config": CONFIG.name,
        "after_words": run.n_words - words,
        "words": words,
        "cpu_seconds": seconds,
        "words_per_second": words / seconds,
        "mb_first_half": max(held[:half]),
        "mb_second_half": max(held[half:]),
        "n_cells": len(run.language_model.reader.memory.initial_keys),
    }
    srsly.write_json("metrics/pretraining.json", result)
    print(f"after {result['after_words']:,} words:", end=" ")
    print(f"{words:,} words, {words / seconds:,.0f} a second of CPU time")
    print(f"memory {max(held[:half]):,.0f} MB, then {max(held[half:]):,.0f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
