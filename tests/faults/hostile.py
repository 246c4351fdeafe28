"""Plain data that is nearly right: what a program reads, with a few places changed."""

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

NUMBERS = [
    *(0, 1, -1, 2, 7, 8, 20, 21, 255, 256, 1000, 10**6),
    *(2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1),
    *(0.5, -0.5, 1.5, 1e38, -1e308, float("nan"), float("inf"), float("-inf")),
]
VALUES = [
    *(None, True, False, "", "x", "\ud800".encode("utf8", "surrogatepass"), b""),
    *([], [[]], [0], {}, {"start": 0}, "Ann " * 300),
    *(np.zeros(0), np.zeros((0, 8), np.int32), np.zeros(4, np.float32)),
    *(np.arange(3), np.zeros((2, 2, 2)), np.full(8, np.nan, np.float32)),
]


class Hostile:
    """Copies of some data with one to three places changed."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.places = list(places(data))

    def __call__(self, chance: random.Random) -> Any:
        data = self.data
        for _ in range(chance.randint(1, 3)):
            # A place may be gone with what was changed before it
            with suppress(IndexError, KeyError, TypeError):
                data = changed(data, chance.choice(self.places), chance)
        return data


def places(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to all parts of the data."""
    yield here
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*here, key))
    elif isinstance(data, list | tuple):
        for number in random.Random(len(data)).sample(
            range(len(data)), min(8, len(data))
        ):
            yield from places(data[number], (*here, number))


def changed(data: Any, place: tuple[Any, ...], chance: random.Random) -> Any:
    if not place:
        return other_value(data, chance)
    first, *rest = place
    if not isinstance(data, dict | list | tuple):
        raise TypeError
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[first] = changed(copy[first], tuple(rest), chance)
    return copy


def other_value(value: Any, chance: random.Random) -> Any:
    """Something in the place of a value: like it or not."""
    if chance.random() < 0.2:
        return chance.choice([*NUMBERS, *VALUES])
    if isinstance(value, np.ndarray):
        return other_array(value, chance)
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return chance.choice([*NUMBERS, value + 1, value - 1, -value, float(value)])
    if isinstance(value, dict):
        copy = dict(value)
        if copy and chance.random() < 0.5:
            del copy[chance.choice(list(copy))]
        else:
            copy[chance.choice(["x", "start", *copy])] = chance.choice(VALUES)
        return copy
    if isinstance(value, list | tuple):
        copy = list(value)
        where = chance.randrange(len(copy) + 1)
        copy[where : where + chance.randrange(3)] = chance.choice(
            [[], copy[:where], [chance.choice([*NUMBERS, *VALUES])]]
        )
        return copy
    return chance.choice([*VALUES, *NUMBERS])


def other_array(array: Any, chance: random.Random) -> Any:
    """With other numbers, of another type or of another shape."""
    kind = chance.randrange(6)
    if kind == 0:
        return array[: chance.randrange(len(array) + 1)] if array.ndim else array
    if kind == 1:
        types = (np.int32, np.int64, np.float32, np.float64, np.uint8, bool, "<U3")
        with np.errstate(all="ignore"):
            return array.astype(chance.choice(types))
    if kind == 2:
        return np.concatenate([array, array]) if array.ndim else array
    copy = array.copy()
    if array.dtype.hasobject or array.dtype.kind not in "iuf" or not copy.size:
        return copy.reshape(-1)
    flat = copy.reshape(-1)
    for _ in range(chance.choice([1, 1, 5, flat.size])):
        number = chance.choice(NUMBERS)
        if copy.dtype.kind != "f":
            if number != number or abs(number) == float("inf"):
                number = -5
            info = np.iinfo(copy.dtype)
            number = int(min(max(number, info.min), info.max))
        with np.errstate(all="ignore"):
            flat[chance.randrange(flat.size)] = number
    return copy.T if kind == 3 and copy.ndim > 1 else copy
