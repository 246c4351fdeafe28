"""A decoder in a saved stream: which cluster each entity is in, and its names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, Field

from refreader_spacy.decoding.decoder import Begun, Decoder
from refreader_spacy.decoding.names import Names
from refreader_spacy.decoding.speakers import Speakers

Count = Annotated[int, Field(ge=0, lt=2**53)]
Row = tuple[Count, Count, Count]  # entity or speaker, cluster, latest mention


class SavedDecoder(BaseModel):
    """What `decoder_to_saved` gave, with its types checked."""

    threshold: Annotated[float, Field(ge=0, le=1)]
    scheme: Count | None
    n_clusters: Count
    clusters: list[Row]
    speakers: list[Row]
    names: list[tuple[Count, list[Row]]]  # cluster: name, gender, how often
    # name, gender; cluster, latest mention, how often
    forgotten: list[tuple[Count, Count, Count, Count, Count]]
    begun: Begun | None

    def named_clusters(self) -> Iterator[int]:
        """All clusters that are named somewhere."""
        yield from (cluster for _, cluster, _ in self.clusters + self.speakers)
        yield from (cluster for cluster, _ in self.names)
        yield from (cluster for _, _, cluster, _, _ in self.forgotten)
        yield from () if self.begun is None else (self.begun.cluster,)

    def restored(self) -> Decoder:
        """A decoder that goes on from here."""
        called = {
            cluster: {(name, gender): n for name, gender, n in names}
            for cluster, names in self.names
        }
        forgotten = {
            (name, gender): (cluster, latest, n)
            for name, gender, cluster, latest, n in self.forgotten
        }
        return Decoder(
            self.threshold,
            self.scheme,
            self.n_clusters,
            by_key(self.clusters),
            Speakers(by_key(self.speakers)),
            Names(called, forgotten),
            self.begun,
        )


def by_key(rows: list[Row]) -> dict[int, tuple[int, int]]:
    return {key: (cluster, number) for key, cluster, number in rows}


def decoder_to_saved(decoder: Decoder) -> dict[str, Any]:
    """A decoder as what msgpack can store."""
    names = decoder.names
    return {
        "threshold": decoder.threshold,
        "scheme": decoder.scheme,
        "n_clusters": decoder.n_clusters,
        "clusters": rows(decoder.clusters),
        "speakers": rows(decoder.speakers.clusters),
        "names": [
            [cluster, [[*name, n] for name, n in called.items()]]
            for cluster, called in names.called.items()
        ],
        "forgotten": [[*name, *known] for name, known in names.forgotten.items()],
        "begun": decoder.begun,
    }


def rows(clusters: dict[int, tuple[int, int]]) -> list[list[int]]:
    return [[key, *known] for key, known in clusters.items()]
