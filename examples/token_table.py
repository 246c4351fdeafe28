"""A row per token, as a data frame: how far back, and how sure, each reference is.

python examples/token_table.py text.txt tokens.csv
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import spacy

from refreader_spacy.annotation.tables import token_rows


def main(path: str, output: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader", config={"trace": True})
    tokens = pd.DataFrame(token_rows(nlp(Path(path).read_text("utf8")), id=path))
    tokens.to_csv(output, index=False)
    anaphors = tokens.dropna(subset="distance")
    print(anaphors.groupby("kind")["distance"].agg(["count", "mean"]).round(1))


if __name__ == "__main__":
    main(*sys.argv[1:])
