"""`refreader init-config`: what `spacy train` needs to learn from one's own data."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.util import load_model_from_config
from thinc.api import Config

from refreader_spacy.cli.pipeline import progress
from refreader_spacy.component import PACKAGED
from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.formats import Format, read_documents, write_documents
from refreader_spacy.corpora.splits import Part, annotated_files, split
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.reader.packaged import packaged_config
from refreader_spacy.training.singletons import have_singletons, with_singletons

FRESH_RATE = 0.002  # for weights that know nothing yet, as in configs/general.cfg


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

    Training starts from the weights in the package; nothing has to be downloaded. Where
    the data have no mentions of what is mentioned once, training gets those that the
    package's reader finds. The
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
        scheme = config["components"]["refreader"]["scheme"]
        documents = read_corpus(data, format, scheme)
        if vectors is None:
            add_singletons(documents[Part.TRAIN], scheme)
        train = write_corpus(documents, output.parent / "corpus")
        config["paths"] |= {"train": train[0], "dev": train[1]}
    weights = config["training"]["score_weights"]
    config["training"]["score_weights"] = {
        name: weight for name, weight in weights.items() if weight is not None
    }
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
    config["training"]["optimizer"]["learn_rate"]["initial_rate"] = FRESH_RATE


def read_corpus(
    data: list[Path], format: Format | None, scheme: str
) -> dict[Part, list[GoldDocument]]:
    """Annotated texts, for training, development and test.

    scheme (str): Whose mentions they are to the reader, whatever their format.
    """
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    found = annotated_files(data, format)
    return split(
        replace(document, scheme=scheme)
        for file in progress(found, "Converting", len(found))
        for document in read_documents(file, nlp, format)
    )


def add_singletons(documents: list[GoldDocument], scheme: str) -> None:
    """Where no text has any, those that the package's reader finds."""
    if have_singletons(documents):
        return
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader", config={"scheme": scheme, "keep_singletons": True})
    bar = progress(range(len(documents)), "Adding single mentions", len(documents))
    for i in bar:
        documents[i] = with_singletons(documents[i], nlp)
    typer.echo(
        "The data have no mentions of what is mentioned once: the package's reader has "
        "added those for training."
    )


def write_corpus(documents: dict[Part, list[GoldDocument]], folder: Path) -> list[str]:
    """Training files of annotated texts: what is written for training, then dev."""
    vocab = spacy.blank("en").vocab
    names = []
    for part, some in documents.items():
        path = folder / f"{part.value}.spacy"
        counts = write_documents(some, path, vocab)
        typer.echo(f"{path}: {counts.documents} documents, {counts}")
        names.append(str(path))
    return names
