"""Threads, processes and memory: what runs for long or side by side gives the same."""

import gc
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from multiprocessing import get_all_start_methods
from pathlib import Path

import pytest
from running import TEXT, TIMES

from refreader_spacy.bulk.annotator import make_annotator
from refreader_spacy.bulk.formats import JsonLines
from refreader_spacy.bulk.records import BEGINNING, TextRecord
from refreader_spacy.bulk.worker import Worker
from refreader_spacy.cli.annotate import pipeline

N_WORDS = 60_000 if TIMES == 1 else 1_000_000
# That the tables of an annotator's vocab take until another process replaces it
TABLES = 10e6 if TIMES == 1 else 100e6
SETUP = partial(make_annotator, partial(pipeline, None), JsonLines())


def records(texts: list[str]) -> list[TextRecord]:
    return [TextRecord("", n, text, 0, BEGINNING) for n, text in enumerate(texts)]


def resident_bytes() -> int:
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


def test_new_words_are_forgotten_again():
    annotate = SETUP()
    strings = pipeline(None).vocab.strings
    numbers = count()
    sizes, n_strings = [], []
    for _ in range(N_WORDS // 10_000):
        words = [f"Ann{next(numbers)}x" for _ in range(10_000)]
        texts = [" ".join(words[i::20]) for i in range(20)]
        assert annotate(records(texts)).n_words == 10_000
        sizes.append(resident_bytes())
        n_strings.append(len(strings))
    assert n_strings[-1] == n_strings[0]
    assert sizes[-1] - sizes[1] < 0.05 * sizes[1] + TABLES
    assert annotate.is_worn is (TIMES > 1)


def test_a_stream_forgets_new_words_again():
    nlp = pipeline(None)
    stream = nlp.get_pipe("refreader").stream()
    numbers = count()
    sizes, n_strings = [], []
    for _ in range(N_WORDS // 10_000):
        for _ in range(100):
            stream.feed("".join(f"Ann{next(numbers)}x " for _ in range(100)))
        sizes.append(resident_bytes())
        n_strings.append(len(nlp.vocab.strings))
    assert stream._clusters.n_tokens >= N_WORDS - 1
    assert n_strings[-1] - n_strings[0] < 100
    assert sizes[-1] - sizes[1] < 0.05 * sizes[1] + 10e6


def test_many_documents_leave_nothing_behind():
    annotate = SETUP()
    batch = records([TEXT] * 100)
    sizes = []
    for _ in range(20 * TIMES):
        annotate(batch)
        sizes.append(resident_bytes())
    assert sizes[-1] - sizes[5] < 0.05 * sizes[5]


def test_threads_may_share_a_pipeline():
    nlp = pipeline(None)
    text = "Ann{n} told Bo{n} that she lost his key. He laughed. " * 5
    texts = [text.format(n=n) for n in range(40)]

    def clusters(text: str) -> list:
        return [[str(m) for m in cluster] for cluster in nlp(text)._.coref_clusters]

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(clusters, texts))
    assert found == [clusters(text) for text in texts]


def test_threads_may_stream_with_a_pipeline_that_others_read_with():
    """A stream forgets new words; those of Docs that were made meanwhile stay."""
    nlp = pipeline(None)

    def read(names: list[str]) -> list:
        docs = [nlp(f"{name} saw {name}") for name in names]
        return [token.text for doc in docs for token in doc]

    def feed(names: list[str]) -> list:
        stream = nlp.get_pipe("refreader").stream()
        events = [event for name in names for event in stream.feed(f"{name} left and ")]
        return [*events, *stream.close()]

    names = [[f"{name}{n}" for n in range(60)] for name in ("Ann", "Bo", "Eve")]
    expected = [feed(names[1]), feed(names[2])]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(3) as threads:
            words = threads.submit(read, names[0])
            assert list(threads.map(feed, names[1:])) == expected
    finally:
        sys.setswitchinterval(interval)
    assert words.result() == [w for name in names[0] for w in (name, "saw", name)]


@pytest.mark.parametrize("method", get_all_start_methods())
def test_processes_give_the_same_however_they_are_started(method):
    """To the last bit in processes that are started alike.

    This one may have another number of threads for NumPy's products: OMP_NUM_THREADS
    counts when NumPy is loaded, and OpenBLAS adds up in another order with each number,
    so that the last bits of probabilities differ. With the same number they don't,
    wherever in memory the numbers are and however busy the machine is.
    """
    batch = records([TEXT * n for n in range(5)])
    expected = SETUP()(batch)
    workers = [Worker(SETUP, method) for _ in range(2)]
    try:
        found = [worker.call(batch) for worker in workers]
    finally:
        for worker in workers:
            worker.stop()
    assert found[0] == found[1]
    assert clusters_of(found[0]) == clusters_of(expected)
    assert found[0].rejected == expected.rejected


def clusters_of(annotated) -> list:
    lines = b"".join(annotated.data).splitlines()
    return [(record["id"], record["clusters"]) for record in map(json.loads, lines)]
