"""A transcript with speakers, turn by turn, as it comes: *I* is whoever speaks.

    python examples/transcript.py transcript.txt

Each line is "Anna: I called Leo."; what a turn's mentions mean is printed as soon as
the turn was read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy
from spacy.language import Language

from refreader_spacy.streaming.events import LinkMade


def links(nlp: Language, lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Speaker, anaphor and antecedent of each link."""
    stream = nlp.get_pipe("refreader").stream()
    for line in lines:
        speaker, _, turn = line.partition(": ")
        for event in stream.feed(f"{turn}\n", speaker=speaker):
            if isinstance(event, LinkMade):
                yield speaker, event.anaphor.text, event.antecedent.text


def main(path: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader")
    lines = Path(path).read_text("utf8").splitlines()
    for speaker, anaphor, antecedent in links(nlp, lines):
        print(f"{speaker}: {anaphor} -> {antecedent}")


if __name__ == "__main__":
    main(*sys.argv[1:])
