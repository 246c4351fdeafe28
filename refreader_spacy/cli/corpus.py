"""`refreader corpus`: the data that is in place, as spaCy's training files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np
import spacy
import typer
from rich.console import Console
from rich.progress import track
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vectors import Vectors

from refreader_spacy.assets import copy_whole, whole
from refreader_spacy.errors import Errors
from refreader_spacy.gap import read_gap
from refreader_spacy.training.corpus import gap_examples

SPLITS = {"train": "development", "dev": "validation", "test": "test"}
VECTORS = Path("vectors", "en_glove_300d")
DEMO_WIDTH = 300  # as wide as the vectors they stand for


def corpus(
    assets: Annotated[
        Path, typer.Option(help="The project's assets.", exists=True, file_okay=False)
    ] = Path("assets"),
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Where the files go.", file_okay=False),
    ] = Path("corpus"),
) -> None:
    """Turn GAP, or the demo corpus where GAP isn't in place, into training files.

    Writes train.spacy, dev.spacy, test.spacy, the word vectors that training starts
    from, and source.json, which says what they were made of.
    """
    name = corpus_name(assets)
    nlp = spacy.blank("en")
    splits = {
        split: reference_docs(nlp, assets / name / f"{name}-{part}.tsv")
        for split, part in SPLITS.items()
    }
    for split, docs in splits.items():
        with whole(output / f"{split}.spacy") as draft:
            DocBin(docs=docs).to_disk(draft)
        typer.echo(f"{output / split}.spacy: {len(docs)} documents")
    if name == "gap":
        copy_whole(assets / VECTORS, output / "vectors")
        typer.echo(f"This corpus is GAP, with the word vectors of {assets / VECTORS}.")
    else:
        add_demo_vectors(nlp, (doc for docs in splits.values() for doc in docs))
        with whole(output / "vectors") as draft:
            nlp.to_disk(draft)
        typer.echo(
            "This corpus is the DEMO, with random word vectors, because GAP is not in "
            f"{assets / 'gap'}. It shows that the road works; its scores mean nothing."
        )
    with whole(output / "source.json") as draft:
        draft.write_text(json.dumps({"corpus": name}) + "\n")


def corpus_name(assets: Path) -> str:
    """Gap if all its assets are in place, demo if none is; a part is an error."""
    gap = [assets / "gap" / f"gap-{part}.tsv" for part in SPLITS.values()]
    needed = [*gap, assets / VECTORS / "meta.json"]
    present = [str(path) for path in needed if path.exists()]
    missing = [str(path) for path in needed if not path.exists()]
    if present and missing:
        raise ValueError(
            Errors.R182.format(missing=", ".join(missing), present=", ".join(present))
        )
    return "gap" if present else "demo"


def reference_docs(nlp: Language, path: Path) -> list[Doc]:
    """The gold Docs of a GAP file, with a progress bar."""
    console = Console(stderr=True)
    rows = read_gap(path)
    examples = track(
        gap_examples(rows, nlp),
        description=path.name,
        total=len(rows),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    return [example.reference for example in examples]


def add_demo_vectors(nlp: Language, docs: Iterable[Doc]) -> None:
    """Give every word a random vector: nothing to download, little to learn from."""
    words = sorted({token.text for doc in docs for token in doc})
    random = np.random.default_rng(seed=0)
    data = random.standard_normal((len(words), DEMO_WIDTH), dtype=np.float32)
    strings = nlp.vocab.strings
    nlp.vocab.vectors = Vectors(strings=strings, data=data, keys=words, name="demo")
