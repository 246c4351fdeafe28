"""A saved stream: a format, a checksum, and plain data inside, checked on its way in.

Whoever knows the checksum can write any state, so types and ranges are checked as well:
nothing that `feed` looks up may be missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Annotated, Any

import srsly
from pydantic import BaseModel, Field, ValidationError

from refreader_spacy.errors import Errors
from refreader_spacy.files import unpacking
from refreader_spacy.protocol import Progress
from refreader_spacy.streaming.events import Mention
from refreader_spacy.streaming.saved_decoder import Count, SavedDecoder
from refreader_spacy.streaming.token_buffer import TextPart, Token

FORMAT = "refreader stream 7"
N_TOKENS = 256  # that a mention may still begin or end at


class SavedStream(BaseModel):
    """What `Stream.to_bytes` keeps; the reader checks its own state."""

    pipe: str
    state: dict[str, Any]
    past: dict[str, Any] | None
    decoder: SavedDecoder
    entities: list[tuple[Count, list[Count]]]
    mentions: list[tuple[Count, Mention]]
    open: list[tuple[Count, Count]]
    spans: list[tuple[Count, Count]]
    leaving: list[Count]
    gone: list[tuple[Count, tuple[Count, Mention] | None]]
    tokens: Annotated[list[Token], Field(max_length=N_TOKENS)]
    n_tokens: Count
    n_chars: Count
    text: list[TextPart]
    speaker: str | None
    closed: bool

    def clusters(self) -> Iterator[int]:
        """All that are named somewhere."""
        yield from self.decoder.named_clusters()
        yield from (cluster for cluster, _ in self.entities)
        yield from self.leaving
        yield from (cluster for cluster, _ in self.gone)

    def check(self, progress: Progress, n_schemes: int) -> None:
        """Do the parts fit each other, and the reader?"""
        decoder, n_tokens = self.decoder, progress.n_tokens
        numbers = [token.number for token in self.tokens]
        places = Counter((n, e) for e, numbers in self.entities for n in numbers)
        mentions = dict(self.mentions)
        gone = [(e, *lone) for e, lone in self.gone if lone is not None]
        told = [*mentions.items(), *((number, mention) for _, number, mention in gone)]
        right = {
            "tokens": self.n_tokens == n_tokens
            and all(a < b for a, b in pairwise([-1, *numbers, n_tokens]))
            and {*progress.places} <= {*numbers},
            "mentions": places == Counter((n, m.entity) for n, m in mentions.items())
            and len(dict(self.entities)) == len(self.entities)
            and all(n < progress.n_mentions for n, _ in told)
            and all(is_in_text(m, n_tokens) for _, m in told),
            "gone": all(m.entity == e for e, _, m in gone)
            and {e for e, _, _ in gone}.isdisjoint(dict(self.entities))
            and {n for _, n, _ in gone}.isdisjoint(mentions)
            and len(dict(self.gone)) == len(self.gone)
            and len({n for _, n, _ in gone}) == len(gone),
            "clusters": all(c < decoder.n_clusters for c in self.clusters()),
            "scheme": decoder.scheme is None or decoder.scheme < n_schemes,
        }
        for name, is_right in right.items():
            if not is_right:
                raise ValueError(Errors.R257.format(name=name))


def is_in_text(mention: Mention, n_tokens: int) -> bool:
    return (
        0 <= mention.start <= mention.head < mention.end <= n_tokens
        and 0 <= mention.start_char <= mention.end_char
    )


def packed(saved: dict[str, Any]) -> bytes:
    """Plain data as bytes."""
    try:
        data = bytes(srsly.msgpack_dumps(saved))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(Errors.R254.format(problem=error)) from error
    whole = {"format": FORMAT, "checksum": checksum(data), "data": data}
    return bytes(srsly.msgpack_dumps(whole))


def loaded(data: bytes) -> SavedStream:
    """What was saved, if no byte was changed and everything has its type."""
    saved = unpacked(data)
    try:
        return SavedStream(**saved)
    except (ValidationError, TypeError) as error:
        where = "types"
        if isinstance(error, ValidationError):
            where = ".".join(map(str, error.errors()[0]["loc"]))
        raise ValueError(Errors.R257.format(name=where)) from error


def unpacked(data: bytes) -> dict[str, Any]:
    """The plain data again, if no byte was changed."""
    try:
        with unpacking():
            whole = srsly.msgpack_loads(data)
            inner = whole["data"]
            right = whole["format"] == FORMAT and whole["checksum"] == checksum(inner)
            saved = srsly.msgpack_loads(inner) if right else None
    except Exception as error:
        raise ValueError(Errors.R255.format(expected=FORMAT)) from error
    if not isinstance(saved, dict):
        raise ValueError(Errors.R255.format(expected=FORMAT))
    return saved


def checksum(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
