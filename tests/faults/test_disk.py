"""A full disk, long records, and characters that are not letters."""

import json
from pathlib import Path

import pytest
from running import LONGEST, TIMES, finish, ids_in, start, write_records

OPTIONS = ("--shard-size", 100)


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def limit_file_size() -> None:
    """As if the disk were full: in the command's process, before it begins."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))


def test_a_full_disk_is_said_and_the_run_can_go_on():
    write_records(Path("in.jsonl"), 300)
    command = ("annotate", "in.jsonl", "-o", "out", *OPTIONS)
    with start(*command, preexec_fn=limit_file_size) as run:
        _, said = run.communicate(timeout=LONGEST)
    assert run.returncode == 1
    assert b"Traceback" not in said
    assert b"File too large" in said
    assert not list(Path("out").glob("*-*.jsonl"))
    finish(*command, "--resume")
    assert ids_in(Path("out")) == dict.fromkeys(range(300), 1)


def test_long_and_strange_records_are_annotated_or_put_aside():
    size = 200_000 if TIMES == 1 else 10_000_000
    texts = [
        "Ann lost her key. " * (size // 18),
        "e" + "\u0301" * 100_000,
        "$(" * 5_000,
        "\U0001f469\u200d\U0001f680" * 5_000,
        "\u202e" * 10_000,
        "\x00\x01 Ann \ufeff",
        "Bo lost his key.",
    ]
    lines = [json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts)]
    Path("in.jsonl").write_text("".join(lines))
    said = finish("annotate", "in.jsonl", "-o", "out", *OPTIONS, seconds=3 * LONGEST)
    assert said == "written to out: 7 texts\n"
    lines = Path("out/000000-000000.jsonl").read_bytes().splitlines()
    found = [json.loads(line) for line in lines]
    assert [record["text"] for record in found] == texts
