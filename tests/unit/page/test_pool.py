import asyncio

import pytest
from troubled import fail_to_load, load_reader

from refreader_spacy.page import pool as pool_module
from refreader_spacy.page.pool import ReadingPool

TEXT = "Ann Lee met Bo-Jon because she was late. He told her so, and she left.\n" * 99


@pytest.fixture(scope="module")
def pool():
    pool = ReadingPool(load_reader, n_workers=2, piece_seconds=15)
    yield pool
    pool.close()


async def read(pool: ReadingPool, text: str) -> list:
    return [message async for message in pool.read(text, None)]


async def can_regroup(pool: ReadingPool, name: str) -> bool:
    try:
        await pool.regroup(name, 0.5)
    except LookupError:
        return False
    return True


def test_texts_are_read_side_by_side(pool):
    async def reading():
        return await asyncio.gather(*(read(pool, TEXT[i:]) for i in range(5)))

    for i, messages in enumerate(asyncio.run(reading())):
        assert [messages[0].event, messages[-1].event] == ["start", "found"]
        tokens = [t for m in messages[1:-1] for t in m.data["tokens"]]
        assert "".join(tokens) == TEXT[i:]
    assert pool.n_texts == 0


@pytest.mark.parametrize("trouble", ["CRASH", "STALL"])
def test_a_text_that_stops_its_worker_stops_nobody_else(pool, trouble):
    """Also those whom the same worker reads for."""

    async def reading():
        others = [asyncio.create_task(read(pool, TEXT)) for _ in range(4)]
        await asyncio.sleep(0.05)
        with pytest.raises(ValueError, match="R267"):
            await read(pool, f"{TEXT[:400]} {trouble} ")
        return await asyncio.gather(*others)

    expected = asyncio.run(read(pool, TEXT))
    assert asyncio.run(reading()) == [expected] * 4


def test_a_problem_of_one_text_is_told_to_its_client(pool):
    with pytest.raises(ValueError, match="no such word"):
        asyncio.run(read(pool, "RAISE "))


def test_a_text_may_take_only_so_long(pool, monkeypatch):
    monkeypatch.setattr(pool, "text_seconds", 1e-9)
    with pytest.raises(ValueError, match="R266"):
        asyncio.run(read(pool, TEXT))


def test_who_leaves_is_forgotten(pool):
    async def leaving():
        reading = asyncio.create_task(read(pool, TEXT * 20))
        while pool.n_texts == 0:
            await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

    asyncio.run(leaving())
    assert pool.n_texts == 0


def test_a_text_can_be_grouped_again_until_its_worker_is_gone(pool, monkeypatch):
    async def regrouping():
        found = (await read(pool, TEXT))[-1].data
        again = await pool.regroup(found["name"], found["threshold"])
        assert again == found
        monkeypatch.setattr(pool_module, "MAX_READ", 10)
        await asyncio.gather(read(pool, TEXT), read(pool, TEXT))  # by both workers
        monkeypatch.undo()
        await read(pool, "Ann.")
        assert not await can_regroup(pool, found["name"])
        with pytest.raises(LookupError, match="R264"):
            await pool.regroup("none", 0.5)

    asyncio.run(regrouping())


def test_a_worker_that_has_read_enough_gets_no_more_texts(pool, monkeypatch):
    """Else it would never be without one, and never be replaced."""
    monkeypatch.setattr(pool_module, "MAX_READ", 1000)
    worn, other = pool._seats
    other.n_read = 0
    with worn.taken(1001), other.taken(1), other.taken(1):
        (*_, found) = asyncio.run(read(pool, "Ann left."))
    assert pool._names[found.data["name"]] is other


def test_a_reader_that_can_not_be_loaded_is_an_error_at_once():
    with pytest.raises(ValueError, match="no such pipeline"):
        ReadingPool(fail_to_load, n_workers=1)


def test_the_worst_text_is_read_in_time(pool):
    """That a piece may take; as one piece, tokenising took a minute."""
    messages = asyncio.run(read(pool, "$" * 8000))
    assert messages[-1].event == "found"
