"""Text that comes in pieces, and may end in half a word."""

from __future__ import annotations

from typing import Any, NamedTuple


class Part(NamedTuple):
    """Text that came in one piece, and what was said about that piece."""

    text: str
    meta: Any


class TokenBuffer:
    """Gives out text as far as its tokens are certain, and holds back the rest.

    It relies on what spaCy's tokenizers do: white space always ends a token, one space
    belongs to the token before it, and any more are a token of their own.
    """

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def add(self, text: str, meta: Any) -> list[Part]:
        """Go on with another piece; what can be tokenized now."""
        self.parts.append(Part(text, meta))
        return self._take(safe_length("".join(part.text for part in self.parts)))

    def take_all(self) -> list[Part]:
        """There is no more: the rest."""
        return self._take(sum(len(part.text) for part in self.parts))

    def _take(self, length: int) -> list[Part]:
        taken, held = [], []
        for text, meta in self.parts:
            taken.append(Part(text[:length], meta))
            held.append(Part(text[length:], meta))
            length -= len(taken[-1].text)
        self.parts = [part for part in held if part.text]
        return [part for part in taken if part.text]


def safe_length(text: str) -> int:
    """How many characters make tokens that nothing which follows can change."""
    words = text.rstrip()
    if len(words) == len(text):  # the last word may go on
        return len(text) - len(words.split()[-1]) if words else 0
    return len(words) + (text[len(words)] == " ") if words else 0
