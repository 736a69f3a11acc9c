"""Steps that Ctrl-C, or an order to end, must not fall into: it comes too late, or a moment later."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_NUMBERS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What comes in this block is not heard."""
    with _handled(signal.SIG_IGN):
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """What comes in this block is heard at its end."""
    came: list[int] = []
    try:
        with _handled(lambda number, _: came.append(number)):
            yield
    finally:
        for number in came:
            os.kill(os.getpid(), number)


@contextmanager
def _handled(how: Callable[[int, Any], None] | signal.Handlers) -> Iterator[None]:
    """Only the main thread may say how signals are handled, and only those that somebody handles are touched."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    touched = [number for number in _NUMBERS if callable(signal.getsignal(number)) or how is signal.SIG_IGN]
    before = {number: signal.signal(number, how) for number in touched}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
