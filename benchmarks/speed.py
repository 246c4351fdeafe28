"""How fast we read, and in how much memory: one command, one core, CPU time.

    OMP_NUM_THREADS=1 python -m benchmarks.speed --data ../shared/data

Two processes need two cores: don't pin it to one.

Short texts are GAP's test texts, from raw text; the long one is a novel, of which
growing prefixes are read as one Doc, and the whole also as a stream. Writes
metrics/speed.json.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import gc
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from benchmarks.report import report
from refreader_spacy.bulk.annotator import make_annotator
from refreader_spacy.bulk.formats import JsonLines
from refreader_spacy.bulk.pieces import in_batches
from refreader_spacy.bulk.processes import map_in_processes, started_workers
from refreader_spacy.bulk.records import BEGINNING as START
from refreader_spacy.bulk.records import TextRecord
from refreader_spacy.cli.annotate import pipeline
from refreader_spacy.component import RefReader
from refreader_spacy.decoding.clusters import Cluster, decode_clusters
from refreader_spacy.reader import inference
from refreader_spacy.reader.memory import read_mentions
from refreader_spacy.reader.recurrence import recur_reference
from refreader_spacy.streaming.events import ClusterFinished

PREFIXES = (1_000, 4_000, 16_000, 64_000)  # words
BATCH = 250  # texts that a process gets at a time
PIECE = 20  # words that a stream is fed at a time
BEGINNING = 1_000  # words that a stream's speed is compared with
N_STARTS = 5  # times that they are read, before all of it and after
TARGETS = {
    "gap.words_per_second": (">=", 20_000),
    "one.median_ms": ("<=", 8),
    "one.p99_ms": ("<=", 20),
    "novel.slowdown": ("<=", 1.2),
    "novel.peak_mb": ("<=", 50),
    "stream.slowdown": ("<=", 1.2),
    "stream.peak_mb": ("<=", 50),
    "stream.p99_ms": ("<=", 5),
    "processes.speedup": (">=", 1.7),
    "agreement.different_clusters": ("<=", 0),
    "agreement.largest_difference": ("<=", 1e-4),
}


def main() -> None:
    """Measure everything, print it beside what was aimed for, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", help="a pipeline; default: the package's weights")
    parser.add_argument("--limit", type=int, help="GAP texts to read; default: all")
    parser.add_argument("--words", type=int, help="of the novel; default: all")
    parser.add_argument("--output", type=Path, default=Path("metrics/speed.json"))
    args = parser.parse_args()
    nlp = load(args.model)
    texts = gap_texts(args.data / "gap" / "gap-test.tsv", args.limit)
    novel = (args.data / "novels" / "moby_dick.txt").read_text("utf8")
    novel = prefix(novel, args.words or len(novel))
    nlp.max_length = len(novel) + 1
    results = {  # memory first: what others leave behind would be used again
        "novel": whole_novel(nlp, novel),
        "stream": streamed_novel(nlp, novel),
        "gap": many_texts(nlp, texts),
        "one": one_by_one(nlp, texts[:500]),
        "processes": two_processes(nlp, texts),
        "agreement": agreement(nlp, texts),
    }
    report(results, TARGETS, args.output)


def load(name: str | None) -> Language:
    """A pipeline by name, or a blank one with the weights in the package."""
    nlp = spacy.load(name) if name else spacy.blank("en")
    if not name:
        nlp.add_pipe("refreader")
    return nlp


