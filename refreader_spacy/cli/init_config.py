"""`refreader init-config`: what `spacy train` needs to learn from one's own data."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.util import load_model_from_config
from thinc.api import Config

from refreader_spacy.cli.pipeline import progress
from refreader_spacy.component import PACKAGED
from refreader_spacy.corpora.formats import Format, read_documents, write_documents
from refreader_spacy.corpora.splits import annotated_files, split
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.reader.packaged import packaged_config


def init_config(
    output: Annotated[Path, typer.Argument(help="The config to write.")],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="Annotated texts in any format of `refreader convert`, files or "
            "folders; may be repeated. They become corpus/train.spacy, dev.spacy and "
            "test.spacy beside the config."
        ),
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="The data's, where names don't tell it.")
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            help="Start from fresh weights, on the word vectors of this pipeline, "
            "whose language may be another."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("-f", "--force", help="Overwrite the config.")
    ] = False,
) -> None:
    """Write all that `spacy train` needs for your own data.

    Training starts from the weights in the package; nothing has to be downloaded. The
    best model is the one with the highest CoNLL F1 of clusters on dev.spacy, which is
    measured at least once an epoch.

    Example: refreader init-config config.cfg --data my_documents
    """
    if output.exists() and not force:
        raise ValueError(Errors.R020.format(path=output))
    template = files("refreader_spacy") / "training" / "template.cfg"
    config = Config().from_str(template.read_text("utf8"), interpolate=False)
    if vectors is None:
        fine_tune(config)
    else:
        start_afresh(config, vectors)
    train = ["train.spacy", "dev.spacy"]
    if data:
        train = write_corpus(data, format, output.parent / "corpus")
        config["paths"] |= {"train": train[0], "dev": train[1]}
    filled = load_model_from_config(config, auto_fill=True).config
    with atomic_write(output) as draft:
        filled.to_disk(draft)
    given = "" if data else f" --paths.train {train[0]} --paths.dev {train[1]}"
    typer.echo(f"{output}: train with it by")
    typer.echo(f"python -m spacy train {output} --output training{given}")


def fine_tune(config: Config) -> None:
    """Start from the weights in the package."""
    name = PACKAGED["name"]
    config["components"]["refreader"]["model"] = packaged_config(name)
    config["initialize"]["components"]["refreader"]["weights"] = name


def start_afresh(config: Config, vectors: str) -> None:
    """Start from fresh weights, and word vectors that the user has."""
    nlp = spacy.load(vectors, exclude=["tokenizer"])
    _, width = nlp.vocab.vectors.shape
    if not width:
        raise ValueError(Errors.R021.format(name=vectors))
    model: dict[str, Any] = packaged_config(PACKAGED["name"])
    model["width"] = model["tok2vec"]["width"] = width
    config["components"]["refreader"]["model"] = model
    config["paths"]["vectors"] = vectors
    config["nlp"]["lang"] = nlp.lang


def write_corpus(data: list[Path], format: Format | None, folder: Path) -> list[str]:
    """Training files of annotated texts: what is written for training, then dev."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    found = annotated_files(data, format)
    documents = (
        document
        for file in progress(found, "Converting", len(found))
        for document in read_documents(file, nlp, format)
    )
    names = []
    for part, some in split(documents).items():
        path = folder / f"{part.value}.spacy"
        counts = write_documents(some, path, nlp.vocab)
        typer.echo(f"{path}: {counts.documents} documents, {counts}")
        names.append(str(path))
    return names
