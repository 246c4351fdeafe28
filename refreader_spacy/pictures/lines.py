"""The clusters picture as an SVG image: the text in lines.

An SVG file can't measure text, so widths are estimated and then set by textLength.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from spacy.tokens import Doc

from refreader_spacy.pictures.entities import Drawn, entities
from refreader_spacy.pictures.markup import GLOWS, HUES, INKS, escaped

WIDTH, MARGIN, LINE, SIZE = 720, 24, 38, 17
GAP = 3  # between a mention's box and its words
DEEPEST = 3  # levels of nesting that get a line of their own
ROUNDS = ("", ' stroke-dasharray="7 3"', ' stroke-dasharray="2 3"')
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
WORDS = re.compile(r"\n|[^\S\n]+|\S{1,60}")
# Thousandths of the letter size that Helvetica's letters are wide.
BREADTHS = {
    222: "ijl'\u2018\u2019",
    278: " !,./:;I[]\\ft|",
    333: "-()r`\u201c\u201d",
    500: 'Jckvsxyz*"',
    611: "FTZ+<=>",
    667: "ABEKPSVXY&",
    722: "CDHNRUw",
    778: "GOQ",
    889: "Mm%",
    1000: "W@…—",
}
BREADTH = {letter: width for width, letters in BREADTHS.items() for letter in letters}

NIGHT = "\n".join(
    f".box{i}, .number{i} {{ fill: {glow}; }} .under{i} {{ stroke: {glow}; }}"
    for i, glow in enumerate(GLOWS)
)
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" class="refreader-lines" role="img" \
aria-label="The text with its entities numbered" width="{width}" height="{height}" \
viewBox="0 0 {width} {height}" font-family="{font}" font-size="{size}">
<style>
@media screen and (prefers-color-scheme: dark) {{ .refreader-lines {{
.paper {{ fill: #16181c; }} .ink {{ fill: #e4e6ea; }}
{night}
}} }}
</style>
<rect class="paper" width="{width}" height="{height}" rx="8" fill="#fff"/>
{content}
</svg>"""


class Stretch(NamedTuple):
    """A part of a line; a mention has several if it goes on in the next line."""

    line: int
    start: float
    end: float


def clusters_svg(doc: Doc) -> str:
    """An image of the text, with mentions coloured and numbered by entity."""
    _, drawn = entities(doc)
    layout = Layout(doc.text, drawn)
    height = 2 * MARGIN + LINE * (layout.line + 1) - 12
    return SVG.format(
        width=WIDTH,
        height=height,
        font=FONT,
        size=SIZE,
        night=NIGHT,
        content="\n".join([*boxes(drawn, layout), *layout.content]),
    )


class Layout:
    """Words set from left to right, line by line, with room for mentions' numbers."""

    def __init__(self, text: str, drawn: list[Drawn]) -> None:
        self.line = 0
        self.x = 0.0
        self.content: list[str] = []
        self.stretches: dict[int, list[Stretch]] = defaultdict(list)
        self.open: dict[int, float] = {}  # mentions, and where they begin in this line
        self.starts: dict[int, list[int]] = defaultdict(list)
        self.ends: dict[int, list[int]] = defaultdict(list)
        for place, mention in enumerate(drawn):
            self.starts[mention.start].append(place)
            self.ends[mention.end].insert(0, place)
        self.drawn = drawn
        for match in WORDS.finditer(text):
            self._set(match[0], match.start())

    def _set(self, word: str, offset: int) -> None:
        """Put the next word or space, in the pieces that mentions' edges cut it to."""
        too_long = self.x + breadth(word) > WIDTH - 2 * MARGIN
        if word == "\n" or (too_long and self.x and not word.isspace()):
            self._break_line()
        edges = [
            i
            for i in range(1, len(word))
            if offset + i in self.starts or offset + i in self.ends
        ]
        for start, end in zip([0, *edges], [*edges, len(word)], strict=True):
            for place in self.starts.get(offset + start, ()):
                self.open[place] = self.x
                self.x += GAP
            if not word.isspace():
                self._write(word[start:end])
            elif word != "\n" and self.x:
                self.x += breadth(word)
            for place in self.ends.get(offset + end, ()):
                self._close(place)

    def _write(self, piece: str) -> None:
        width = breadth(piece)
        self.content.append(
            f'<text class="ink" x="{MARGIN + self.x:.1f}" y="{baseline(self.line)}" '
            f'fill="#1b1d21" textLength="{width:.1f}" '
            f'lengthAdjust="spacingAndGlyphs">{escaped(piece)}</text>'
        )
        self.x += width

    def _close(self, place: int) -> None:
        """A mention ends with its entity's number."""
        mention = self.drawn[place]
        number = str(mention.entity.number)
        self.content.append(
            f'<text class="number{mention.hue}" x="{MARGIN + self.x + 2:.1f}" '
            f'y="{baseline(self.line) - 6}" font-size="10" font-weight="bold" '
            f'fill="{INKS[mention.hue]}">{number}</text>'
        )
        self.x += GAP + 6 * len(number)
        start = self.open.pop(place)
        self.stretches[place].append(Stretch(self.line, start, self.x))

    def _break_line(self) -> None:
        for place, start in self.open.items():
            self.stretches[place].append(Stretch(self.line, start, self.x))
            self.open[place] = 0.0
        self.line += 1
        self.x = 0.0


def boxes(drawn: list[Drawn], layout: Layout) -> Iterator[str]:
    """The background of the words: a tint and a line for each mention."""
    for place, mention in enumerate(drawn):
        hue = mention.hue
        down = 6 + 4 * min(mention.levels, DEEPEST)
        for line, start, end in layout.stretches[place]:
            x, y, width = MARGIN + start, baseline(line), end - start
            yield (
                f'<rect class="box{hue}" x="{x:.1f}" y="{y - 17}" width="{width:.1f}" '
                f'height="{17 + down}" fill="{HUES[hue]}" fill-opacity=".24"/>'
                f'<path class="under{hue}" d="M{x:.1f},{y + down}h{width:.1f}" '
                f'stroke="{HUES[hue]}" stroke-width="2.2"{ROUNDS[mention.round]}/>'
            )


def baseline(line: int) -> int:
    return MARGIN + 16 + LINE * line


def breadth(text: str) -> float:
    """About how many pixels a text is wide."""
    return sum(map(letter_breadth, text)) * SIZE / 1000


def letter_breadth(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1000
    return BREADTH.get(letter, 667 if letter.isupper() else 556)
