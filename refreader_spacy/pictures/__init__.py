"""Pictures of what the reader found and how: `refreader_spacy.render`."""

from __future__ import annotations

from typing import Literal, get_args

from spacy.tokens import Doc

from refreader_spacy.errors import Errors
from refreader_spacy.pictures.clusters import clusters_html
from refreader_spacy.pictures.lines import clusters_svg
from refreader_spacy.pictures.markup import html_page
from refreader_spacy.pictures.memory import memory_svg

Style = Literal["clusters", "memory"]
Form = Literal["fragment", "page", "svg"]
SCROLL = '<div style="overflow-x: auto">'  # scrolls on small screens


class Picture(str):
    """Markup that a notebook shows as a picture."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def render(
    doc: Doc,
    style: Style = "clusters",
    *,
    form: Form = "fragment",
    gold: str | Doc | None = None,
) -> Picture:
    """Draw a Doc's entities, or the memory while it was read. Jupyter displays it.

    style (str): "clusters" is the text with its mentions coloured by entity; "memory"
        is each cell's salience and gates, token by token, and needs a trace.
    form (str): "fragment" is HTML for a page or a notebook of your own, "page" a
        whole page, "svg" an image. All are self-contained.
    gold (str | Doc | None): Whose entities a memory's tokens are marked with: those of
        the span groups `{gold}_1`, `{gold}_2`, ..., those of another Doc of the same
        text, or those that were found.
    """
    for choice, choices in ((style, Style), (form, Form)):
        if choice not in get_args(choices):
            known = ", ".join(map(repr, get_args(choices)))
            raise ValueError(Errors.R220.format(found=choice, known=known))
    if style == "memory":
        image = memory_svg(doc, gold)
        picture = image if form == "svg" else f"{SCROLL}{image}</div>"
    elif gold is not None:
        raise ValueError(Errors.R221)
    else:
        picture = clusters_svg(doc) if form == "svg" else clusters_html(doc)
    return Picture(html_page(picture) if form == "page" else picture)
