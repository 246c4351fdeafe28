"""How much we find, beside others with their real weights, and how fast.

    python -m benchmarks.peers_quality --data ../shared/data
    python -m benchmarks.peers_quality --only refreader  # the others stay as they were

All systems get the same tokens and are scored by the same code: CoNLL F1 of clusters on
OntoGUM dev and LitBank test, without single mentions, and GAP's F1 of clusters. All
systems keep their default settings on all sets. Times are CPU seconds of one core for
whole pipelines, one text after the other, tokenizing not included.

Needs Python 3.7 for the others, whose environments are made from the package index, and
the extra [bench] for the picture. Writes metrics/peers_quality.json and, if it can be
drawn, docs/peers-quality.svg; `make docs` makes the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from benchmarks import peers_systems
from benchmarks.peers import LOOKS, blank, save
from benchmarks.peers_systems import Clusters, System, plain
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
ONTOGUM, LITBANK, GAP = "OntoGUM dev", "LitBank test", "GAP test"
SCORES = {ONTOGUM: "coref_f", LITBANK: "coref_f", GAP: "gap_clusters_f"}
MARKS = {ONTOGUM: "o", LITBANK: "s", GAP: "^"}
COLOURS = {
    "refreader": LOOKS["refreader"][0],
    "neuralcoref": "#CC79A7",
    "xrenner": "#E69F00",
}


def main() -> None:
    """Score the systems, and draw what is known of all."""
    args = arguments()
    if not args.draw:
        systems: dict[str, Callable[[], System]] = {
            "refreader": peers_systems.refreader,
            "neuralcoref": lambda: peers_systems.neuralcoref(
                args.cache / "neuralcoref", args.python37
            ),
            "xrenner": lambda: peers_systems.xrenner(
                args.cache / "xrenner",
                args.python37,
                args.data / "ontogum" / "dev",
                ONTOGUM,
            ),
        }
        nlp = spacy.blank("en")
        golds = {name: docs[: args.limit] for name, docs in gold(args.data, nlp)}
        known = srsly.read_json(METRICS) if METRICS.is_file() else {}
        for name in args.only or systems:
            known[name] = measure(golds, systems[name]())
            ordered = {name: known[name] for name in systems if name in known}
            srsly.write_json(METRICS, ordered)
    if args.draw or find_spec("matplotlib"):
        draw(srsly.read_json(METRICS))
    else:
        print(f"Without matplotlib, {PICTURE.name} stays as it was: install [bench]")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="+", choices=COLOURS, help="these systems")
    parser.add_argument("--python37", default=peers_systems.find_python37())
    cache = Path.home() / ".cache" / "refreader-peers"
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--limit", type=int, help="of the texts of each set")
    parser.add_argument("--draw", action="store_true", help="only draw")
    args = parser.parse_args()
    others = args.only is None or args.only != ["refreader"]
    if others and not args.draw and args.python37 is None:
        parser.error("the other systems need Python 3.7: say --python37 PATH")
    return args


def gold(data: Path, nlp: Language) -> Iterator[tuple[str, list[Doc]]]:
    """The documents that are scored, by the name of the set."""
    ontogum = sorted((data / "ontogum" / "dev").glob("*.conllu"))
    documents = [document for path in ontogum for document in read_corefud(path)]
    yield ONTOGUM, [gold_doc(document, nlp.vocab) for document in documents]
    # Sorted by name, every tenth is for tests (see the data's README)
    litbank = sorted((data / "litbank").rglob("*.conll"))[::10]
    documents = [document for path in litbank for document in read_conll2012(path)]
    yield LITBANK, [gold_doc(document, nlp.vocab) for document in documents]
    rows = read_gap(data / "gap" / "gap-test.tsv")
    yield GAP, [example.reference for example in gap_examples(rows, nlp)]


def measure(golds: dict[str, list[Doc]], system: System) -> dict[str, Any]:
    """A system's size, and its scores and time on each set."""
    sets = {
        name: measure_set(name, docs, system)
        for name, docs in golds.items()
        if system.sets is None or name in system.sets
    }
    return {"note": system.note, "megabytes": system.megabytes(), "sets": sets}


def measure_set(name: str, docs: list[Doc], system: System) -> dict[str, Any]:
    seconds = 0.0
    examples = []
    for doc, (clusters, took) in zip(docs, system.read(docs), strict=True):
        examples.append(Example(with_clusters(doc, clusters), doc))
        seconds += took
    scores = score_coref(examples, threshold=0.5, keep_singletons=False)
    found = {
        "texts": len(docs),
        "words": sum(not token.is_punct for doc in docs for token in doc),
        "seconds": seconds,
        "f1": scores[SCORES[name]],
    }
    print(name, found)
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


def draw(results: dict[str, Any]) -> None:
    """F1 against words per second: a colour for each system, a mark for each set."""
    figure, (ax,) = blank(1, (7, 3.6))
    for system, measured in results.items():
        ax.plot([], [], "-", linewidth=6, color=COLOURS[system], label=system)
        for name, found in measured["sets"].items():
            rate, f1 = found["words"] / found["seconds"], 100 * found["f1"]
            # Unfilled: results of two sets may be in one place
            look = {"color": COLOURS[system], "fillstyle": "none"}
            ax.semilogx(rate, f1, MARKS[name], markersize=9, markeredgewidth=2, **look)
    for name, mark in MARKS.items():
        ax.plot([], [], mark, color="grey", label=name)
    figure.legend(loc="outside right center", frameon=False)
    ax.set_xlabel("words per second, one core, tokenizing not included")
    ax.set_title("F1 of clusters", loc="left", fontsize=10)
    ax.margins(0.15)
    save(figure, PICTURE)


if __name__ == "__main__":
    main()
