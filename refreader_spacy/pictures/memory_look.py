"""Colours, curves, markers and legend of the memory picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from refreader_spacy.pictures.markup import FONT, GLOWS, INKS, escaped

LETTER = 6.6  # pixels, on average
# Drawn from the middle, by relative moves.
MARKERS = (
    "m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
    "m-2.7,-2.7h5.4v5.4h-5.4z",
    "m0,-3.7l3.3,5.8h-6.6z",
    "m0,-3.9l3.9,3.9l-3.9,3.9l-3.9,-3.9z",
    "m0,3.7l3.3,-5.8h-6.6z",
)
FLAT = 1.5  # pixels above the zero line that are not worth a line
VISIBLE = 3.0  # pixels above the zero line that are worth a marker
LAST = len(INKS) - 1
DASHES = "4.5 3"

NIGHT = "\n".join(
    f".line{i} {{ stroke: {glow}; }} .mark{i}, .token{i} {{ fill: {glow}; }}"
    for i, glow in enumerate(GLOWS)
)
# Colours are attributes, for programs without style sheets; dark mode's are here.
STYLE = f"""
.refreader-memory {{ max-width: 100%; height: auto; }}
@media (max-width: 40em) {{ .refreader-memory {{ max-width: none; }} }}
@media screen and (prefers-color-scheme: dark) {{ .refreader-memory {{
.paper, .hollow {{ fill: #16181c; }} .ink {{ fill: #d5d8de; }}
.grid {{ stroke: #3a3e46; }} .dull {{ fill: #25282e; }} .key {{ stroke: #d5d8de; }}
{NIGHT}
}} }}
"""
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" class="refreader-memory" role="img" \
aria-label="Salience and gates of the memory's cells, token by token" \
width="{width}" height="{height}" viewBox="0 0 {width} {height}" \
font-family="{font}" font-size="12">
<style>{style}</style>
<rect class="paper" width="{width}" height="{height}" fill="#fff"/>
{content}
</svg>"""

Point = tuple[float, float]


def svg(content: Iterable[str], width: float, height: float) -> str:
    """The whole image."""
    return SVG.format(
        width=round(width),
        height=round(height),
        font=FONT,
        style=STYLE,
        content="\n".join(content),
    )


def curve(
    points: Sequence[Point | None], cell: int, zero: float, *, dashed: bool = False
) -> Iterator[str]:
    """One cell's values as a line, dashed with hollow markers or solid with full ones.

    points (Sequence[Point | None]): None interrupts the line.
    zero (float): Where the value 0 is; the line is left out where it would lie there.
    """
    hue = cell % len(INKS)
    steps = []
    last = None
    for a, b in pairwise(points):
        if a and b and max(zero - a[1], zero - b[1]) > FLAT:
            steps.append(f"{'' if a == last else moved('M', a)}{moved('L', b)}")
            last = b
    if steps:
        dashes = f' stroke-dasharray="{DASHES}"' if dashed else ""
        yield (
            f'<path class="line{hue}" d="{"".join(steps)}" stroke="{INKS[hue]}" '
            f'stroke-width="1.6" stroke-linejoin="round" fill="none"{dashes}/>'
        )
    tops = [p for p in points if p and zero - p[1] >= VISIBLE]
    if tops:
        yield markers(tops, cell, hollow=dashed)


def markers(points: Sequence[Point], cell: int, *, hollow: bool = False) -> str:
    """A cell's marker at each of the points."""
    hue = cell % len(INKS)
    shapes = "".join(moved("M", p) + MARKERS[cell % len(MARKERS)] for p in points)
    kinds, fill = (f"line{hue} hollow", "#fff") if hollow else (f"mark{hue}", INKS[hue])
    edge = f' stroke="{INKS[hue]}" stroke-width="1.4"' if hollow else ""
    return f'<path class="{kinds}" d="{shapes}" fill="{fill}"{edge}/>'


def moved(letter: str, point: Point) -> str:
    return f"{letter}{point[0]:g},{point[1]:.5g}"


def text(
    x: float, y: float, words: str, *, size: int = 12, anchor: str = "start"
) -> str:
    return (
        f'<text class="ink" x="{x:g}" y="{y:g}" fill="#33363c" font-size="{size}" '
        f'text-anchor="{anchor}">{escaped(words)}</text>'
    )


def legend(n_cells: int, width: float, marks: str) -> tuple[list[str], float]:
    """What the signs mean, and where the picture goes on below.

    marks (str): What numbers at tokens mean, if there are any.
    """
    names = [f"cell {cell}" for cell in range(n_cells)]
    names += ["update", "overwrite", *([marks] if marks else [])]
    content = []
    x, y = 20.0, 22.0
    for place, name in enumerate(names):
        sign = 14 if place < n_cells else 36
        room = sign + LETTER * len(name) + 18
        if x + room > width:
            x, y = 20.0, y + 20
        if place < n_cells:
            content.append(markers([(x + 4, y - 4)], place))
        elif name == marks:
            content.append(
                f'<text class="token{LAST}" x="{x:g}" y="{y:g}" fill="{INKS[LAST]}" '
                'font-weight="bold">word<tspan dy="-4" font-size="9">1</tspan></text>'
            )
            sign = 44
        else:
            dashes = f' stroke-dasharray="{DASHES}"' if name == "overwrite" else ""
            content.append(
                f'<path class="key" d="M{x:g},{y - 4:g}h28" stroke="#33363c" '
                f'stroke-width="1.6"{dashes}/>'
            )
        content.append(text(x + sign, y, name))
        x += room
    return content, y + 22
