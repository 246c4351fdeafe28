"""xrenner 2.2 on parsed texts, in its own environment: Python 3.7, xgboost 0.90.

    python xrenner_worker.py < texts.jsonl > clusters.jsonl

A line in has "parse", the text's words as CoNLL-U, a line out "clusters" of
[start, end) in tokens and the CPU seconds that they took. Settings are its own for
OntoNotes' scheme; the tagger of entity types needs weights from elsewhere and is off.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import defaultdict

from xrenner import Xrenner

warnings.simplefilter("ignore")  # of NumPy, for each pair of mentions


def main() -> None:
    reader = Xrenner(model="eng", override="OntoNotes", no_seq=True)
    # Gives all mentions of a cluster one type, and dies of a cluster that was emptied
    reader.lex.filters["force_single_type_chains"] = False
    for line in sys.stdin:
        parse = json.loads(line)["parse"]
        started = time.process_time()
        reader.set_doc_name("text")
        reader.analyze(parse, "conll")
        seconds = time.process_time() - started
        found = defaultdict(list)
        for mentions in reader.markstart_dict.values():
            for mention in mentions:
                span = [int(mention.start) - 1, int(mention.end)]
                found[str(mention.group)].append(span)
        clusters = [spans for spans in found.values() if len(spans) > 1]
        print(json.dumps({"clusters": clusters, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
