"""Ctrl-C while Spark works: our jobs are cancelled first, and then happens what would happen anyway.

PySpark waits for a job's end on its way out of a call, so an interruption alone would last as long as the job.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NUMBERS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
PATIENCE = 10.0  # seconds for asking Spark to cancel


@contextmanager
def untold() -> Iterator[None]:
    """Meanwhile no traceback of a Ctrl-C is logged; PySpark's way to Java logs one, by no logger of its own but by the root."""

    def other(record: logging.LogRecord) -> bool:
        return not (record.module == "java_gateway" and record.getMessage().startswith("KeyboardInterrupt"))

    root = logging.getLogger()
    root.addFilter(other)
    try:
        yield
    finally:
        root.removeFilter(other)


@contextmanager
def first(cancel: Callable[[], Any]) -> Iterator[None]:
    """In the main thread: signals that somebody handles `cancel` first.  In another thread there are no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {number: signal.getsignal(number) for number in NUMBERS}
    before = {number: handler for number, handler in before.items() if callable(handler)}

    def end(number: int, frame: Any) -> None:
        asking = threading.Thread(target=cancel, daemon=True)  # the main thread's way to Spark is in use
        asking.start()
        asking.join(PATIENCE)
        before[number](number, frame)

    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interruption(error: BaseException | None) -> BaseException | None:
    """The interruption that an error came of: a job that was cancelled fails, on the way out of Ctrl-C."""
    while error is not None and isinstance(error, Exception):
        error = error.__context__
    return error
