"""How many inputs are tried, each with chances of its own, and what counts as right."""

import os
import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from running import TIMES

# `make fuzz` sets how many inputs of each kind are tried
N = int(os.environ.get("FUZZ", "300" if TIMES == 1 else f"{5000 * TIMES}"))
FIRST = int(os.environ.get("FUZZ_FIRST", "0"))  # to see one again, or to go on
LONGEST = float(os.environ.get("FUZZ_SECONDS", "inf"))  # for all inputs of a kind
SECONDS = 20  # for one input
OURS = re.compile(r"^(\[R\d+\] |$)")
# Each process keeps its last input here, by name and number: a crash leaves no other
# trace but the sanitizer's report. How many were tried of each kind is beside it.
LAST = os.environ.get("FUZZ_LAST")


def tries(name: str, n: int = N) -> Iterator[random.Random]:
    """For each input, what it is drawn with. A failure comes again by its number."""
    test = os.environ.get("PYTEST_CURRENT_TEST")
    started = time.monotonic()
    number = FIRST
    last = Path(f"{LAST}-{os.getpid()}") if LAST else None
    while number < n and time.monotonic() - started < LONGEST:
        if last:
            put(last, f"{name} {number}: {test}\n".encode())
        chance = random.Random(f"{name} {number}")
        try:
            yield chance
        except GeneratorExit:
            print(f"{name}: input {number}")  # pytest shows it where a test failed
            raise
        number += 1
    if LAST:
        seconds = time.monotonic() - started
        with Path(f"{LAST}-counts").open("a") as counts:
            counts.write(f"{number - FIRST} in {seconds:.0f} s: {test}\n")


def put(path: Path, data: bytes) -> None:
    """Make a file anew. One that is cut to nothing and written again may be sent to the
    disk at once, which takes ten times as long as to read what is in it."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def message(act: Callable[[], object]) -> str:
    """Of the ValueError, if there is one."""
    try:
        act()
    except ValueError as error:
        return str(error)
    return ""
