"""How fast the default reader's loops are, compiled and in NumPy, and all of a reading.

    OMP_NUM_THREADS=1 python -m benchmarks.kernels

Weights are drawn at random, so nothing is needed but this package. Each number is the
fastest of several runs, in microseconds; ratios are of runs in the same process. Writes
metrics/kernels.json.
"""

from __future__ import annotations

import argparse
import copy
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from benchmarks.report import report
from refreader_spacy.reader import kernels, memory
from refreader_spacy.reader.inference import read_parts
from refreader_spacy.reader.mentions import (
    N_FIELDS,
    N_KINDS,
    N_WORDS,
    Field,
    MentionTable,
)
from refreader_spacy.reader.network import EntityNetwork
from refreader_spacy.reader.recurrence import recur_reference
from refreader_spacy.reader.tokens import N_COLUMNS, OFFSET, SENTENCE, SENTENCE_START
from refreader_spacy.reader.weights import ReaderWeights

WIDTH = 300  # of word vectors
N_CELLS = 64
N_TEXTS, N_TOKENS = 64, 80  # about GAP's
LONG = 5_000  # tokens of a long text
MENTIONS = 0.28  # of tokens are a mention's head
TARGETS = {
    "memory.mention_us": ("<=", 12),
    "recurrence.token_us": ("<=", 12),
    "recurrence.token_alone_us": ("<=", 25),
    "reading.token_us": ("<=", 25),
    "reading.token_alone_us": ("<=", 25),
}


def main() -> None:
    """Measure everything, print it beside what was aimed for, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--output", type=Path, default=Path("metrics/kernels.json"))
    args = parser.parse_args()
    torch.manual_seed(0)
    network = EntityNetwork(width=WIDTH)
    parameters = {name: p.numpy() for name, p in network.state_dict().items()}
    weights = ReaderWeights(parameters, N_CELLS)
    results = {
        "memory": memory_speed(weights, args.runs),
        "recurrence": recurrence_speed(weights, args.runs),
        "reading": reading_speed(weights, args.runs),
    }
    report(results, TARGETS, args.output)


def fastest(
    run: Callable[..., object], prepare: Callable[[], Any], n_runs: int
) -> float:
    """Microseconds of the fastest run, each on what was prepared for it."""
    times = []
    for _ in range(n_runs):
        given = prepare()
        start = time.process_time()
        run(*given)
        times.append(time.process_time() - start)
    return 1e6 * min(times)


def memory_speed(
    weights: ReaderWeights, n_runs: int, n_mentions: int = 500
) -> dict[str, float]:
    """Of a mention where all cells are in use."""
    random = np.random.default_rng(0)
    table = random_mentions(random, 2 * N_CELLS + n_mentions)
    state = weights.start().memory
    sizes = weights.mention_size, weights.score_size, weights.product_size
    given = [random.normal(size=(len(table), n)).astype(np.float32) for n in sizes]
    new = np.full(len(table), 1e3, np.float32)  # all cells are written first
    first, rest = slice(2 * N_CELLS), slice(2 * N_CELLS, None)
    memory.read_mentions(
        weights.memory, state, table.part(first), *[x[first] for x in given], new[first]
    )
    arrays = [np.ascontiguousarray(x[rest]) for x in given]
    new = random.normal(size=n_mentions).astype(np.float32)

    def prepare() -> Any:
        return weights.memory, copy.deepcopy(state), table.part(rest), *arrays, new

    compiled = fastest(kernels.read_mentions, prepare, n_runs)
    plain = fastest(memory.read_mentions, prepare, 2)
    return {
        "mention_us": compiled / n_mentions,
        "reference_us": plain / n_mentions,
        "speedup": plain / compiled,
    }


def recurrence_speed(weights: ReaderWeights, n_runs: int) -> dict[str, float]:
    """Of a token, many texts side by side and one alone."""
    random = np.random.default_rng(0)
    n = N_TEXTS * N_TOKENS
    projected = random.normal(size=(n, 3 * weights.hidden_size)).astype(np.float32)

    def prepare(n_texts: int) -> Any:
        lengths = np.full(n_texts, n // n_texts)
        hidden = np.zeros((n_texts, weights.hidden_size), np.float32)
        return weights.recurrent, weights.hidden_bias, hidden, projected, lengths

    together = fastest(kernels.recur, lambda: prepare(N_TEXTS), n_runs)
    alone = fastest(kernels.recur, lambda: prepare(1), n_runs)
    plain = fastest(recur_reference, lambda: prepare(1), 2)
    return {
        "token_us": together / n,
        "token_alone_us": alone / n,
        "reference_us": plain / n,
        "speedup": plain / together,
        "speedup_alone": plain / alone,
    }


def reading_speed(weights: ReaderWeights, n_runs: int) -> dict[str, float]:
    """Of a token, from its row and vector to what is decided."""
    random = np.random.default_rng(0)
    detect(weights, random)
    results = {}
    for name, n_texts, length in (
        ("token", N_TEXTS, N_TOKENS),
        ("token_alone", 1, LONG),
        ("token_streamed", 1, 1),
    ):
        rows = [random_rows(random, length) for _ in range(n_texts)]
        vectors = [random_vectors(random, each) for each in rows]

        def prepare(rows: Any = rows, vectors: Any = vectors) -> Any:
            states = [weights.start() for _ in rows]
            if len(rows[0]) == 1:  # in the middle of a text
                before = random_rows(random, 500)
                read_parts(weights, states, [before], [random_vectors(random, before)])
            return weights, states, rows, vectors

        parts = read_parts(*prepare())
        took = fastest(read_parts, prepare, n_runs)
        results[f"{name}_us"] = took / (n_texts * length)
        results[f"{name}_mentions"] = sum(len(p.head) for p in parts) / (
            n_texts * length
        )
    return results


def detect(weights: ReaderWeights, random: np.random.Generator) -> None:
    """Move the detection's bias so that as many tokens as usual are heads."""
    rows = random_rows(random, 1_000)
    weights.detected.bias[:4] = 0
    low, high = -8.0, 8.0
    for _ in range(12):
        weights.detected.bias[:4] = middle = (low + high) / 2
        vectors = random_vectors(random, rows)
        (part,) = read_parts(weights, [weights.start()], [rows], [vectors])
        if len(part.head) > MENTIONS * len(rows):
            high = middle
        else:
            low = middle


