"""The vocabulary of the language model.

A word of the vocabulary has its own vector and class. Any other shares a vector with
similar words or with words of its shape, and all others are one class.

Shapes: W words, T tokens.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.vocab import Vocab

from refreader_spacy.reader.encoders import Encoder, give_rows, word_rows

UNKNOWN = 0  # the class of all words outside the vocabulary


class Vocabulary:
    """The words that can be predicted: class 0 is all others, then by frequency."""

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        """keys (NDArray): spaCy's hashes of the words, the most frequent first."""
        self.keys = keys
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def __len__(self) -> int:
        return len(self.keys) + 1

    def classes(self, doc: Doc) -> NDArray[np.int64]:
        """The class of each token (T,)."""
        wanted = doc.to_array(ORTH)
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self.keys) - 1)
        known = self._sorted[place] == wanted
        return np.where(known, self._order[place] + 1, UNKNOWN)


def learn_vocabulary(
    encoder: Encoder,
    vocab: Vocab,
    words: list[str],
    counts: NDArray[np.int64],
    n_words: int,
) -> Vocabulary:
    """Choose the most frequent words, and add rows for them to the encoder's table.

    words (list[str]): All words of a text, once each (W).
    counts (NDArray): How often each comes (W,).
    """
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    chosen = [words[i] for i in order[:n_words]]
    others = Doc(vocab, words=[words[i] for i in order[n_words:]])
    unfound = word_rows(encoder, others) == 0
    shapes = {token.shape_: None for token in others if unfound[token.i]}
    give_rows(encoder, vocab, [*chosen, *shapes])
    keys = [get_string_id(word) for word in chosen]
    return Vocabulary(np.array(keys, dtype=np.uint64))
