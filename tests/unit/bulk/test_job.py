from __future__ import annotations

import csv
import io
import json
from itertools import islice
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from troubled import load

from refreader_spacy.bulk.formats import FORMATS, json_line
from refreader_spacy.bulk.job import Job, run_locally
from refreader_spacy.bulk.pieces import batches_of, ranges_of
from refreader_spacy.bulk.records import BEGINNING, TextRecord, rejected
from refreader_spacy.bulk.shards import Manifest, ShardFolder, join_shards
from refreader_spacy.bulk.sources import Fields, Unit, find_sources
from refreader_spacy.corpora.formats import read_documents

TEXTS = ["Ann.", "RAISE", "Bob.", "CRASH", "Cy.", "STALL", "Dee.", "Ed.", "Flo."] * 2


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_input(texts: list[str], name: str = "in.jsonl") -> None:
    lines = [{"id": n, "text": text} for n, text in enumerate(texts)]
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def make_job(form: str = "jsonl", **settings) -> Job:
    sources = find_sources(sorted(map(str, Path().glob("in*"))), Unit.FILE, 4)
    settings = {"batch_size": 3, "shard_size": 5, **settings}
    return Job(sources, load, FORMATS[form](), Fields(), **settings)


def run(job: Job, folder: Path, n_shards: int | None = None, n_process: int = 1):
    """Run a job, or go on with it, and leave off after some shards."""
    manifest = Manifest(folder, job.settings())
    shards = ShardFolder(folder, job.format)
    written = run_locally(job, shards, manifest.ends, n_process=n_process)
    for shard in islice(written, n_shards):
        manifest.add(shard)
    written.close()
    return shards, manifest


