"""The characters of a text as an SVG image: where they occur, and who with whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, pi, sin, sqrt

from refreader_spacy.annotation.characters import Character, Together
from refreader_spacy.pictures.markup import FONT, GLOWS, HUES, INKS, escaped, shortened

WIDTH, MARGIN, ROW = 960, 24, 24
NAMES, COUNTS = 200, 60  # widths of the columns with names and counts
BINS = 120  # stretches of the text that mentions are counted in
RADIUS, LARGEST, WIDEST = 230, 22, 9  # of the circle, of a node, of a line
DRAWN = 20  # characters at most
LONGEST = 24  # letters of a name

NIGHT = "\n".join(f".fill{i} {{ fill: {glow}; }}" for i, glow in enumerate(GLOWS))
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" class="refreader-characters" role="img" \
aria-label="Characters: where they occur, and who with whom" width="{width}" \
height="{height}" viewBox="0 0 {width} {height}" font-family="{font}" font-size="14">
<style>
@media screen and (prefers-color-scheme: dark) {{ .refreader-characters {{
.paper {{ fill: #16181c; }} .ink {{ fill: #e4e6ea; }} .line {{ stroke: #9aa1ac; }}
{night}
}} }}
</style>
<rect class="paper" width="{width}" height="{height}" rx="8" fill="#fff"/>
{content}
</svg>"""


def characters_svg(
    characters: Sequence[Character], pairs: Iterable[Together], n_tokens: int
) -> str:
    """A strip per character that is darker where it is mentioned more, and a network.

    n_tokens (int): Tokens of the whole text.
    """
    shown = characters[:DRAWN]
    top = MARGIN + ROW * len(shown) + MARGIN
    height = top + (2 * RADIUS + 4 * MARGIN + ROW if len(shown) > 1 else 0)
    content = [strip(who, row, n_tokens) for row, who in enumerate(shown)]
    if len(shown) > 1:
        centre = top + RADIUS + 2 * MARGIN
        content.append(network(shown, pairs, centre))
    return SVG.format(
        width=WIDTH,
        height=height,
        font=FONT,
        night=NIGHT,
        content="\n".join(content),
    )


def strip(who: Character, row: int, n_tokens: int) -> str:
    """A character's name, the stretches of the text it occurs in, and its count."""
    y = MARGIN + ROW * row
    counts = [0] * BINS
    for head in who.heads:
        counts[head * BINS // max(n_tokens, 1)] += 1
    most = max(counts)
    left, breadth = MARGIN + NAMES, (WIDTH - 2 * MARGIN - NAMES - COUNTS) / BINS
    bins = "".join(
        f'<rect class="fill{row % len(HUES)}" x="{left + i * breadth:.1f}" y="{y + 3}" '
        f'width="{breadth:.1f}" height="{ROW - 6}" fill="{INKS[row % len(INKS)]}" '
        f'opacity="{0.15 + 0.85 * sqrt(count / most):.2f}"/>'
        for i, count in enumerate(counts)
        if count
    )
    middle = y + ROW / 2 + 5
    return (
        f'<text class="ink" x="{left - 10}" y="{middle}" text-anchor="end" '
        f'fill="#1b1d21">{escaped(shortened(who.name, LONGEST))}</text>{bins}'
        f'<text class="ink" x="{WIDTH - MARGIN}" y="{middle}" text-anchor="end" '
        f'fill="#1b1d21">{who.n_mentions:,}</text>'
    )


def network(
    shown: Sequence[Character], pairs: Iterable[Together], centre: float
) -> str:
    """Characters on a circle, with wider lines where they occur together more often."""
    places = {
        who.number: (
            WIDTH / 2 + RADIUS * sin(2 * pi * i / len(shown)),
            centre - RADIUS * cos(2 * pi * i / len(shown)),
        )
        for i, who in enumerate(shown)
    }
    drawn = [pair for pair in pairs if pair.one in places and pair.other in places]
    most = max((pair.n_times for pair in drawn), default=1)
    lines = [
        '<line class="line" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" '
        'stroke="#5b6472" stroke-width="{:.1f}" opacity="{:.2f}"/>'.format(
            *(*places[one], *places[other]),
            *(max(0.4, WIDEST * count / most), 0.15 + 0.6 * sqrt(count / most)),
        )
        for one, other, count in drawn
    ]
    largest = max(who.n_mentions for who in shown)
    nodes = [
        node(who, i, *places[who.number], LARGEST * sqrt(who.n_mentions / largest))
        for i, who in enumerate(shown)
    ]
    return "\n".join([*lines, *nodes])


def node(who: Character, i: int, x: float, y: float, size: float) -> str:
    size = max(size, 4)
    side = x - WIDTH / 2
    anchor = "start" if side > 1 else "end" if side < -1 else "middle"
    shift = (size + 6) * (1 if side > 1 else -1 if side < -1 else 0)
    drop = 5 if shift else (-size - 8 if i == 0 else size + 18)
    return (
        f'<circle class="fill{i % len(HUES)}" cx="{x:.1f}" cy="{y:.1f}" '
        f'r="{size:.1f}" fill="{INKS[i % len(INKS)]}"/>'
        f'<text class="ink" x="{x + shift:.1f}" y="{y + drop:.1f}" '
        f'text-anchor="{anchor}" fill="#1b1d21">'
        f"{escaped(shortened(who.name, LONGEST))}</text>"
    )
