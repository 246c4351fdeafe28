"""Where English puts no space, for data that has tokens only."""

from __future__ import annotations

from collections.abc import Sequence

from refreader_spacy.lang.en.words import plain

BEFORE_NONE = frozenset(
    (",", ".", ";", ":", "!", "?", ")", "]", "}", "%", "...", "....", "”", "''")
)
AFTER_NONE = frozenset(("(", "[", "{", "“", "``", "$", "£", "#", "‘", "“‘"))  # noqa: RUF001
CLOSING = frozenset(("’", "’”"))  # noqa: RUF001
CONTRACTIONS = frozenset(("'s", "n't", "'ll", "'ve", "'m", "'d", "'re", "'S"))
DASHES = frozenset(("--", "—", "–", "----"))  # noqa: RUF001


def guessed_spaces(words: Sequence[str]) -> list[bool]:
    """Is there a space after each word? Straight quotes open and close in turns."""
    spaces = [True] * len(words)
    is_open = {'"': False, "'": False}
    for i, word in enumerate(words):
        closes = word in BEFORE_NONE or word in DASHES or plain(word) in CONTRACTIONS
        opens = word in AFTER_NONE or word in DASHES
        if word in is_open:
            closes, opens = is_open[word], not is_open[word]
            is_open[word] = opens
        closes |= word in CLOSING
        if closes and i:
            spaces[i - 1] = False
        if opens:
            spaces[i] = False
    return spaces
