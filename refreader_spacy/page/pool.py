"""Readings in worker processes, so that no text can stop the page for everyone."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from time import monotonic
from typing import Any, NamedTuple, Protocol

from refreader_spacy.bulk.worker import Worker, WorkerStopped
from refreader_spacy.component import RefReader
from refreader_spacy.errors import Errors
from refreader_spacy.page.payload import Json
from refreader_spacy.page.service import Message, ReadingService

N_WORKERS = 4  # more than cores: a slow text takes its share of a core, not a core
PIECE_SECONDS = 10.0  # that a piece of a text may take
TEXT_SECONDS = 120.0  # that all its pieces may take together
MAX_NAMES = 10_000  # texts whose worker is remembered
# Characters that a worker reads before another takes its place: a Vocab keeps all words
MAX_READ = 20_000_000

METHODS = multiprocessing.get_all_start_methods()
# Not fork: a worker would hold the clients' connections open
START_METHOD = "forkserver" if "forkserver" in METHODS else "spawn"


class Readings(Protocol):
    """What the page needs of those who read."""

    def read(self, text: str, threshold: float | None) -> AsyncIterator[Message]: ...

    async def regroup(self, name: str, threshold: float) -> Json: ...


class InProcess:
    """Readings in the process of the page; for tests."""

    def __init__(self, service: ReadingService) -> None:
        self.service = service

    async def read(self, text: str, threshold: float | None) -> AsyncIterator[Message]:
        for message in self.service.read(text, threshold):
            yield message
            await asyncio.sleep(0)

    async def regroup(self, name: str, threshold: float) -> Json:
        return self.service.regroup(name, threshold)


class Start(NamedTuple):
    """Begin to read a text."""

    text: str
    threshold: float | None


class Call(NamedTuple):
    """What a worker is asked: the name of a method, and its arguments."""

    method: str
    arguments: tuple[Any, ...] = ()


class WorkerReadings:
    """A worker's side: texts that are being read, each advanced piece by piece."""

    def __init__(self, service: ReadingService) -> None:
        self.service = service
        self.texts: dict[int, Iterator[Message]] = {}

    def answer(self, call: Call) -> Any:
        return getattr(self, call.method)(*call.arguments)

    def ready(self) -> bool:
        return True

    def next(self, number: int, start: Start | None) -> Message | None:
        """The next message of a text; None after the last.

        start (Start | None): Needed for the first.
        """
        if start is not None:
            self.texts[number] = self.service.read(*start)
        elif number not in self.texts:
            raise KeyError(number)  # this worker took the place of another
        message = next(self.texts[number], None)
        if message is None:
            self.close(number)
        return message

    def close(self, number: int) -> None:
        self.texts.pop(number, None)

    def regroup(self, name: str, threshold: float) -> Json:
        return self.service.regroup(name, threshold)


def make_answer(load: Callable[[], RefReader]) -> Callable[[Call], Any]:
    """Made by a worker first: what answers its calls."""
    return WorkerReadings(ReadingService(load())).answer


@dataclass
class TextInProgress:
    """A text that is read for a client."""

    number: int
    start: Start
    n_sent: int = 0  # messages
    seconds: float = 0.0  # that it took so far, without waiting for others


