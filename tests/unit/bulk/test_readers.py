import bz2
import gzip
import io
import json
import lzma
import os
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from refreader_spacy.bulk import readers, sources
from refreader_spacy.bulk.readers import read_source
from refreader_spacy.bulk.records import Rejected
from refreader_spacy.bulk.shards import settings_of
from refreader_spacy.bulk.sources import Fields, Source, Unit, find_sources

GOOD = [
    b'{"text": "Ann.", "id": 7}\n',
    b"\r\n",
    '{"id": "é", "text": "Émile 👩‍🚀"}\r\n'.encode(),
    b'{"text": "no id", "id": null}\n',
    b'{"text": "", "id": [1.5, {"a": true}]}',
]
FOUND = [
    (7, "Ann."),
    ("é", "Émile 👩‍🚀"),
    ("in.jsonl:4", "no id"),
    ([1.5, {"a": True}], ""),
]
SPEAKERS = {
    b'{"text": "Hi.\\nNo.", "speakers": [[0, 3, "Ann"]]}': (
        "Hi.\nNo.",
        [(0, 3, "Ann")],
    ),
    b'{"turns": [{"speaker": "Ann", "text": "Hi."}, {"speaker": "Bo", "text": "O"}]}': (
        "Hi.\nO",
        [(0, 3, "Ann"), (4, 5, "Bo")],
    ),
    b'{"text": "Hi."}': ("Hi.", []),
}
BAD = {
    b'{"text": "Ann.", "speakers": "Ann"}': "'speakers' as",
    b'{"text": "Ann.", "speakers": [[0, 9, "Ann"]]}': "'speakers' as",
    b'{"text": "Ann.", "speakers": [[0, 2, 7]]}': "'speakers' as",
    b'{"text": "Ann.", "speakers": [[0.5, 2, "Ann"]]}': "'speakers' as",
    b'{"text": "Ann.", "speakers": [[false, 2, "Ann"]]}': "'speakers' as",
    b'{"turns": [{"text": "Hi."}]}': "'turns' as",
    b'{"turns": {}}': "'turns' as",
    b'{"turns": 3}': "'turns' as",
    b'{"turns": [{"speaker": "Ann"}]}': "'text', but found",
    b'{"text": "Ann.", "id": 1': "expected a JSON object",
    b"[1]": "but found list",
    b'{"txt": "Ann.", "id": "x"}': "'text', but found an object with txt",
    b'{"text": 3}': "text of type int",
    b"{}": "an object with nothing in it",
    b'{"texts": "Ann"}': "--text-field",
    b'{"text": "\\ud800"}': "half a character",
    b'{"text": "a", "id": "\\udfff"}': "half a character",
    b'{"text": "a", "id": {"k": ["\\udfff"]}}': "half a character",
    b'{"text": "\xff"}': "no UTF-8",
    b'{"text": "a", "id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}": "recursion",
    b'{"text": "a", "id": ' + b"[" * 900 + b"]" * 900 + b"}": "is nested or longer",
    b'{"text": "a", "id": ' + b"9" * 5000 + b"}": "4300 digits",
    b'{"text": "a", "id": NaN}': "'id' has a number that JSON has no word for",
    b'{"text": "a", "id": [1e999]}': "'id' has a number that JSON has no word for",
}


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines_of(path: str) -> Source:
    return Source(0, (path,), Unit.JSON)


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").compress(data)


def test_json_lines_keep_their_ids_and_types():
    Path("in.jsonl").write_bytes(b"".join(GOOD))
    found = list(read_source(lines_of("in.jsonl"), Fields()))
    assert [(record.id, record.text) for record in found] == FOUND
    assert sum(record.size for record in found) == Path("in.jsonl").stat().st_size
    assert type(found[0].id) is int


