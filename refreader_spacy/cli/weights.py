"""`refreader weights`: from a trained pipeline to weights of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import srsly
import typer

from refreader_spacy.cli.model_cards import card_page, card_scores
from refreader_spacy.cli.pipeline import find_reader
from refreader_spacy.files import atomic_write
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
    page: Annotated[
        Path | None, typer.Option(help="Write the card as Markdown too.")
    ] = None,
) -> None:
    """Write a reader's weights as the package ships them.

    For the maintainers of this package. The threshold that is stored in the pipeline
    goes into the card, as do the scores.

    Example: refreader weights training/general/1/model-best
    refreader_spacy/weights/en_general_3 --card configs/cards/general.json
    --scores metrics/general_ontogum_s1.json --page docs/models/en_general_3.md
    """
    nlp = spacy.load(model)
    reader = find_reader(nlp)
    config = nlp.config.interpolate()["components"][reader.name]["model"]
    about = {} if card is None else srsly.read_json(card)
    about |= {"name": output.name, "threshold": reader.threshold}
    if scores:
        about |= card_scores(srsly.read_json(path) for path in scores)
    with atomic_write(output) as draft:
        write_packaged(reader.model, config, about, draft)
    if page is not None:
        with atomic_write(page) as draft:
            draft.write_text(card_page(output.name, about), "utf8")
    size = sum(file.stat().st_size for file in output.iterdir())
    typer.echo(f"{output}: {size / 1e6:.1f} MB, threshold {reader.threshold:.4f}")
