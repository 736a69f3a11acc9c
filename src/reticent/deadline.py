"""A limit on the CPU time that a piece of work may take, checked wherever its loops turn.

`limit_cpu_time` sets the limit for what runs inside it; `check_deadline` raises once it has passed.  Without a limit a check
costs less than a microsecond.  What runs in a library's own code (a Polars query) is not interrupted: the check after it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import process_time


@dataclass(frozen=True, slots=True)
class Deadline:
    """The CPU time of this process at which the work ends, and the error to raise then."""

    ends: float
    make_error: Callable[[], Exception]


_DEADLINE: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


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