@pytest.mark.parametrize("name", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_source_can_be_read_from_any_record_on(name):
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    path = f"in.jsonl{name}"
    Path(path).write_bytes({**pack, ".zst": zstd, "": bytes}[name](b"".join(GOOD)))
    (source,) = find_sources([path], Unit.FILE, 10)
    assert source.unit is Unit.JSON
    found = list(read_source(source, Fields()))
    assert [record.text for record in found] == [text for _, text in FOUND]
    for number, record in enumerate(found, start=1):
        rest = list(read_source(source, Fields(), record.end))
        assert [r._replace(size=0) for r in rest] == [
            r._replace(size=0) for r in found[number:]
        ]


@pytest.mark.parametrize(("line", "reason"), BAD.items(), ids=range(len(BAD)))
def test_a_bad_line_is_a_record_with_its_reason(line, reason):
    Path("in.jsonl").write_bytes(GOOD[0] + line + b"\n" + GOOD[0])
    first, bad, last = read_source(lines_of("in.jsonl"), Fields())
    assert (first.text, last.text) == ("Ann.", "Ann.")
    assert isinstance(bad, Rejected)
    assert bad.place == "in.jsonl:2"
    assert reason in bad.reason
    assert len(bad.reason) < 600
    json.dumps(bad.as_json(), ensure_ascii=False).encode()


@pytest.mark.parametrize("line", SPEAKERS)
def test_json_may_say_who_speaks(line):
    Path("in.jsonl").write_bytes(line)
    (record,) = read_source(lines_of("in.jsonl"), Fields())
    text, turns = SPEAKERS[line]
    assert (record.text, list(record.turns)) == (text, turns)


def test_a_record_that_is_too_long_is_not_taken_in(monkeypatch):
    monkeypatch.setattr(readers, "LARGEST", 40)
    monkeypatch.setattr(readers, "CHUNK", 16)
    Path("in.jsonl").write_bytes(GOOD[0] + b"x" * 1000 + b"\n" + GOOD[0] + b"y" * 99)
    found = list(read_source(lines_of("in.jsonl"), Fields()))
    assert [isinstance(record, Rejected) for record in found] == [0, 1, 0, 1]
    assert "longer than 40 bytes" in found[1].reason
    assert found[2].place == "in.jsonl:3"


@pytest.mark.parametrize("cut", [30, -1])
def test_a_broken_file_ends_with_its_reason(cut):
    whole = gzip.compress(b"".join(GOOD[:1] * 20_000))
    Path("in.jsonl.gz").write_bytes(whole[: len(whole) * 3 // 4 if cut < 0 else cut])
    source = lines_of("in.jsonl.gz")
    *before, last = read_source(source, Fields())
    assert all(record.text == "Ann." for record in before)
    assert "can't be read on" in last.reason
    assert list(read_source(source, Fields(), last.end)) == []


def test_an_xz_file_may_have_several_streams_and_zeros_between():
    streams = [lzma.compress(GOOD[0]), lzma.compress(GOOD[0] * 2)]
    Path("in.jsonl.xz").write_bytes((b"\0" * 8).join([*streams, b""]))
    found = list(read_source(lines_of("in.jsonl.xz"), Fields()))
    assert [record.text for record in found] == ["Ann."] * 3
    Path("in.jsonl.xz").write_bytes(streams[0] + b"no stream")
    first, bad = read_source(lines_of("in.jsonl.xz"), Fields())
    assert first.text == "Ann."
    assert "R241" in bad.reason


def test_an_xz_file_takes_no_more_memory_than_it_may():
    """It has a few bytes, and says that 1 GB is needed to read them."""
    dictionary = {"id": lzma.FILTER_LZMA2, "dict_size": 1 << 12}
    data = bytearray(lzma.compress(GOOD[0], filters=[dictionary]))
    assert data[12:17] == b"\x02\x00\x21\x01\x00"  # the size of the dictionary is last
    data[16] = 36  # 1 GB
    data[20:24] = zlib.crc32(data[12:20]).to_bytes(4, "little")
    assert lzma.decompress(data) == GOOD[0]
    Path("in.jsonl.xz").write_bytes(data)
    (bad,) = read_source(lines_of("in.jsonl.xz"), Fields())
    assert "R241" in bad.reason
    assert "Memory usage limit" in bad.reason


def test_fields_may_have_other_names():
    Path("in.jsonl").write_text('{"body": "Ann.", "key": 3}\n')
    (record,) = read_source(lines_of("in.jsonl"), Fields("body", "key"))
    assert (record.text, record.id) == ("Ann.", 3)


def test_a_bad_row_of_parquet_is_a_record_with_its_reason():
    """And those after it are read; an id is what JSON can have."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = pa.array([b"Ann.", b"\xff", b"Bo."]).view(pa.string())
    table = pa.table({"text": texts, "id": [1.5, 2.5, float("nan")]})
    parquet.write_table(table, "in.parquet")
    (source,) = find_sources(["in.parquet"], Unit.FILE, 10)
    first, bad, last = read_source(source, Fields())
    assert (first.id, first.text) == (1.5, "Ann.")
    assert (bad.id, bad.place) == ("in.parquet:2", "in.parquet:2")
    assert "R276" in bad.reason
    assert (last.id, last.text) == ("nan", "Bo.")


def test_long_rows_of_parquet_are_not_taken_in(monkeypatch):
    """A dictionary has values of other rows too, which don't count."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setattr("refreader_spacy.bulk.parquet.LARGEST", 100)
    texts = ["Ann.", "a" * 101, "Bo.", "Eve.", *(f"{n}" * 20 for n in range(10, 20))]
    ids = [["a", 1], [], ["b" * 101], ["c" * 99], *([] for _ in range(10))]
    ids = pa.array([[str(each) for each in id] for id in ids])
    for column in (pa.array(texts), pa.array(texts).dictionary_encode()):
        parquet.write_table(pa.table({"text": column, "id": ids}), "in.parquet")
        (source,) = find_sources(["in.parquet"], Unit.FILE, 10)
        found = list(read_source(source, Fields()))
        assert [n for n, r in enumerate(found) if isinstance(r, Rejected)] == [1, 2, 3]
        assert all("R238" in record.reason for record in found[1:4])
        assert (found[0].id, found[4].text) == (["a", "1"], "10" * 20)


def test_a_few_bytes_of_parquet_don_t_fill_the_memory():
    """One text, many times: all of them at once would be 2 GB."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    numbers = pa.array([0] * 500, pa.int32())
    texts = pa.DictionaryArray.from_arrays(numbers, ["a" * 4_000_000])
    parquet.write_table(pa.table({"text": texts}), "in.parquet", store_schema=False)
    assert Path("in.parquet").stat().st_size < 1_000_000
    (source,) = find_sources(["in.parquet"], Unit.FILE, 10)
    before = pa.total_allocated_bytes()
    for record in read_source(source, Fields()):
        assert len(record.text) == 4_000_000
        assert pa.total_allocated_bytes() - before < 100_000_000


def test_parquet_rows_can_be_read_from_any_row_on():
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = [f"Text {n}." if n != 5 else None for n in range(20)]
    table = pa.table({"id": range(20), "text": texts, "more": [b"x"] * 20})
    parquet.write_table(table, "in.parquet", row_group_size=6)
    (source,) = find_sources(["in.parquet"], Unit.FILE, 10)
    found = list(read_source(source, Fields()))
    assert [record.id for record in found] == list(range(20))
    assert isinstance(found[5], Rejected)
    for number, record in enumerate(found, start=1):
        assert list(read_source(source, Fields(), record.end)) == found[number:]
    (wrong,) = read_source(source, Fields(text="body"))
    assert "['body'] are expected in in.parquet" in wrong.reason
    (place, *_) = read_source(source, Fields(id="none"))
    assert place.id == "in.parquet:1"
    Path("in.parquet").write_bytes(b"PAR1 and no more")
    (wrong,) = read_source(source, Fields())
    assert isinstance(wrong, Rejected)


def test_files_of_folders_come_in_order_and_in_groups():
    for name in ("b/2.txt", "b/10.txt", "a.txt", "b/c.jsonl", ".hidden/x", "b/.y"):
        Path("texts", name).parent.mkdir(parents=True, exist_ok=True)
        Path("texts", name).write_text(f'{{"text": "{name}"}}')
    found = find_sources(["texts", "-"], Unit.FILE, 2)
    assert [source.number for source in found] == [0, 1, 2, 3]
    assert [source.paths for source in found] == [
        ("texts/a.txt", "texts/b/10.txt"),
        ("texts/b/2.txt",),
        ("texts/b/c.jsonl",),
        ("-",),
    ]
    records = list(read_source(found[0], Fields()))
    assert [r.id for r in records] == ["texts/a.txt", "texts/b/10.txt"]
    assert list(read_source(found[0], Fields(), records[0].end)) == records[1:]


def test_what_is_no_file_in_a_folder_does_not_stop_the_others():
    """Broken links have their reason, pipes are left out; a name may be any bytes."""
    Path("texts").mkdir()
    Path("texts/broken.jsonl").symlink_to("nowhere")
    Path("texts/loop").symlink_to("loop")
    Path("texts/self").symlink_to(".")
    os.mkfifo("texts/pipe")
    Path(os.fsdecode(b"texts/\xff\n.txt")).write_text("Ann.")
    found = find_sources(["texts"], Unit.FILE, 10)
    assert settings_of(found)["files"] == 3
    broken, loop, text = (r for source in found for r in read_source(source, Fields()))
    assert "No such file" in broken.reason
    assert "symbolic links" in loop.reason
    assert text.text == "Ann."
    json.dumps(text.id, ensure_ascii=False).encode()


def test_a_file_that_is_gone_is_a_rejected_record(capsys):
    Path("a.txt").write_text("Ann.")
    Path("b.txt").write_text("Bob.")
    (source,) = find_sources(["a.txt", "b.txt"], Unit.FILE, 9)
    Path("a.txt").unlink()
    gone, there = read_source(source, Fields())
    assert "No such file" in gone.reason
    assert there.text == "Bob."


def test_standard_input_is_a_source(monkeypatch):
    data = io.BytesIO(b"Ann.\n\nBob.\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=data))
    found = list(read_source(Source(0, ("-",), Unit.LINE), Fields()))
    assert [(r.id, r.text) for r in found] == [("stdin:1", "Ann."), ("stdin:3", "Bob.")]


def test_what_can_not_be_read_is_said_at_once(monkeypatch):
    with pytest.raises(ValueError, match="R226"):
        find_sources(["missing"], Unit.FILE, 1)
    Path("empty").mkdir()
    with pytest.raises(ValueError, match="R236"):
        find_sources(["empty"], Unit.FILE, 1)
    Path("in.zst").write_bytes(b"")
    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"R242.*refreader-spacy\[zstd\]"):
        find_sources(["in.zst"], Unit.LINE, 1)
