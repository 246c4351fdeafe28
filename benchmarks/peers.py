"""How fast we read, beside others: one command, one core each, CPU time and memory.

    python benchmarks/peers.py --data ../shared/data

Each system reads in a process of its own, the others in environments that are made
here from the package index. Where their weights can't be downloaded, they run with
random ones of the published shape: what they find is then worth nothing, but it takes
as long. Short texts are GAP's test texts, the long ones growing beginnings of a novel;
a system that takes too long for one beginning, or dies of it, gets no longer one.

Writes metrics/peers.json and two pictures into docs/; `make docs` makes the tables.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve()
ROOT = HERE.parents[1]
LENGTHS = (1_000, 4_000, 16_000, 64_000)  # words
PATIENCE = 120  # seconds of CPU for one text; who needs more gets no longer one
# Okabe and Ito's colours, which everybody can tell apart, and marks for print
LOOKS = {
    "refreader": ("#0072B2", "o"),
    "fastcoref": ("#D55E00", "s"),
    "spacy-experimental": ("#009E73", "^"),
}

Reader = Callable[[list[str]], Any]
Result = dict[str, Any]


class Peer(NamedTuple):
    """Another system: what pip installs, and what it is that runs."""

    packages: list[str]
    note: str


PEERS = {
    "fastcoref": Peer(
        ["fastcoref==2.1.6", "transformers<5"],
        "F-coref, a DistilRoBERTa with its published head; random weights, and a "
        "byte-pair vocabulary learned from the texts",
    ),
    "spacy-experimental": Peer(
        # Its spaCy imports click, which it got from an older Typer
        ["spacy-experimental[torch]==0.6.4", "click"],
        "its default coreference model, on a tok2vec; random weights, without the "
        "second model that finds the mentions' ends",
    ),
}


def main() -> None:
    """Run all systems, write down what was measured, and draw it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="GAP and the novel"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path.home() / ".cache" / "refreader-peers",
        help="where the others' environments are kept",
    )
    parser.add_argument(
        "--texts",
        type=int,
        default=200,
        help="of GAP, for the others; we read all",
    )
    parser.add_argument(
        "--longest", type=int, default=LENGTHS[-1], help="beginning of the novel"
    )
    parser.add_argument(
        "--memory", type=float, default=10, help="GB that a system may take"
    )
    parser.add_argument(
        "--draw", action="store_true", help="only draw what was measured before"
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)  # a system, run by itself
    parser.add_argument("--length", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        print(json.dumps(work(args)))
        return
    path = ROOT / "metrics" / "peers.json"
    if not args.draw:
        path.write_text(json.dumps(measure(args), indent=2), "utf8")
    results = json.loads(path.read_text("utf8"))
    draw_speed(results, ROOT / "docs" / "peers-speed.svg")
    draw_lengths(results, ROOT / "docs" / "peers-length.svg")


def measure(args: argparse.Namespace) -> Result:
    """Every system on every text."""
    pythons = {"refreader": Path(sys.executable)}
    for name, peer in PEERS.items():
        pythons[name] = environment(args.cache / name, peer)
    results: Result = {}
    for name, python in pythons.items():
        results[name] = {"gap": run(python, name, args), "lengths": {}}
        for length in (length for length in LENGTHS if length <= args.longest):
            found = run(python, name, args, length)
            results[name]["lengths"][length] = found
            if found.get("seconds", PATIENCE + 1) > PATIENCE:
                break
    return results


def environment(folder: Path, peer: Peer) -> Path:
    """The Python of a virtual environment with a peer in it, made if it isn't there."""
    python = folder / "bin" / "python"
    if not (folder / "ready").is_file():
        print(f"Installing {', '.join(peer.packages)} into {folder} ...")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "-c", "constraints.txt"]
        subprocess.run([*pip, *peer.packages], check=True, cwd=ROOT)
        (folder / "ready").touch()
    return python


def run(
    python: Path, name: str, args: argparse.Namespace, length: int | None = None
) -> Result:
    """One system on GAP, or on one beginning of the novel, in its own process."""
    command = [python, HERE, "--worker", name, "--data", args.data]
    command += ["--cache", args.cache, "--memory", args.memory]
    command += ["--texts", args.texts]
    command += ["--length", length] if length else []
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["killed"]
        found: Result = {"died": reason[0][:200]}
    else:
        found = json.loads(done.stdout.splitlines()[-1])
    print(f"{name:20} {f'{length:,} words' if length else 'GAP':14} {found}")
    return found


