"""neuralcoref 4.0 on tokenized texts, in its own environment: Python 3.7, spaCy 2.1.

    python neuralcoref_worker.py PIPELINE < texts.jsonl > clusters.jsonl

A line in has "words" and "spaces", a line out "clusters" of [start, end) in tokens and
the CPU seconds that they took. Matrix products are NumPy's: the blis 0.2.4 of that time
takes 14 times as long for the whole on a processor that it doesn't know (AMD's EPYC).
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import spacy
from neuralcoref import NeuralCoref
from spacy.language import Language
from spacy.tokens import Doc
from thinc.neural.ops import NumpyOps


def gemm(self, x, y, trans1=False, trans2=False, out=None):  # type: ignore
    """Instead of thinc's own, which calls blis."""
    return np.dot(x.T if trans1 else x, y.T if trans2 else y, out=out)


def main() -> None:
    NumpyOps.gemm = gemm
    Language.factories["neuralcoref"] = lambda nlp, **cfg: NeuralCoref(nlp.vocab, **cfg)
    nlp = spacy.load(sys.argv[1])
    for line in sys.stdin:
        text = json.loads(line)
        started = time.process_time()
        doc = Doc(nlp.vocab, words=text["words"], spaces=text["spaces"])
        for _, pipe in nlp.pipeline:
            doc = pipe(doc)
        found = doc._.coref_clusters or []
        clusters = [[[m.start, m.end] for m in cluster.mentions] for cluster in found]
        seconds = time.process_time() - started
        print(json.dumps({"clusters": clusters, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
