"""`refreader weights`: from a trained pipeline to weights of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import typer
from spacy.language import Language
from spacy.util import registry

from refreader_spacy.cli.model_cards import card_page, card_scores
from refreader_spacy.cli.pipeline import find_reader
from refreader_spacy.files import atomic_write
from refreader_spacy.protocol import ReaderModel
from refreader_spacy.reader.model import shim_of
from refreader_spacy.reader.packaged import write_packaged


def weights(
    model: Annotated[Path, typer.Argument(help="A trained pipeline.")],
    output: Annotated[Path, typer.Argument(help="A folder, named as the reader.")],
    card: Annotated[
        Path | None,
        typer.Option(help="JSON: what the weights were made of, and their limits."),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(help="What `refreader evaluate -o` wrote; once for each file."),
    ] = None,
    transformer: Annotated[
        str, typer.Option(help="Where users find a transformer that it needs.")
    ] = "sentence-transformers/all-mpnet-base-v2",
    page: Annotated[
        Path | None, typer.Option(help="Write the card as Markdown too.")
    ] = None,
) -> None:
    """Write a reader's weights as the package ships them.

    For the maintainers of this package. The threshold that is stored in the pipeline
    goes into the card, as do the scores.

    Example: refreader weights training/general/1/model-best
    refreader_spacy/weights/en_general_6 --card configs/cards/general.json
    --scores metrics/general_ontogum_s1.json --page docs/models/en_general_6.md
    """
    nlp = spacy.load(model)
    reader = find_reader(nlp)
    config = nlp.config.interpolate()["components"][reader.name]["model"]
    trained = reader.model
    if "upstream" in trained.layers[0].attrs:
        trained, config = with_own_transformer(nlp, reader.name)
        config["tok2vec"]["transformer"]["name"] = transformer
    about = {} if card is None else srsly.read_json(card)
    about |= {"name": output.name, "threshold": reader.threshold}
    if scores:
        about |= card_scores(srsly.read_json(path) for path in scores)
    with atomic_write(output) as draft:
        write_packaged(trained, config, about, draft)
    if page is not None:
        with atomic_write(page) as draft:
            draft.write_text(card_page(output.name, about), "utf8")
    size = sum(file.stat().st_size for file in output.iterdir())
    typer.echo(f"{output}: {size / 1e6:.1f} MB, threshold {reader.threshold:.4f}")


def with_own_transformer(
    nlp: Language, name: str
) -> tuple[ReaderModel, dict[str, Any]]:
    """A pipeline's reader as one that needs no `transformer` pipe, and its config."""
    parts = nlp.config.interpolate()["components"]
    config, given = dict(parts[name]["model"]), parts[name]["model"]["tok2vec"]
    upstream = given["upstream"]
    upstream = "transformer" if upstream == "*" else upstream
    transformer = dict(parts[upstream]["model"])
    if not transformer["lookahead"]:  # a stream may round otherwise than a whole text
        transformer["mixed_precision"] = False
    config["tok2vec"] = {
        "@architectures": "refreader-spacy.OwnTransformer.v1",
        "width": given["width"],
        "dropout": given["dropout"],
        "transformer": transformer,
    }
    model: ReaderModel = registry.resolve({"model": config})["model"]
    model.layers[0].initialize()
    pipe: Any = nlp.get_pipe(name)
    for param in ("W", "b"):
        model.layers[0].set_param(param, pipe.model.layers[0].get_param(param))
    shim_of(model)._model.load_state_dict(shim_of(pipe.model)._model.state_dict())
    if transformer.get("adapter_rank"):
        trained: Any = nlp.get_pipe(upstream)
        _copy_adapters(trained.model, model.layers[0].layers[0].layers[0])
    model.attrs["trained"] = True
    return model, config


def _copy_adapters(source: Any, target: Any) -> None:
    """Copy what was added to a transformer's weights, at half precision."""
    from refreader_spacy.transformer.adapters import halve_adapters

    target.shims[0].from_bytes(source.shims[0].to_bytes())
    halve_adapters(target.shims[0].loaded.transformer)
