"""Parquet in and out, with pyarrow, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from refreader_spacy.bulk.readers import (
    LARGEST,
    as_json,
    check_encodable,
    name_of,
    reason,
)
from refreader_spacy.bulk.records import Cursor, Record, Rejected, TextRecord
from refreader_spacy.bulk.sources import Fields
from refreader_spacy.errors import Errors

MENTION = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])
LINK = pa.struct(
    [("antecedent", MENTION), ("anaphor", MENTION), ("probability", pa.float64())]
)
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("clusters", pa.list_(pa.list_(MENTION))),
        ("links", pa.list_(LINK)),
        ("resolved_text", pa.string()),
    ]
)


def read_rows(path: str, fields: Fields, start: Cursor) -> Iterator[Record]:
    """Each row is a text, and may have an id."""
    with pq.ParquetFile(path) as file:
        columns = columns_of(file, fields, path)
        size = Path(path).stat().st_size // max(1, file.metadata.num_rows)
        group, number = row_group_of(file, start.records)
        # One at a time: a few bytes on disk may stand for the same long text many times
        rows = file.iter_batches(
            1,
            row_groups=range(group, file.num_row_groups),
            columns=columns,
            use_threads=False,
        )
        for row in rows:
            number += 1
            if number <= start.records:
                continue
            place, end = f"{name_of(path)}:{number}", Cursor(records=number)
            id: Any = place
            try:
                values = values_of(row)
                id = json_id(values.get(fields.id), place, fields)
                text = text_of_row(values, fields)
            except ValueError as error:
                yield Rejected(place, id, reason(error), size, end)
            else:
                yield TextRecord(place, id, text, size, end)


def values_of(row: Any) -> dict[str, Any]:
    """By column, if they aren't too long, and have a value in Python: bytes that are no
    text have none."""
    found = {}
    for name, column in zip(row.schema.names, row.columns, strict=True):
        if pa.types.is_dictionary(column.type):  # which has the values of other rows
            column = column.dictionary_decode()
        if column.nbytes > LARGEST:
            raise ValueError(Errors.R238.format(limit=LARGEST))
        try:
            found[name] = column[0].as_py()
        except Exception as error:
            raise ValueError(Errors.R276.format(found=error)) from error
    return found


def text_of_row(values: dict[str, Any], fields: Fields) -> str:
    text = values[fields.text]
    if not isinstance(text, str):
        found = repr(text)[:50]
        raise ValueError(Errors.R237.format(field=fields.text, found=found))
    return text


def columns_of(file: Any, fields: Fields, path: str) -> list[str]:
    """The columns to read; without one of ids, rows are known by their place."""
    names = file.schema_arrow.names
    if fields.text not in names:
        raise ValueError(
            Errors.R245.format(path=path, expected=[fields.text], found=names)
        )
    return [name for name in (fields.text, fields.id) if name in names]


def row_group_of(file: Any, row: int) -> tuple[int, int]:
    """The row group that has a row, and the rows before that group."""
    before = 0
    for group in range(file.num_row_groups):
        n_rows = file.metadata.row_group(group).num_rows
        if row < before + n_rows:
            return group, before
        before += n_rows
    return file.num_row_groups, before


def json_id(value: Any, place: str, fields: Fields) -> Any:
    """An id of JSON's types, or what else it is as a string."""
    if value is None:
        return place
    try:
        as_json(value)
    except (TypeError, ValueError):
        value = str(value)
    return check_encodable(value, fields.id)


def encode_rows(records: Iterable[dict[str, Any]]) -> bytes:
    """Records of Docs, to be sent to where they are written."""
    table = pa.Table.from_pylist([row_of(record) for record in records], SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def row_of(record: dict[str, Any]) -> dict[str, Any]:
    """A record with named fields only."""
    return {
        "id": record["id"],
        "text": record["text"],
        "clusters": [[mention_of(m) for m in c] for c in record["clusters"]],
        "links": [
            {
                "antecedent": mention_of(link["antecedent"]),
                "anaphor": mention_of(link["anaphor"]),
                "probability": link["probability"],
            }
            for link in record["links"]
        ],
        "resolved_text": record["resolved_text"],
    }


def mention_of(mention: list[Any]) -> dict[str, Any]:
    start, end, text = mention
    return {"start": start, "end": end, "text": text}


def write_rows(parts: Iterable[bytes], path: Path) -> None:
    """A file of what `encode_rows` gave."""
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for part in parts:
            with pa.ipc.open_stream(part) as stream:
                for batch in stream:
                    writer.write_batch(batch)


def join_files(shards: Iterable[Path], path: Path) -> None:
    """One file of several."""
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for shard in shards:
            with pq.ParquetFile(shard) as file:
                for batch in file.iter_batches():
                    writer.write_batch(batch)


def n_rows(path: str) -> int:
    """How many there are, without reading them."""
    return int(pq.read_metadata(path).num_rows)
