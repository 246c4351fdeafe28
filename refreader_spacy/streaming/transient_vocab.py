"""Words that a stream forgets again.

When spaCy's memory zone of a vocab ends, everything is freed that came into the vocab
meanwhile, whoever brought it: Docs that another thread made would lose their words. So
streams read with vocabs of their own, which one thread has at a time.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.vectors import Mode
from spacy.vocab import Vocab

Tokenize = Callable[[str], Doc]

# A vocab's tables keep a place for each string that was ever in them, forgotten or not:
# after so many (a word has about two) another copy takes its place, which takes 0.1 s
MAX_STRINGS = 400_000

# What a tokenizer is made of
_PARTS = (
    "rules",
    "prefix_search",
    "suffix_search",
    "infix_finditer",
    "token_match",
    "url_match",
    "faster_heuristics",
)


class Words(NamedTuple):
    """Where a stream's words are while a piece of it is read."""

    vocab: Vocab
    tokenizer: Tokenize | None
    n_strings: int = 0  # that came and were forgotten


class TransientVocabs:
    """Copies of a vocab, without its words; as many as threads that read at once."""

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        self._idle: deque[Words] = deque()

    def __reduce__(self) -> tuple[Any, ...]:
        return TransientVocabs, (self.vocab,)  # another process makes its own

    @contextmanager
    def zone(self, tokenizer: Tokenize | None) -> Iterator[Words]:
        """New words are forgotten at the end.

        Another tokenizer than spaCy's can't be copied, nor can vectors that are made
        from a word's letters: then the vocab itself is used, and where there are other
        threads it keeps the words, as it does when a text is read whole.
        """
        vocab: Any = self.vocab
        if can_be_copied(vocab, tokenizer):
            words = self._take(tokenizer)
            own: Any = words.vocab
            n_before = len(own.strings)
            with own.memory_zone():
                yield words
                n_strings = words.n_strings + len(own.strings) - n_before
            if n_strings < MAX_STRINGS:  # not after an error: it may still be open
                self._idle.append(words._replace(n_strings=n_strings))
        elif vocab.in_memory_zone or threading.active_count() > 1:
            yield Words(vocab, tokenizer)
        else:
            with vocab.memory_zone():
                yield Words(vocab, tokenizer)

    def _take(self, tokenizer: Tokenize | None) -> Words:
        try:
            words = self._idle.pop()
        except IndexError:
            return copied(self.vocab, tokenizer)
        same = words.vocab.vectors is self.vocab.vectors
        if same and parts_of(words.tokenizer) == parts_of(tokenizer):
            return words
        return copied(self.vocab, tokenizer)  # it was changed meanwhile


def can_be_copied(vocab: Vocab, tokenizer: Tokenize | None) -> bool:
    mode = getattr(vocab.vectors, "mode", None)
    return mode == Mode.default and (tokenizer is None or type(tokenizer) is Tokenizer)


def parts_of(tokenizer: Tokenize | None) -> list[Any]:
    return [getattr(tokenizer, name, None) for name in _PARTS]


def copied(vocab: Any, tokenizer: Tokenize | None) -> Words:
    """A vocab without words and with the same vectors, and a tokenizer for it."""
    own: Any = Vocab(
        lex_attr_getters=vocab.lex_attr_getters,
        lookups=vocab.lookups,
        writing_system=vocab.writing_system,
        get_noun_chunks=vocab.get_noun_chunks,
    )
    own._vectors = vocab.vectors  # as `vectors` they would take over its strings
    own.cfg.update(vocab.cfg)
    if tokenizer is None:
        return Words(own, None)
    parts = dict(zip(_PARTS, parts_of(tokenizer), strict=True))
    return Words(own, Tokenizer(own, **parts))
