"""Files that are nearly right."""

import random

PIECES = [
    *(
        b"\xff",
        b"\x00",
        b"\r",
        b"\t",
        b"\n",
        b"\n\n",
        b" ",
        b"_",
        b"*",
        b"-",
        b"#",
        b"=",
    ),
    *(b"(", b")", b"|", b"[", b"]", b"{", b"}", b'"', b'""', b"'", b",", b":", b"\\"),
    *(b"0", b"-1", b"1.5", b"1e999", b"NaN", b"null", b"true", b"9" * 20, b"9" * 5000),
    *(b"\\ud800", b"\\u0000", "\u2028".encode(), "\ufeff".encode(), "e\u0301".encode()),
    *(
        b"Entity=",
        b"SplitAnte=",
        b"(1",
        b"1)",
        b"(2)|(3",
        b"#begin document",
        b"# newdoc",
    ),
    *(b"[" * 3000, b"(" * 3000, b"(1)|" * 500, b"$" * 3000),
]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A file with a few places changed."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(found) + 1)
        end = min(len(found), start + chance.choice([0, 1, 2, 5, 40]))
        kind = chance.randrange(5)
        if kind == 0:
            found[start:end] = chance.choice(PIECES)
        elif kind == 1:
            found[start:start] = chance.choice(PIECES)
        elif kind == 2:
            found[start:start] = bytes(found[start:end])
        elif kind == 3:
            del found[start:end]
        elif end > start:
            found[start] = chance.randrange(256)
    return bytes(found)
