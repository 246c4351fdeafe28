"""Text that comes in pieces, and may end in half a word."""

from __future__ import annotations

from typing import Any, NamedTuple

LONGEST_WORD = 1000  # characters without white space after which a word is cut


class Token(NamedTuple):
    """A token that a mention may begin with or go on with; no white space.

    number, start (int): Counted from the text's beginning, in tokens and characters.
    space (str): White space that comes after it, of very much the first.
    meta (Any): Of the piece that it came in.
    """

    number: int
    text: str
    space: str
    start: int
    meta: Any


class TextPart(NamedTuple):
    """Text that came in one piece, and what was said about that piece."""

    text: str
    meta: Any


class TokenBuffer:
    """Gives out text as far as its tokens are certain, and holds back the rest.

    It relies on what spaCy's tokenizers do: white space always ends a token, one space
    belongs to the token before it, and any more are a token of their own. What is held
    back is at most LONGEST_WORD characters without white space, and the white space
    behind them; pieces of it are joined only when there is something to give out.
    """

    def __init__(self) -> None:
        self.parts: list[TextPart] = []
        self._n_held = 0
        self._n_spaces = 0  # that what is held back ends in

    def add(self, text: str, meta: Any) -> list[TextPart]:
        """Go on with another piece; what can be tokenized now."""
        if not text:
            return []
        self.parts.append(TextPart(text, meta))
        self._n_held += len(text)
        # Nothing can be given out while a word goes on, or white space does
        if self._n_held <= LONGEST_WORD:
            if self._n_spaces and text.isspace():
                self._n_spaces += len(text)
                return []
            if not self._n_spaces and not _has_space(text):
                return []
        joined = "".join(part.text for part in self.parts)
        length = safe_length(joined)
        if len(joined) - length > LONGEST_WORD:
            length = len(joined)
        return self._take(length)

    def take_all(self) -> list[TextPart]:
        """There is no more: the rest."""
        return self._take(self._n_held)

    def restore(self, parts: list[TextPart]) -> None:
        """Hold back what another buffer held back."""
        self.parts = parts
        self._count()

    def _take(self, length: int) -> list[TextPart]:
        taken, held = [], []
        for text, meta in self.parts:
            taken.append(TextPart(text[:length], meta))
            held.append(TextPart(text[length:], meta))
            length -= len(taken[-1].text)
        self.parts = [part for part in held if part.text]
        self._count()
        return [part for part in taken if part.text]

    def _count(self) -> None:
        self._n_held = sum(len(part.text) for part in self.parts)
        joined = "".join(part.text for part in self.parts)
        self._n_spaces = len(joined) - len(joined.rstrip())


def _has_space(text: str) -> bool:
    return any(character.isspace() for character in text)


def safe_length(text: str) -> int:
    """How many characters make tokens that nothing which follows can change."""
    words = text.rstrip()
    if len(words) == len(text):  # the last word may go on
        return len(text) - len(words.split()[-1]) if words else 0
    return len(words) + (text[len(words)] == " ") if words else 0
