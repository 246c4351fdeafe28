"""`refreader corpus`: GAP or the demo corpus as spaCy training files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import spacy
import typer
from rich.console import Console
from rich.progress import track
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.vectors import Vectors

from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples, paired
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write, copy_atomically

SPLITS = {"train": "development", "dev": "validation", "test": "test"}
ASSETS, OUTPUT = Path("assets"), Path("corpus")
VECTORS = ASSETS / "vectors" / "en_glove_300d"
DEMO_WIDTH = 300  # as wide as the vectors they stand for


def corpus() -> None:
    """Turn GAP, or the demo corpus, into training files.

    The demo corpus is used where GAP isn't in place.

    Reads assets/ and writes to corpus/: train.spacy, dev.spacy, test.spacy,
    pairs.spacy, the word vectors that training starts from, and source.json, which
    names the source. pairs.spacy has the test rows again, two texts joined into one.

    Example: refreader corpus
    """
    name = corpus_name()
    nlp = spacy.blank("en")
    splits = {
        split: gold_docs(nlp, ASSETS / name / f"{name}-{part}.tsv")
        for split, part in SPLITS.items()
    }
    test = ASSETS / name / f"{name}-test.tsv"
    splits["pairs"] = gold_docs(nlp, test, pairs=True)
    for split, docs in splits.items():
        with atomic_write(OUTPUT / f"{split}.spacy") as draft:
            docs.to_disk(draft)
        typer.echo(f"{OUTPUT / split}.spacy: {len(docs)} documents")
    if name == "gap":
        copy_atomically(VECTORS, OUTPUT / "vectors")
        typer.echo(f"This corpus is GAP, with the word vectors of {VECTORS}.")
    else:
        add_demo_vectors(nlp)
        with atomic_write(OUTPUT / "vectors") as draft:
            nlp.to_disk(draft)
        typer.echo(
            "This corpus is the DEMO, with random word vectors, because GAP is not in "
            f"{ASSETS / 'gap'}. It shows that the road works; its scores mean nothing."
        )
    with atomic_write(OUTPUT / "source.json") as draft:
        draft.write_text(json.dumps({"corpus": name}) + "\n")


def corpus_name() -> str:
    """Gap if all its assets are in place, demo if none is; a part is an error."""
    gap = [ASSETS / "gap" / f"gap-{part}.tsv" for part in SPLITS.values()]
    needed = [*gap, VECTORS / "meta.json"]
    present = [str(path) for path in needed if path.exists()]
    missing = [str(path) for path in needed if not path.exists()]
    if present and missing:
        raise ValueError(
            Errors.R182.format(missing=", ".join(missing), present=", ".join(present))
        )
    return "gap" if present else "demo"


def gold_docs(nlp: Language, path: Path, *, pairs: bool = False) -> DocBin:
    """The gold Docs of a GAP file, with a progress bar."""
    console = Console(stderr=True)
    rows = paired(read_gap(path)) if pairs else read_gap(path)
    docs = DocBin()
    for example in track(
        gap_examples(rows, nlp),
        description=path.name,
        total=len(rows),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ):
        docs.add(example.reference)
    return docs


def add_demo_vectors(nlp: Language) -> None:
    """Give every word a random vector, for training without a download."""
    words = sorted(lexeme.text for lexeme in nlp.vocab)
    random = np.random.default_rng(seed=0)
    data = random.standard_normal((len(words), DEMO_WIDTH), dtype=np.float32)
    strings = nlp.vocab.strings
    nlp.vocab.vectors = Vectors(strings=strings, data=data, keys=words, name="demo")