def gap_texts(path: Path, limit: int | None) -> list[str]:
    with path.open(encoding="utf8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row["Text"] for row in islice(rows, limit)]


def prefix(text: str, n_words: int) -> str:
    """The first words of a text, with its line breaks."""
    stop = 0
    for _ in range(n_words):
        while stop < len(text) and text[stop].isspace():
            stop += 1
        while stop < len(text) and not text[stop].isspace():
            stop += 1
    return text[:stop]


def seconds(action: Callable[[], Any], repeat: int = 3) -> float:
    """CPU time, the least of several: what else the machine does only adds to it."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        action()
        times.append(time.process_time() - started)
    return min(times)


def many_texts(nlp: Language, texts: list[str]) -> dict[str, float]:
    n_words = sum(len(text.split()) for text in texts)
    taken = seconds(lambda: list(nlp.pipe(texts, batch_size=1000)))
    make_docs = seconds(lambda: [nlp.make_doc(text) for text in texts])
    return {
        "texts": len(texts),
        "words": n_words,
        "words_per_second": n_words / taken,
        "share_of_tokenizer": make_docs / taken,
    }


def one_by_one(nlp: Language, texts: list[str]) -> dict[str, float]:
    taken = [1000 * seconds(lambda text=text: nlp(text)) for text in texts]
    return {
        "median_ms": float(np.median(taken)),
        "p99_ms": float(np.quantile(taken, 0.99)),
    }


def two_processes(nlp: Language, texts: list[str]) -> dict[str, float]:
    """As `refreader annotate -n 2` does it, and as `nlp.pipe(n_process=2)` does.

    The latter brings Docs back as bytes, which a worker writes and the main process
    reads: work too, where there are no more cores than workers.
    """
    texts = texts * max(1, 6000 // len(texts))
    given = [TextRecord("", i, text, len(text), START) for i, text in enumerate(texts)]
    setup = partial(make_annotator, partial(pipeline, None), JsonLines())
    lines = {}
    for n in (1, 2):
        with started_workers(setup, n) as workers:
            found = map_in_processes(workers, in_batches(iter(given), BATCH))
            lines[n] = rate(found, n_warm=n, n_texts=BATCH)
    docs = {
        n: rate(nlp.pipe(texts, batch_size=BATCH, n_process=n), n_warm=n * BATCH)
        for n in (1, 2)
    }
    some = list(nlp.pipe(texts[:BATCH]))
    data = [doc.to_bytes() for doc in some]
    reading = seconds(lambda: list(nlp.pipe(texts[:BATCH])))
    shipping = seconds(lambda: [doc.to_bytes() for doc in some])
    shipping += seconds(lambda: [Doc(nlp.vocab).from_bytes(each) for each in data])
    return {
        "speedup": lines[2] / lines[1],
        "speedup_of_pipe": docs[2] / docs[1],
        "reading_ms": 1000 * reading / BATCH,
        "shipping_ms": 1000 * shipping / BATCH,
    }


def rate(results: Iterable[Any], *, n_warm: int, n_texts: int = 1) -> float:
    """Texts a second by the clock, once all processes are at work."""
    results = iter(results)
    for _ in islice(results, n_warm):
        pass
    started = time.perf_counter()
    n_results = sum(1 for _ in results)
    return n_results * n_texts / (time.perf_counter() - started)


def agreement(nlp: Language, texts: list[str]) -> dict[str, float]:
    """Reading with the compiled loops against their definition in NumPy."""
    pipe = find_reader(nlp)
    docs = [nlp.make_doc(text) for text in texts]
    different, largest = 0, 0.0
    compiled = pipe.predict(docs)
    with (
        patch.object(inference, "read_mentions", read_mentions),
        patch.object(inference, "recur", recur_reference),
    ):
        plain = pipe.predict(docs)
    for quick, slow in zip(compiled, plain, strict=True):
        found, expected = (
            list(decode_clusters(part, pipe.threshold, labels=pipe.reader.labels))
            for part in (quick, slow)
        )
        if [c.mentions for c in found] != [c.mentions for c in expected]:
            different += 1
        else:
            gaps = np.subtract(probabilities(found), probabilities(expected))
            largest = max(largest, float(np.abs(gaps).max(initial=0)))
    return {"different_clusters": different, "largest_difference": largest}


def probabilities(clusters: list[Cluster]) -> list[float]:
    return [link.probability for cluster in clusters for link in cluster.links]


def whole_novel(nlp: Language, novel: str) -> dict[str, Any]:
    """As one Doc; time and memory are of the component alone, without the tokenizer."""
    pipe = find_reader(nlp)
    per_word = {}
    n_words = len(novel.split())
    peak = 0.0
    for size in [*(size for size in PREFIXES if size < n_words), n_words]:
        doc = nlp.make_doc(prefix(novel, size))
        before = forget_peak()
        taken = seconds(lambda doc=doc: pipe(doc))
        peak = peak_mb() - before
        per_word[size] = 1e6 * taken / size
    return {
        "microseconds_per_word": per_word,
        "slowdown": per_word[n_words] / per_word[min(per_word)],
        "peak_mb": peak,
    }


def streamed_novel(nlp: Language, novel: str) -> dict[str, float]:
    """From raw text in small pieces. The vocab grows with the text, so it is read once
    before memory is measured. Its beginning takes so short that it is read often,
    before and after the whole."""
    for _ in nlp.pipe([novel], disable=nlp.pipe_names):
        pass
    beginning = prefix(novel, BEGINNING)
    starts = [feed(nlp, beginning) for _ in range(N_STARTS)]
    before = forget_peak()
    taken, n_words, n_clusters = feed(nlp, novel)
    peak = peak_mb() - before
    starts += [feed(nlp, beginning) for _ in range(N_STARTS)]
    at_first = np.median([seconds.sum() / words for seconds, words, _ in starts])
    per_word = taken.sum() / n_words
    return {
        "microseconds_per_word": 1e6 * per_word,
        "slowdown": float(per_word / at_first),
        "p99_ms": 1000 * float(np.quantile(taken, 0.99)),
        "peak_mb": peak,
        "clusters": n_clusters,
    }


def feed(nlp: Language, text: str) -> tuple[Any, int, int]:
    """Stream a text: seconds a piece, words, and clusters that were finished."""
    stream = find_reader(nlp).stream()
    taken, n_words, n_clusters = [], 0, 0
    for piece in pieces(text):
        started = time.process_time()
        events = stream.feed(piece)
        taken.append(time.process_time() - started)
        n_words += len(piece.split())
        n_clusters += sum(isinstance(event, ClusterFinished) for event in events)
    return np.array(taken), n_words, n_clusters


def pieces(text: str) -> Iterator[str]:
    words = re.findall(r"\s*\S+\s*?", text)
    for start in range(0, len(words), PIECE):
        yield "".join(words[start : start + PIECE])


def find_reader(nlp: Language) -> RefReader:
    return next(pipe for _, pipe in nlp.pipeline if isinstance(pipe, RefReader))


def forget_peak() -> float:
    """Start to watch for the peak of memory; what is used now, in MB.

    What was used before goes back to the system, so that using it again counts.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return memory_mb("VmRSS")


def peak_mb() -> float:
    return memory_mb("VmHWM")


def memory_mb(field: str) -> float:
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    (line,) = [line for line in lines if line.startswith(f"{field}:")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
