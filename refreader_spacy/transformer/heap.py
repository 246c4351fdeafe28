"""Returning unused heap memory to the operating system."""

from __future__ import annotations

import ctypes
import sys


def trim_heap() -> None:
    """Return free heap memory to the operating system, where the C library can.

    Batches of many shapes fragment the heap: several gigabytes in a hundred updates.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)
