"""Memory that nobody uses goes back to the system."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Let go of what lies unused between blocks in use, where the C library can.

    Batches of many shapes leave more of it with every update: several gigabytes in a
    hundred of them.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)
