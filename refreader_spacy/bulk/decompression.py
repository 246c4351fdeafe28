"""Compressed files, unpacked as they are read, in bounded memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from typing import Any, BinaryIO, cast

CHUNK = 1 << 20
XZ_MEMORY = 1 << 28  # bytes; a file says how much it takes to read it, and may say 4 GB


def decompressed(file: BinaryIO, suffix: str) -> BinaryIO:
    """What is in a file with such a name."""
    if suffix == ".gz":
        return cast(BinaryIO, gzip.open(file))
    if suffix == ".bz2":
        return cast(BinaryIO, bz2.open(file))
    if suffix == ".xz":
        return cast(BinaryIO, io.BufferedReader(XzReader(file)))
    if suffix == ".zst":
        return zstd(file)
    return file


def zstd(file: BinaryIO) -> BinaryIO:
    import zstandard

    reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return cast(BinaryIO, io.BufferedReader(cast(Any, reader)))


class XzReader(io.RawIOBase):
    """As `lzma.open`, with a limit of memory; what is no stream is an error."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.stream = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            given = b""
            if self.stream.eof:
                given = self.next_stream()
                if not given:
                    return 0
                self.stream = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            elif self.stream.needs_input:
                given = self.file.read(CHUNK)
                if not given:
                    raise EOFError("it ends in the middle")
            data = self.stream.decompress(given, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def next_stream(self) -> bytes:
        """The beginning of another one, if one follows; zeros may come between."""
        given = self.stream.unused_data.lstrip(b"\0")
        while not given and (given := self.file.read(CHUNK)):
            given = given.lstrip(b"\0")
        return given
