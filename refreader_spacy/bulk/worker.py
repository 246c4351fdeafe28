"""A process that answers calls, can be stopped, and ends when its parent does."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from threading import Thread
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar, cast

from refreader_spacy.errors import Errors

Request = TypeVar("Request")
Reply = TypeVar("Reply")
Answer = Callable[[Request], Reply]

# Fork shares the pipeline's memory, but only Linux can do it without harm
START_METHOD = "fork" if sys.platform == "linux" else "spawn"
PR_SET_PDEATHSIG = 1
STARTS = 3  # that are tried: somebody may end a process just then


class WorkerStopped(Exception):
    """A worker ended before it had answered, by itself or because it took too long."""


class _Outcome(NamedTuple):
    reply: Any = None
    error: Exception | None = None
    is_last: bool = False  # the process ends


class Worker(Generic[Request, Reply]):
    """A process that answers one request at a time, and is started again if it died."""

    def __init__(
        self,
        setup: Callable[[], Answer[Request, Reply]],
        start_method: str = START_METHOD,
    ) -> None:
        """Start it, without waiting for it.

        setup (Callable): Called once in the process; gives what answers the requests.
            When that says that it `is_worn`, another process takes its place.
        """
        self._setup = setup
        self._start_method = start_method
        self._context: Any = multiprocessing.get_context(start_method)
        self._deadline: float | None = None
        self._start()

    def _start(self) -> None:
        self.connection, theirs = self._context.Pipe()
        self._ready = False
        self._process = self._context.Process(
            target=_answer_calls,
            args=(self._setup, theirs, self._start_method == "fork"),
            daemon=True,
        )
        self._process.start()
        theirs.close()

    def call(self, request: Request, seconds: float | None = None) -> Reply:
        """The answer; WorkerStopped if there is none in so many seconds."""
        self.send(request, seconds)
        wait([self.connection], self.seconds_left)
        return self.receive()

    def send(self, request: Request, seconds: float | None = None) -> None:
        """Ask; `receive` gives the answer when the connection is ready."""
        if not self._process.is_alive():
            self._restart()
        if not self._ready:
            outcome = self._started()
            if outcome.error is not None:
                raise outcome.error
            self._ready = True
        with suppress(BrokenPipeError):  # it died meanwhile: `receive` says so
            self.connection.send(request)
        self._deadline = None if seconds is None else monotonic() + seconds
        self._seconds = seconds

    def _started(self, tries: int = STARTS) -> _Outcome:
        """How its setup went, once that is over."""
        try:
            return cast(_Outcome, self.connection.recv())
        except (EOFError, OSError) as error:
            if tries == 1:
                raise ChildProcessError(Errors.R233) from error
        self._restart()
        return self._started(tries - 1)

    @property
    def seconds_left(self) -> float | None:
        """How long the answer may still take; None is for ever."""
        return self._deadline and max(0.0, self._deadline - monotonic())

    def receive(self) -> Reply:
        """The answer to what was sent; WorkerStopped if there is none by now."""
        if not self.connection.poll():
            self._end()
            raise WorkerStopped(Errors.R234.format(seconds=self._seconds))
        try:
            outcome: _Outcome = self.connection.recv()
        except (EOFError, OSError) as error:
            code = self._end()
            raise WorkerStopped(Errors.R235.format(code=code)) from error
        if outcome.is_last:
            self._end()  # the next request starts another process
        if outcome.error is not None:
            raise outcome.error
        return cast(Reply, outcome.reply)

    def twin(self) -> Worker[Request, Reply]:
        """Another one that does the same."""
        return Worker(self._setup, self._start_method)

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._end()

    def _restart(self) -> None:
        self._end()
        self._start()

    def _end(self) -> int | None:
        self.connection.close()
        if self._process.is_alive():
            # One that was stopped already has a moment to leave its exit code
            self._process.join(0.1)
            self._process.kill()
        self._process.join()
        code: int | None = self._process.exitcode
        return code


def _answer_calls(
    setup: Callable[[], Answer[Any, Any]],
    connection: Connection[Any, Any],
    is_forked: bool,
) -> None:
    end_with_parent()
    if is_forked:
        use_one_thread_of_torch()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent
    try:
        answer = setup()
    except Exception as error:
        _reply(connection, _Outcome(error=error))
        return
    _reply(connection, _Outcome())
    while True:
        try:
            request = connection.recv()
        except (EOFError, OSError):
            return
        try:
            outcome = _Outcome(answer(request))
        except Exception as error:
            outcome = _Outcome(error=error)
        is_last = getattr(answer, "is_worn", False)
        _reply(connection, outcome._replace(is_last=is_last))
        if is_last:
            return


def _reply(connection: Connection[Any, Any], outcome: _Outcome) -> None:
    try:
        connection.send(outcome)
    except BrokenPipeError:
        raise SystemExit(0) from None
    except Exception as error:  # can't be pickled
        problem = RuntimeError(repr(outcome.error or error))
        connection.send(outcome._replace(reply=None, error=problem))


def use_one_thread_of_torch() -> None:
    """Threads aren't forked: where the parent has computed with several, OpenMP would
    wait for those of this process for ever."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


def end_with_parent() -> None:
    """From now on, this process ends when its parent does, even if that is killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel
    if sys.platform == "linux":  # at once; elsewhere when Python gets to it
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def watch() -> None:
        wait([sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()