class Seat:
    """A worker and the thread that waits for it, one call after the other."""

    def __init__(self, load: Callable[[], RefReader], seconds: float) -> None:
        self.worker: Worker[Call, Any] = Worker(
            partial(make_answer, load), START_METHOD
        )
        self.thread = ThreadPoolExecutor(1)
        self.seconds = seconds
        self.n_texts = self.n_read = 0

    async def call(self, method: str, *arguments: Any) -> Any:
        future = self.thread.submit(self._call, Call(method, arguments), None)
        return await asyncio.wrap_future(future)

    async def next(self, text: TextInProgress, start: Start | None) -> Message | None:
        """The next message of a text, whose time is counted."""
        call = Call("next", (text.number, start))
        future = self.thread.submit(self._call, call, text)
        message: Message | None = await asyncio.wrap_future(future)
        return message

    def _call(self, call: Call, text: TextInProgress | None) -> Any:
        began = monotonic()
        try:
            return self.worker.call(call, self.seconds)
        finally:
            if text is not None:
                text.seconds += monotonic() - began

    @property
    def is_worn(self) -> bool:
        """Should another worker take its place, when its texts are done?"""
        return self.n_read > MAX_READ

    @contextmanager
    def taken(self, length: int) -> Iterator[None]:
        """A text of such a length is read here."""
        self.n_texts += 1
        self.n_read += length
        try:
            yield
        finally:
            self.n_texts -= 1
            if self.is_worn and not self.n_texts:
                self.n_read = 0
                self.thread.submit(self.worker.stop)  # the next call starts another

    def forget(self, number: int) -> None:
        """Its client left. Nobody waits for the answer."""
        call = Call("close", (number,))
        self.thread.submit(self.worker.call, call, self.seconds)

    def close(self) -> None:
        self.thread.shutdown(wait=False, cancel_futures=True)
        self.worker.stop()


class ReadingPool:
    """Several workers; a text is read by the one that has the fewest."""

    def __init__(
        self,
        load: Callable[[], RefReader],
        *,
        n_workers: int = N_WORKERS,
        piece_seconds: float = PIECE_SECONDS,
        text_seconds: float = TEXT_SECONDS,
    ) -> None:
        """Start all workers, and wait for the first: it says what is wrong, if any.

        load (Callable): Gives the reader, in any process.
        """
        if START_METHOD == "forkserver":
            context = multiprocessing.get_context(START_METHOD)
            context.set_forkserver_preload([__name__])
        self.text_seconds = text_seconds
        self._seats = [Seat(load, piece_seconds) for _ in range(n_workers)]
        self._numbers = count()
        self._names: OrderedDict[str, Seat] = OrderedDict()
        try:
            self._seats[0].worker.call(Call("ready"))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for seat in self._seats:
            seat.close()

    @property
    def n_texts(self) -> int:
        """How many are being read."""
        return sum(seat.n_texts for seat in self._seats)

    async def read(self, text: str, threshold: float | None) -> AsyncIterator[Message]:
        """Read a text; ValueError if it takes too long."""
        seat = min(self._seats, key=lambda seat: (seat.is_worn, seat.n_texts))
        reading = TextInProgress(next(self._numbers), Start(text, threshold))
        with seat.taken(len(text)):
            try:
                while message := await self._next(seat, reading):
                    if reading.seconds > self.text_seconds:
                        seconds = self.text_seconds
                        raise ValueError(Errors.R266.format(seconds=seconds))
                    if message.event == "found":
                        self._remember(message.data["name"], seat)
                    yield message
                    reading.n_sent += 1
            except WorkerStopped as stopped:
                raise ValueError(Errors.R267.format(problem=stopped)) from stopped
            finally:
                seat.forget(reading.number)

    async def _next(self, seat: Seat, reading: TextInProgress) -> Message | None:
        """The next message; if another text ended the worker, from the beginning."""
        if reading.n_sent:
            try:
                return await seat.next(reading, None)
            except KeyError:
                pass
        message = await seat.next(reading, reading.start)
        for _ in range(reading.n_sent):
            message = await seat.next(reading, None)
        return message

    async def regroup(self, name: str, threshold: float) -> Json:
        """The clusters of a text that was read before; LookupError if it is gone."""
        if name not in self._names:
            raise LookupError(Errors.R264)
        try:
            found: Json = await self._names[name].call("regroup", name, threshold)
        except WorkerStopped as stopped:
            raise LookupError(Errors.R264) from stopped
        return found

    def _remember(self, name: str, seat: Seat) -> None:
        self._names[name] = seat
        self._names.move_to_end(name)
        while len(self._names) > MAX_NAMES:
            self._names.popitem(last=False)
