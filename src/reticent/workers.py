"""Threads that run compiled code while their caller can still be interrupted.

Neither Ctrl-C nor a limit on CPU seconds (`reticent.time_limit`) reaches a thread that is inside compiled code, or that
waits for another thread without end.  So the caller waits for a moment at a time, and if something is raised in it a
flag is set, which compiled loops of the workers check at each turn.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from reticent.time_limit import THREAD_START_LOCK

Part = TypeVar("Part")
Result = TypeVar("Result")
WAIT_SECONDS = 0.05  # seconds after which a caller looks whether it is interrupted


def make_stop_flag() -> np.ndarray:
    """Make one byte that compiled code reads without the interpreter: not 0 once the work is of no use."""
    return np.zeros(1, np.int8)


def run_in_workers(run: Callable[[Part, int, np.ndarray], Result], parts: Sequence[Part]) -> list[Result]:
    """Return run(part, number of the worker, flag) of each part, in their order; each part has a thread of its own.

    An error here or in a worker sets the flag, and is raised again when all workers have ended.
    """
    stop = make_stop_flag()
    workers: list[_Worker[Part, Result]] = []
    try:
        for number, part in enumerate(parts):
            worker = _Worker(run, part, number, stop)
            workers.append(worker)
            worker.start()
        for worker in workers:
            worker.wait()
        for worker in workers:
            if worker.error is not None:
                raise worker.error
    except BaseException:
        stop[0] = 1
        for worker in workers:
            worker.wait()
        raise
    return [result for worker in workers for result in worker.results]


class _Worker(Generic[Part, Result]):
    """A thread for one part.

    It is begun and waited for by bare calls: an exception that arrives within `threading.Thread.start` can leave its
    lock held, and the thread waiting for ever.
    """

    def __init__(self, run: Callable[[Part, int, np.ndarray], Result], part: Part, number: int, stop: np.ndarray):
        self.run = run
        self.part = part
        self.number = number
        self.stop = stop
        self.results: list[Result] = []
        self.error: BaseException | None = None
        self.ended = False
        self.begun = False
        self.runs = False
        self.beginning = _thread.allocate_lock()
        self.beginning.acquire()
        self.running = _thread.allocate_lock()
        self.running.acquire()

    def start(self) -> None:
        with THREAD_START_LOCK:
            self.begun = True
            try:
                _thread.start_new_thread(self._work, ())
            except RuntimeError:  # no more threads
                self.begun = False
                raise
            while not self.runs:
                self.beginning.acquire(timeout=WAIT_SECONDS)

    def wait(self) -> None:
        while self.begun and not self.ended:
            self.running.acquire(timeout=WAIT_SECONDS)

    def _work(self) -> None:
        self.runs = True
        self.beginning.release()
        try:
            self.results.append(self.run(self.part, self.number, self.stop))
        except BaseException as error:
            self.error = error
            self.stop[0] = 1
        finally:
            self.ended = True
            self.running.release()
