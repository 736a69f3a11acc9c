"""How far a pass over the rows is, in words: rows, and the time that is left if it goes on like this."""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY = 2.0  # seconds between two words


class Pace:
    """Tells `progress` of a pass over `rows` rows, not more often than every two seconds; None: nobody counted them yet."""

    def __init__(
        self, doing: str, rows: int | None, progress: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ):
        self.doing, self.rows, self.progress, self.clock = doing, rows, progress, clock
        self.done, self.began = 0, clock()
        self.told = self.began

    def add(self, rows: int) -> None:
        self.done += rows
        now = self.clock()
        if now - self.told >= EVERY and self.done:
            self.told = now
            self.progress(f"{self.doing}: {self._said(now - self.began)}")

    def _said(self, took: float) -> str:
        if self.rows is None:
            return f"{self.done:,} rows"
        left = took / self.done * max(self.rows - self.done, 0)
        return f"{self.done:,} of {self.rows:,} rows, about {lasting(left)} left"


def lasting(seconds: float) -> str:
    """A time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