def random_rows(random: np.random.Generator, n: int) -> Any:
    """Tokens of a text in which few words are frequent."""
    words = np.random.default_rng(1).integers(0, 2**31, (30_000, N_COLUMNS))
    words[:, 5:] %= 3
    rows = words[np.minimum(random.zipf(1.3, n), 30_000) - 1]
    rows[:, SENTENCE_START] = np.arange(n) % 20 == 0
    rows[:, SENTENCE] = np.arange(n) // 20
    rows[:, OFFSET] = np.arange(n) % 20
    return rows.astype(np.int32)


def random_vectors(random: np.random.Generator, rows: Any) -> Any:
    table = np.random.default_rng(2).normal(size=(997, WIDTH)).astype(np.float32)
    return table[rows[:, 0] % 997]


def random_mentions(random: np.random.Generator, n: int) -> MentionTable:
    fields = random.integers(0, 3, (n, N_FIELDS))
    fields[:, Field.POSITION] = 4 * np.arange(n)
    fields[:, Field.SENTENCE] = np.arange(n) // 5
    fields[:, Field.KIND] = random.integers(0, N_KINDS, n)
    fields[:, Field.SURE] = random.random(n) < 0.7
    for field in (Field.WORD, Field.STEM, Field.STRING):
        fields[:, field] = random.integers(1, 300, n)
    words = random.integers(1, 300, (n, N_WORDS))
    words[:, :-2] *= random.random((n, N_WORDS - 2)) < 0.3
    words *= fields[:, Field.SURE, None]
    names = words * (fields[:, Field.KIND, None] % 2)
    return MentionTable(*(x.astype(np.int32) for x in (fields, names, words)))


if __name__ == "__main__":
    main()
