"""What a reader on a transformer costs: share of annotation, epoch, memory.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/transformer.py assets/mpnet

Three processes, so that each has a peak of memory of its own: annotation of validation
texts, an epoch of configs/transformer.cfg from vectors on disk, and some updates of
configs/transformer_finetune.cfg. All in CPU seconds. Writes metrics/transformer.json.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import srsly
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, registry, resolve_dot_names

N_DOCS = 100
N_UPDATES = 10
ALONE = ("annotation", "epoch", "finetune")


def main(transformer: str) -> None:
    """Measure each by itself."""
    results = {}
    for part in ALONE:
        command = [sys.executable, __file__, transformer, part]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        results[part] = srsly.json_loads(run.stdout.splitlines()[-1])
        print(part, results[part])
    srsly.write_json("metrics/transformer.json", {"name": transformer, **results})


def annotation(transformer: str) -> dict[str, Any]:
    """How much of the time the transformer itself takes; fresh weights do as well."""
    nlp, _, examples = start("transformer", transformer)
    module = nlp.get_pipe("transformer").model.shims[0]._model.transformer
    nlp.get_pipe("transformer").model.shims[0].store = None
    inside = 0.0

    def enter(*_: Any) -> None:
        nonlocal inside
        inside -= time.process_time()

    def leave(*_: Any) -> None:
        nonlocal inside
        inside += time.process_time()

    module.register_forward_pre_hook(enter)
    module.register_forward_hook(leave)
    texts = [example.text for example in examples[:N_DOCS]]
    started = time.process_time()
    n_words = sum(len(doc) for doc in nlp.pipe(texts))
    seconds = time.process_time() - started
    return {
        "words": n_words,
        "cpu_seconds": seconds,
        "share_of_transformer": inside / seconds,
    }


def epoch(transformer: str) -> dict[str, Any]:
    """The second epoch from vectors that are on disk already."""
    nlp, training, examples = start("transformer", transformer)
    for number in range(2):
        started = time.process_time()
        n_words = sum(updates(nlp, training, examples, number))
        seconds = time.process_time() - started
    return {"words": n_words, "cpu_seconds": seconds}


def finetune(transformer: str) -> dict[str, Any]:
    """From some updates, what an epoch would take."""
    nlp, training, examples = start("transformer_finetune", transformer)
    steps = updates(nlp, training, examples, 0)
    next(steps)
    started = time.process_time()
    n_words = sum(islice(steps, N_UPDATES))
    seconds = time.process_time() - started
    all_words = sum(len(example.predicted) for example in examples)
    return {
        "words": n_words,
        "cpu_seconds": seconds,
        "epoch_cpu_minutes": seconds / n_words * all_words / 60,
    }


def start(
    config: str, transformer: str
) -> tuple[Language, dict[str, Any], list[Example]]:
    """A pipeline as `spacy train` starts it, with the training corpus."""
    overrides = {"paths.transformer": transformer}
    if config == "transformer_finetune":
        overrides["paths.source"] = None  # fresh weights cost the same
    path = Path("configs", f"{config}.cfg")
    nlp = init_nlp(load_config(path, overrides=overrides))
    filled = nlp.config.interpolate()
    training = registry.resolve(filled["training"], schema=ConfigSchemaTraining)
    (corpus,) = resolve_dot_names(filled, [training["train_corpus"]])
    return nlp, training, list(corpus(nlp))


def updates(
    nlp: Language, training: dict[str, Any], examples: list[Example], epoch: int
) -> Iterator[int]:
    """Go through the corpus; the words of each batch, once it is learned."""
    for batch in training["batcher"](examples):
        training["before_update"](nlp, {"epoch": epoch})
        nlp.update(batch, sgd=training["optimizer"])
        training["optimizer"].step_schedules()
        yield sum(len(example.predicted) for example in batch)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        result = globals()[sys.argv[2]](sys.argv[1])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(srsly.json_dumps({**result, "peak_memory_gb": peak}))
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "assets/mpnet")
