"""How long an epoch of training takes on one core, and where the time goes.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/training.py configs/glove.cfg

The second epoch is timed, when most gates have closed: reading, loss and optimizer, as
`spacy train` calls them, without its evaluations. Writes metrics/training.json.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import srsly
from spacy.schemas import ConfigSchemaTraining
from spacy.training.initialize import init_nlp
from spacy.util import load_config, registry, resolve_dot_names


def main(path: Path) -> None:
    """Train two epochs; print the second one's seconds."""
    config = load_config(path, interpolate=True)
    nlp = init_nlp(load_config(path))
    training = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    (corpus,) = resolve_dot_names(config, [training["train_corpus"]])
    examples = list(corpus(nlp))
    for epoch in range(2):
        started = time.process_time()
        n_words = 0
        for batch in training["batcher"](examples):
            training["before_update"](nlp, {"epoch": epoch})
            nlp.update(batch, sgd=training["optimizer"])
            training["optimizer"].step_schedules()
            n_words += sum(len(example.predicted) for example in batch)
        seconds = time.process_time() - started
        print(f"epoch {epoch}: {seconds:.1f} s CPU, {n_words / seconds:,.0f} words/s")
    result = {"config": path.name, "epoch_cpu_seconds": seconds, "words": n_words}
    srsly.write_json("metrics/training.json", result)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "configs/glove.cfg"))
