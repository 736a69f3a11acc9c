"""Limits on the CPU seconds of a computation, in two ways.

`limit_cpu_time` is for work whose own loops call `check_deadline`: it sets the limit for its body, and the check raises
once the limit has passed. Without a limit a check costs less than a microsecond. A library's own code (a Polars query)
is not interrupted: the check after it raises.

`run_within` is for a computation that only plans or measures: it is stopped where it stands, and nothing of it is kept.
A thread watches the CPU time of the process and raises an exception in the thread that computes, as Ctrl-C would; so
any loop ends, in whatever method or promise it is. A single call into compiled code is not interrupted: it ends first,
unless `reticent.workers` runs it. Nothing that writes is run like this.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import process_time
from types import FrameType
from typing import TypeVar

_DEADLINE: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
T = TypeVar("T")
_MIN_WAIT_SECONDS = 0.01
_MAX_WAIT_SECONDS = 1.0
# Held while a thread is begun: until it runs, the interpreter knows it by the identity of the thread that begins it, and what is
# raised for the one arrives in the other.
THREAD_START_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Deadline:
    """The CPU time of this process at which the work ends, and the error to raise then."""

    ends: float
    make_error: Callable[[], Exception]


@contextmanager
def limit_cpu_time(seconds: float | None, make_error: Callable[[], Exception]) -> Iterator[None]:
    """Let the body take so many CPU seconds; None sets no limit.  An earlier limit around it stays in force."""
    outer = _DEADLINE.get()
    if seconds is None or (outer is not None and outer.ends <= process_time() + seconds):
        yield
        return
    token = _DEADLINE.set(Deadline(process_time() + seconds, make_error))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def check_deadline() -> None:
    """Raise the error of the limit in force, if its time has passed."""
    deadline = _DEADLINE.get()
    if deadline is not None and process_time() >= deadline.ends:
        raise deadline.make_error()


class TimeLimitReached(Exception):
    """A computation did not end within its CPU seconds."""


def run_within(seconds: float, function: Callable[[], T]) -> T:
    """Return what the function returns, or raise `TimeLimitReached` once it has used so many CPU seconds.

    CPU seconds are those of the process: all of its threads count.  Limits may be nested; each ends its own computation.
    """
    if seconds <= 0:
        raise TimeLimitReached
    watch = _Watch(seconds, sys._getframe())
    try:
        try:
            watch.start()
            return function()
        finally:
            watch.stop()
    except _Interruption:
        watch.stop_surely()
        if watch.fired:
            raise TimeLimitReached from None
        raise


class _Watch:
    """Raises `_Interruption` in the thread that made it when the time is over, and again each second until it is stopped.

    It raises nothing once the `frame` that the limit is for has been left, however that happened: another limit may have ended it
    before it could stop its watch.
    """

    def __init__(self, seconds: float, frame: FrameType):
        self.ends = process_time() + seconds
        self.frame: FrameType | None = frame
        self.computing = threading.get_ident()
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.fired = False

    def start(self) -> None:
        with THREAD_START_LOCK:
            threading.Thread(target=self._watch, name="reticent-time-limit", daemon=True).start()

    def stop(self) -> None:
        with self.lock:
            self.stopped.set()
            self.frame = None
            if self.fired:
                self._absorb()

    def stop_surely(self) -> None:
        """Stop the watch even if an interruption arrives meanwhile."""
        while True:
            try:
                self.stop()
                return
            except _Interruption:
                continue

    def _is_computing(self) -> bool:
        """Whether the frame that the limit is for is still on its thread's stack."""
        frame = sys._current_frames().get(self.computing)
        while frame is not None:
            if frame is self.frame:
                return True
            frame = frame.f_back
        return False

    def _watch(self) -> None:
        cores = os.cpu_count() or 1
        while not self.stopped.is_set():
            left = self.ends - process_time()
            if left > 0:  # the CPU time grows by no more than one second a second on each core
                self.stopped.wait(min(max(left / cores, _MIN_WAIT_SECONDS), _MAX_WAIT_SECONDS))
                continue
            with self.lock:
                if self.stopped.is_set() or not self._is_computing():
                    self.frame = None
                    return
                self.fired = True
                with THREAD_START_LOCK:
                    self._raise(_Interruption)
            self.stopped.wait(_MAX_WAIT_SECONDS)

    def _absorb(self) -> None:
        """Let one that was raised and has not arrived arrive here.

        It is not taken back: CPython 3.11 would look for it at every step from then on, and under a tracer for ever at one.
        """
        try:
            self._raise(_Interruption)
            while True:  # it arrives where a loop turns
                pass
        except _Interruption:
            return

    def _raise(self, what: type[BaseException]) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.computing), ctypes.py_object(what))


class _Interruption(BaseException):
    """Raised in the thread that computes; no `except Exception` stops it."""
