"""`refreader sample`: the clusters of a sample text, printed and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from spacy.tokens import Doc

from refreader_spacy.annotation.entities import entities
from refreader_spacy.annotation.extensions import (
    coref_clusters,
    coref_links,
    doc_resolved_text,
)
from refreader_spacy.cli.pipeline import Model, find_reader, load_pipeline
from refreader_spacy.cli.render import write_picture
from refreader_spacy.pictures import Style

# The README begins with it too: a test compares them
SAMPLE = (
    "Acme Robotics opened a factory in Lisbon. The company said that it would hire 200 "
    "people. Its founder, Maria Lopez, told her brothers that they could work in the "
    "factory, and they thanked her."
)
PICTURES: dict[str, Style] = {
    "sample.html": "clusters",
    "sample.svg": "clusters",
    "sample-memory.svg": "memory",
}
COLOURS = ("blue", "yellow", "green", "magenta", "cyan", "red")


def sample(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder for the pictures.")
    ] = Path("output"),
    model: Model = None,
) -> None:
    """Annotate a sample text, print its clusters and draw it.

    Example: refreader sample -o output
    """
    nlp = load_pipeline(model)
    find_reader(nlp).trace = True
    doc = nlp(SAMPLE)
    console = Console()
    console.print(Panel(coloured(doc), title="A sample text", padding=(1, 2)))
    console.print(entity_table(doc), link_table(doc))
    console.print(Panel(Text(doc_resolved_text(doc)), title="Resolved", padding=(1, 2)))
    for name, style in PICTURES.items():
        write_picture(doc, style, output / name)
    page, image, memory = (str(output / name) for name in PICTURES)
    console.print(f"Who is who: {page}, {image}", soft_wrap=True, highlight=False)
    console.print(f"The memory: {memory}", soft_wrap=True, highlight=False)


def coloured(doc: Doc) -> Text:
    """The text, with each mention in its entity's colour."""
    text = Text(doc.text)
    for number, cluster in enumerate(coref_clusters(doc)):
        for mention in cluster:
            text.stylize(f"bold {colour(number)}", mention.start_char, mention.end_char)
    return text


def colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def entity_table(doc: Doc) -> Table:
    table = Table("", "entity", "mentions", title="Entities", title_justify="left")
    for number, entity in enumerate(entities(doc)):
        mentions = ", ".join(mention.text for mention in entity.mentions)
        name = Text(entity.main.text, style=f"bold {colour(number)}")
        table.add_row(str(number + 1), name, Text(mentions))
    return table


def link_table(doc: Doc) -> Table:
    table = Table("this", "means", "probability", title="Links", title_justify="left")
    table.columns[-1].justify = "right"
    for antecedent, anaphor, probability in coref_links(doc):
        row = (Text(anaphor.text), Text(antecedent.text), f"{probability:.2f}")
        table.add_row(*row)
    return table
