"""The memory picture, after the paper's figure 3: saliences above, gates below.

All numbers of the layout are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc

from refreader_spacy.annotation.extensions import read_trace
from refreader_spacy.errors import Errors
from refreader_spacy.pictures.columns import Column, entity_of_tokens, shown_columns
from refreader_spacy.pictures.markup import INKS, escaped, shortened
from refreader_spacy.pictures.memory_look import (
    LETTER,
    curve,
    legend,
    svg,
    text,
)
from refreader_spacy.protocol import Array, Reading

N_COLUMNS = 30  # in a row
FEWEST = 20  # columns that the legend needs
STEP = 23
LEFT, RIGHT = 56, 16
PANEL, BETWEEN, BELOW = 66, 18, 38
ANGLE = math.radians(58)  # that the tokens are turned by
LONGEST = 14  # letters of a token
VISIBLE = 0.05  # a gate that can be seen


def memory_svg(doc: Doc, gold: str | Doc | None = None) -> str:
    """An image of each cell's salience and gates, at all tokens that aren't dull."""
    reading = read_trace(doc)
    if reading is None:
        raise ValueError(Errors.R222.format(text=shortened(doc.text)))
    entities = entity_of_tokens(doc, gold)
    columns = shown_columns(reading, entities)
    rows = [columns[i : i + N_COLUMNS] for i in range(0, len(columns), N_COLUMNS)]
    width = LEFT + STEP * max(FEWEST, *map(len, rows), 0) + RIGHT
    marks = ("entity, as found" if gold is None else "entity, gold") if entities else ""
    reading = without_unused(reading)
    content, top = legend(reading.n_cells, width, marks)
    for row in rows:
        drawing = Row(doc, reading, entities, row, top)
        content += drawing.draw()
        top = drawing.end
    return svg(content, width, top)


def without_unused(reading: Reading) -> Reading:
    """The cells up to the last that was written to, at least two."""
    written = reading.update + reading.overwrite >= VISIBLE
    n_cells = int(np.flatnonzero(written.any(axis=0)).max(initial=1)) + 1
    return Reading(
        *(x[:, :n_cells] for x in (reading.update, reading.overwrite, reading.salience))
    )


@dataclass(frozen=True)
class Row:
    """As many columns as fit beside each other, from `top` downwards."""

    doc: Doc
    reading: Reading
    entities: dict[int, int]
    columns: Sequence[Column]
    top: float

    @property
    def saliences(self) -> float:
        """The upper panel's zero line."""
        return self.top + PANEL

    @property
    def gates(self) -> float:
        """The lower panel's zero line."""
        return self.saliences + BETWEEN + PANEL

    @property
    def end(self) -> float:
        longest = max(len(self.label(column)) for column in self.columns)
        return self.gates + longest * LETTER * math.sin(ANGLE) + BELOW

    def label(self, column: Column) -> str:
        if column is None:
            return "…"
        token = self.doc[column]
        shown = (
            "↵" if "\n" in token.text else "␣" if token.text.isspace() else token.text
        )
        return shortened(shown, LONGEST)

    def draw(self) -> Iterator[str]:
        right = LEFT + STEP * len(self.columns)
        for k, column in enumerate(self.columns):
            if column is None:
                yield (
                    f'<rect class="dull" x="{LEFT + STEP * k + 3}" y="{self.top:g}" '
                    f'width="{STEP - 6}" height="{self.gates - self.top:g}" '
                    'fill="#f0f1f3"/>'
                )
        for zero, name in ((self.saliences, "salience"), (self.gates, "gates")):
            yield from axis(zero, right, name)
        update, overwrite = self.reading.update, self.reading.overwrite
        _, n_cells = update.shape
        for cell in range(n_cells):
            salience = self.points(self.reading.salience, cell, self.saliences)
            yield from curve(salience, cell, self.saliences)
            yield from curve(
                self.points(overwrite, cell, self.gates), cell, self.gates, dashed=True
            )
            yield from curve(self.points(update, cell, self.gates), cell, self.gates)
        for k, column in enumerate(self.columns):
            yield from self.draw_token(LEFT + STEP * (k + 0.5), column)

    def points(
        self, values: Array, cell: int, zero: float
    ) -> list[tuple[float, float] | None]:
        """Where a curve goes through; None where it breaks off."""
        return [
            None
            if column is None
            else (
                LEFT + STEP * (k + 0.5),
                zero - PANEL * min(1.0, max(0.0, float(values[column, cell]))),
            )
            for k, column in enumerate(self.columns)
        ]

    def draw_token(self, x: float, column: Column) -> Iterator[str]:
        """The token below the panels, with its values as a tooltip."""
        y = self.gates + 15
        if column is None:
            yield text(x, y, "…", anchor="middle")
            return
        label = escaped(self.label(column))
        kind, colour, weight = "ink", "#33363c", "normal"
        entity = self.entities.get(column)
        if entity is not None:
            hue = -entity % len(INKS)  # the cells' colours come from the other end
            kind, colour, weight = f"token{hue}", INKS[hue], "bold"
            label += f'<tspan dy="-4" font-size="9">{entity}</tspan>'
        yield (
            f'<text class="{kind}" fill="{colour}" font-weight="{weight}" '
            f'text-anchor="end" transform="translate({x + 4:g} {y:g}) '
            f'rotate({-math.degrees(ANGLE):g})">{label}</text>'
        )
        yield (
            f'<rect x="{x - STEP / 2:g}" y="{self.top:g}" width="{STEP}" '
            f'height="{y - self.top:g}" fill="#000" fill-opacity="0">'
            f"<title>{self.values(column)}</title></rect>"
        )

    def values(self, token: int) -> str:
        """A token's numbers, a line for each cell."""
        reading = self.reading
        lines = [
            f"cell {cell}: update {update:.2f}, overwrite {overwrite:.2f}, "
            f"salience {salience:.2f}"
            for cell, (update, overwrite, salience) in enumerate(
                zip(
                    reading.update[token],
                    reading.overwrite[token],
                    reading.salience[token],
                    strict=True,
                )
            )
        ]
        return "\n".join([escaped(shortened(self.doc[token].text)), *lines])


def axis(zero: float, right: float, name: str) -> Iterator[str]:
    """A panel's grid and scale."""
    for value in (0, 0.5, 1):
        y = zero - PANEL * value
        yield (
            f'<path class="grid" d="M{LEFT},{y:g}H{right:g}" stroke="#d9dce1" '
            f'stroke-width="{0.6 if value == 0.5 else 1:g}"/>'
        )
        if value != 0.5:
            yield text(LEFT - 7, y + 4, f"{value}", size=10, anchor="end")
    yield (
        f'<text class="ink" fill="#33363c" text-anchor="middle" transform="translate('
        f'{LEFT - 26} {zero - PANEL / 2:g}) rotate(-90)">{name}</text>'
    )