def ids_in(folder: Path) -> list[int]:
    lines = [
        line
        for path in sorted(folder.glob("*-*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    return [json.loads(line)["id"] for line in lines]


@pytest.mark.parametrize("n_process", [1, 2])
def test_records_that_fail_are_put_aside_and_the_others_are_not_lost(n_process):
    write_input(TEXTS)
    _, manifest = run(make_job(time_limit=5.0), Path("out"), n_process=n_process)
    bad = [n for n, text in enumerate(TEXTS) if text.isupper()]
    assert ids_in(Path("out")) == [n for n in range(len(TEXTS)) if n not in bad]
    aside = "".join(p.read_text() for p in sorted(Path("out/rejected").iterdir()))
    reasons = {r["id"]: r["reason"] for r in map(json.loads, aside.splitlines())}
    assert list(reasons) == bad
    for n, part in [(1, "no such word"), (3, "exit code -9"), (5, "longer than 5 sec")]:
        assert part in reasons[n]
    assert sum(s.texts for s in manifest.shards.values()) == len(TEXTS) - len(bad)
    assert sum(s.rejected for s in manifest.shards.values()) == len(bad)


def test_any_reason_can_be_written():
    record = TextRecord("in:1", 1, "Ann.", 4, BEGINNING)
    reason = rejected(record, ValueError("no \ud800\n" * 1000)).reason
    assert reason.startswith("ValueError: no \\ud800 no ")
    assert len(json_line({"reason": reason})) < 1000


def test_a_record_alone_in_its_batch_has_another_try():
    """Its process may have been ended by something else."""
    write_input(["Ann.", "CRASH ONCE"])
    run(make_job(batch_size=1), Path("out"))
    assert ids_in(Path("out")) == [0, 1]


@pytest.mark.parametrize("n_shards", [0, 1, 3])
def test_a_run_that_was_ended_goes_on_and_has_everything_once(n_shards):
    write_input([f"Text {n}." for n in range(12)], "in1.jsonl")
    write_input([f"Text {n}." for n in range(12, 23)], "in2.jsonl")
    Path("in3.txt").write_text("Text 23.")
    run(make_job(), Path("out"), n_shards)
    with Path("out/manifest.jsonl").open("a") as file:
        file.write('{"source": 1, "pie')  # killed while it was written
    Path("out/.000000-000001.jsonl-abcd_123").mkdir()  # and a draft of a shard
    Path("out/000001-000000.jsonl").write_text("half a shard")
    run(make_job(batch_size=2), Path("out"))
    run(make_job(), Path("whole"))
    for path in Path("whole").glob("*-*.jsonl"):
        assert Path("out", path.name).read_bytes() == path.read_bytes()
    names = sorted(path.name for path in Path("out").iterdir())
    assert names == sorted(path.name for path in Path("whole").iterdir())
    assert sorted(Path("out/manifest.jsonl").read_text().splitlines()) == sorted(
        Path("whole/manifest.jsonl").read_text().splitlines()
    )


def test_pieces_may_be_done_in_any_order():
    write_input([f"Text {n}." for n in range(23)])
    job = make_job()
    (source,) = job.sources
    sizes = {"piece_size": 5, "batch_size": 2}
    expected = list(batches_of(source, Fields(), {}, **sizes))
    ends = {batch.key: batch.records[-1].end for batch in expected}
    middle = {key: end for key, end in ends.items() if key.piece in (1, 3)}
    found = list(batches_of(source, Fields(), middle, **sizes))
    assert found == [batch for batch in expected if batch.key not in middle]
    ranges = list(ranges_of(source, 5))
    assert len(ranges) == 5
    assert next(job.batches(ranges[::-1], {})).key.piece == 4
    assert sorted(job.batches(ranges, {})) == sorted(job.batches(ranges[::-1], {}))


@pytest.mark.parametrize("form", FORMATS)
def test_shards_can_be_one_file(form):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    write_input([*(f"Text {n}." for n in range(12)), "RAISE"])
    shards, manifest = run(make_job(form), Path("out"))
    path = Path("whole").with_suffix(shards.format.suffix)
    assert join_shards(shards, manifest, path) == Path("whole.rejected.jsonl")
    assert len(Path("whole.rejected.jsonl").read_text().splitlines()) == 1
    ids = [*range(12)]
    if form == "jsonl":
        found = [json.loads(line)["id"] for line in path.read_text().splitlines()]
    elif form == "parquet":
        from pyarrow import parquet

        rows = parquet.read_table(path).to_pylist()
        found = [row["id"] for row in rows]
        assert rows[3]["text"] == "Text 3."
        ids = [str(n) for n in ids]
    elif form == "spacy":
        docs = DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)
        found = [doc.user_data["id"] for doc in docs]
    elif form in ("conll2012", "corefud"):
        documents = list(read_documents(path, spacy.blank("en")))
        assert documents[3].words == ["Text", "3", "."]
        found = [int(document.id) for document in documents]
    elif form == "mentions":
        (head,) = path.read_text().splitlines()  # there are none in these texts
        assert head.startswith("doc,mention,")
        return
    elif form == "tokens":
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        assert [row["text"] for row in rows[:4]] == ["Text", "0", ".", "Text"]
        found = [int(row["doc"]) for row in rows[::3]]
    assert found == ids


def test_other_settings_or_inputs_are_no_continuation():
    write_input(["Ann."] * 8)
    run(make_job(), Path("out"), n_shards=1)
    before = Path("out/manifest.jsonl").read_bytes()
    with pytest.raises(ValueError, match=r"R231.*shard_size: 5"):
        run(make_job(shard_size=6), Path("out"))
    write_input(["Ann."] * 9)
    with pytest.raises(ValueError, match=r"R231.*digest"):
        run(make_job(), Path("out"))
    assert Path("out/manifest.jsonl").read_bytes() == before


@pytest.mark.parametrize("line", ["diary", "[1]", '{"source": 1}', "[" * 100_000])
def test_a_manifest_that_is_none_is_left_alone(line):
    write_input(["Ann."])
    run(make_job(), Path("out"))
    with Path("out/manifest.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(ValueError, match=r"R244.*line 3"):
        run(make_job(), Path("out"))


def test_no_records_make_an_empty_file():
    write_input([])
    shards, manifest = run(make_job(), Path("out"))
    assert join_shards(shards, manifest, Path("whole.jsonl")) is None
    assert Path("whole.jsonl").read_bytes() == b""


@pytest.mark.parametrize("line", ["0", "null", '""', "[]", '"x"'])
def test_a_manifest_whose_first_line_is_no_header_is_another_run(line):
    Path("out").mkdir()
    Path("out/manifest.jsonl").write_text(line + "\n")
    with pytest.raises(ValueError, match="R231"):
        Manifest(Path("out"), {"shard size": 10})