def work(args: argparse.Namespace) -> Result:
    """What a system's own process does: load, read, and look at clock and memory."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    limit = int(args.memory * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (10 * PATIENCE, 10 * PATIENCE))
    texts = gap_texts(args.data / "gap" / "gap-test.tsv")
    novel = (args.data / "novels" / "moby_dick.txt").read_text("utf8")
    read = LOADERS[args.worker](args.cache, [*texts, novel])
    if args.worker in PEERS:  # they are slow
        texts = texts[: args.texts]
    # Whatever is only done once, such as looking up words for the first time
    read(texts[:5] if args.length else texts)
    if args.length:
        texts = [beginning(novel, args.length)]
    n_words = sum(len(text.split()) for text in texts)
    started = time.process_time()
    read(texts)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"texts": len(texts), "words": n_words, "seconds": seconds, "peak_mb": peak}


def load_refreader(cache: Path, texts: list[str]) -> Reader:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("refreader")
    return spacy_reader(nlp)


def load_spacy_experimental(cache: Path, texts: list[str]) -> Reader:
    import spacy
    import spacy_experimental.coref.coref_component  # noqa: F401, its factory

    nlp = spacy.blank("en")
    nlp.add_pipe("experimental_coref")
    nlp.get_pipe("experimental_coref").model.initialize(X=[nlp.make_doc(texts[0])])
    return spacy_reader(nlp)


def spacy_reader(nlp: Any) -> Reader:
    nlp.max_length = 10**9
    return lambda texts: list(nlp.pipe(texts))


def load_fastcoref(cache: Path, texts: list[str]) -> Reader:
    import logging

    import spacy
    from fastcoref import FCoref

    logging.disable()
    folder = cache / "fcoref"
    if not (folder / "config.json").is_file():
        write_random_fcoref(folder, texts)
    nlp = spacy.blank("en")
    nlp.max_length = 10**9
    model = FCoref(str(folder), device="cpu", nlp=nlp, enable_progress_bar=False)
    return lambda texts: model.predict(texts=texts)


def write_random_fcoref(folder: Path, texts: list[str]) -> None:
    """F-coref's shape, as its config on the hub has it, with weights as they begin."""
    from fastcoref.coref_models.modeling_fcoref import FCorefModel
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaTokenizerFast

    config = RobertaConfig(
        vocab_size=50265,
        max_position_embeddings=514,
        num_hidden_layers=6,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        coref_head={
            "max_span_length": 30,
            "top_lambda": 0.25,
            "ffnn_size": 1024,
            "dropout_prob": 0.3,
            "max_segment_len": 512,
        },
    )
    folder.mkdir(parents=True, exist_ok=True)
    bpe = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe.train_from_iterator(texts, vocab_size=50265, special_tokens=special)
    bpe.save_model(str(folder))
    tokenizer = RobertaTokenizerFast.from_pretrained(folder, add_prefix_space=True)
    tokenizer.save_pretrained(folder)
    FCorefModel(config).save_pretrained(folder)


LOADERS: dict[str, Callable[[Path, list[str]], Reader]] = {
    "refreader": load_refreader,
    "fastcoref": load_fastcoref,
    "spacy-experimental": load_spacy_experimental,
}


def gap_texts(path: Path) -> list[str]:
    with path.open(encoding="utf8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row["Text"] for row in rows]


def beginning(text: str, n_words: int) -> str:
    words = islice(re.finditer(r"\S+", text), n_words)
    return text[: max((word.end() for word in words), default=0)]


def words_per_second(result: Result) -> float:
    return float(result["words"] / result["seconds"]) if "words" in result else 0.0


def draw_speed(results: Result, path: Path) -> None:
    """Bars: words a second on short texts."""
    figure, axes = blank(1, (7, 2.2))
    (ax,) = axes
    rates = {name: words_per_second(found["gap"]) for name, found in results.items()}
    colours = [LOOKS[name][0] for name in rates]
    bars = ax.barh(list(rates), list(rates.values()), color=colours)
    ax.bar_label(bars, [f"{rate:,.0f}" for rate in rates.values()], padding=4)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.15 * max(rates.values()))
    ax.set_xlabel("words per second on GAP's test texts, one core")
    save(figure, path)


def draw_lengths(results: Result, path: Path) -> None:
    """Lines: time and memory against the length of the text."""
    figure, axes = blank(2, (9, 3.6))
    titles = {"seconds": "CPU seconds", "peak_mb": "peak memory, MB"}
    for ax, (field, title) in zip(axes, titles.items(), strict=True):
        for name, found in results.items():
            points = {
                int(length): result[field]
                for length, result in found["lengths"].items()
                if field in result
            }
            colour, mark = LOOKS[name]
            ax.loglog(points.keys(), points.values(), color=colour, marker=mark)
            if points:
                last = max(points)
                ax.annotate(
                    name,
                    (last, points[last]),
                    xytext=(0, 7),  # above: lines of others pass on the right
                    textcoords="offset points",
                    ha="center",
                    color=colour,
                )
        ax.set_xticks(LENGTHS, [f"{length:,}" for length in LENGTHS], minor=False)
        ax.set_xticks([], minor=True)
        ax.set_xlim(LENGTHS[0] / 1.3, LENGTHS[-1] * 2)
        ax.margins(y=0.15)
        decades = [10.0**power for power in range(-2, 6)]
        low, high = ax.get_ylim()
        ax.set_yticks(decades, [f"{decade:,g}" for decade in decades], minor=False)
        ax.set_yticklabels([], minor=True)
        ax.set_ylim(low, high)
        ax.set_xlabel("words in the text")
        ax.set_title(title, loc="left", fontsize=10)
    save(figure, path)


def blank(n_axes: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """An empty figure without a frame around it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, n_axes, squeeze=False)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: Path) -> None:
    """The same numbers give the same file: no date, no random names."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "refreader", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})


def table(results: Result) -> str:
    """Markdown: a line for each system."""
    lengths = [f"{length:,} words" for length in LENGTHS]
    lines = [
        f"| | GAP, words/s | {' | '.join(lengths)} |",
        f"|---|---|{'---|' * len(lengths)}",
    ]
    for name, found in results.items():
        cells = [cell(found["lengths"].get(str(length))) for length in LENGTHS]
        rate = f"{words_per_second(found['gap']):,.0f}"
        lines.append(f"| {name} | {rate} | {' | '.join(cells)} |")
    notes = [f"{name}: {peer.note}." for name, peer in PEERS.items()]
    pictures = [
        "![Words per second on short texts](peers-speed.svg)",
        "![Time and memory against the length of a text](peers-length.svg)",
    ]
    return "\n\n".join(["\n".join(lines), " ".join(notes), *pictures])


def cell(result: Result | None) -> str:
    if result is None:
        return "not tried"
    if "died" in result:
        return "died"
    return f"{result['seconds']:,.1f} s, {result['peak_mb']:,.0f} MB"


if __name__ == "__main__":
    main()
