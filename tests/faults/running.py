"""Commands that are run to be killed, and what is left of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

TIMES = int(os.environ.get("SOAK", "1"))  # `make soak` sets more
LONGEST = 300 if TIMES == 1 else 1800  # seconds that a command may take
TEXT = "Ann told Bo that she had lost his key. He laughed. "


def write_records(path: Path, n: int) -> None:
    with path.open("w") as file:
        for i in range(n):
            file.write(json.dumps({"id": i, "text": TEXT * (1 + i % 3)}) + "\n")


def start(*arguments: object, **kwargs) -> subprocess.Popen:
    """A command in a session of its own, by which all that it starts can be found."""
    command = [sys.executable, "-m", "refreader_spacy", *map(str, arguments)]
    return subprocess.Popen(
        command,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        **kwargs,
    )


def finish(*arguments: object, seconds: float = LONGEST) -> str:
    """Run a command to its end; what it said."""
    with start(*arguments) as process:
        _, said = process.communicate(timeout=seconds)
    assert process.returncode == 0, said.decode()
    return said.decode()


def processes_of(session: int) -> dict[int, int]:
    """Processes of a session that still run, each with its parent."""
    found = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            state, parent, _, owner = fields[:4]
            if int(owner) == session and state != "Z":
                found[int(path.name)] = int(parent)
    return found


def wait_for(condition, seconds: float = LONGEST) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def kill(process: subprocess.Popen, how: int, seconds: float = LONGEST) -> None:
    """Kill a command, and see that nothing is left running after some seconds."""
    process.send_signal(how)
    process.wait(LONGEST)
    process.stderr.close()
    wait_for(lambda: not processes_of(process.pid), seconds)


def ids_in(folder: Path) -> Counter:
    """How often each id is there; every line is whole."""
    return Counter(
        json.loads(line)["id"]
        for path in folder.glob("*-*.jsonl")
        for line in path.read_bytes().splitlines()
    )
