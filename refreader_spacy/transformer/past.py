"""A causal transformer under a text that comes in parts.

Which pieces a token sees is what `windows` says, as for whole texts: the window is the
first that the token fits into. Within it keys and values are kept, and only new pieces
are read; where the next window begins, the pieces that both have are read again.

Shapes: T tokens of a part, P word pieces, X width of a token's vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from spacy.tokens import Doc
from transformers import DynamicCache

from refreader_spacy.errors import Errors
from refreader_spacy.protocol import Array
from refreader_spacy.transformer.hidden import HiddenLayers
from refreader_spacy.transformer.hub import Hub, Loaded
from refreader_spacy.transformer.pieces import (
    Pieces,
    pieces_of_tokens,
    rows_of,
    window_of,
)

LARGEST = 2**40  # of a piece's number in a text


class TransformerPast:
    """The last window of a text, as far as it was read: at most `window` pieces.

    n_pieces (int): Of the text so far.
    window (int): The number of the window.
    ids (list[int]): Its pieces.
    cache (Any): The keys and values of the first of them, special pieces included.
    space (str): What stands before the next token.
    """

    def __init__(
        self,
        hub: Hub,
        loaded: Loaded,
        network: HiddenLayers,
        fingerprint: str,
        write: Callable[[Doc, Array], None],
    ) -> None:
        """write (Callable): Puts vectors (T, X) on a Doc."""
        self.hub = hub
        self.loaded = loaded
        self.network = network
        self.fingerprint = fingerprint
        self.write = write
        self.n_pieces = 0
        self.window = 0
        self.ids: list[int] = []
        self.space = ""
        self._forget()

    def read(self, doc: Doc) -> None:
        """Go on with the next tokens, and write their vectors on them."""
        vectors = np.zeros((len(doc), self.network.width), np.float32)
        (ids, first, stop), *_ = pieces_of_tokens(
            self.loaded.tokenizer, [doc], self.space
        )
        before = self.n_pieces
        homes = window_of(stop + before, self.hub.window, self.hub.stride)  # (T,)
        for home in np.unique(homes):
            (tokens,) = np.nonzero(homes == home)
            a, b = first[tokens], stop[tokens]
            new = Pieces(ids[a[0] : b[-1]], a + before, b + before)
            vectors[tokens] = self._vectors(int(home), new)
        for token in doc[-1:]:
            self.space = token.whitespace_
        self.write(doc, vectors)

    def _vectors(self, window: int, new: Pieces) -> Array:
        """The vectors of new tokens whose window this is (T, X)."""
        self.n_pieces += len(new.ids)
        self.ids += new.ids.tolist()
        if window > self.window:
            del self.ids[: (window - self.window) * self.hub.stride]
            self.window = window
            self._forget()
        prefix = self.loaded.prefix
        seen = self.cache.get_seq_length()
        unseen = [*prefix, *self.ids][seen:]
        if not unseen:
            return np.zeros((len(new.first), self.network.width), np.float32)
        # Of a token that is longer than a window, the pieces inside count
        base = window * self.hub.stride - len(prefix) + seen
        lowest = max(len(prefix) - seen, 0)
        first, stop = ((x - base).clip(min=lowest) for x in (new.first, new.stop))
        rows, starts = rows_of(first, stop)
        device = next(self.network.parameters()).device
        found = self.network.eval().go_on(
            torch.tensor([unseen], device=device),
            torch.from_numpy(rows).to(device),
            torch.from_numpy(starts).to(device),
            self.cache,
        )
        vectors: Array = found.cpu().numpy()
        return vectors

    def _forget(self) -> None:
        self.cache: Any = DynamicCache()

    def to_saved(self) -> dict[str, Any]:
        """The pieces, without keys and values: these are thousands of times as large,
        and come out the same when the pieces are read again."""
        return {
            "fingerprint": self.fingerprint,
            "n_pieces": self.n_pieces,
            "window": self.window,
            "ids": self.ids,
            "space": self.space,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved; a ValueError if it isn't of this transformer."""
        n_pieces, window, ids = saved["n_pieces"], saved["window"], saved["ids"]
        n_known = len(self.loaded.tokenizer)
        right = (
            saved["fingerprint"] == self.fingerprint
            and all(type(n) is int and 0 <= n <= LARGEST for n in (n_pieces, window))
            and len(ids) == n_pieces - window * self.hub.stride <= self.hub.window
            and all(type(n) is int and 0 <= n < n_known for n in ids)
            and saved["space"] in ("", " ")
        )
        if not right:
            raise ValueError(Errors.R257.format(name="past"))
        self.n_pieces, self.window, self.ids = n_pieces, window, list(ids)
        self.space = saved["space"]
        self._forget()
