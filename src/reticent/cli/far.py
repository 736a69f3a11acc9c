"""How far a run is, as a terminal shows it: a percentage, and about how long it may still take."""

from __future__ import annotations

import time

SURE = 0.05  # of the run: before, what is left is a guess
LONG = 2.0  # seconds: of a shorter run nobody asks what is left


class Far:
    """What was done when a stage last said so; as a text it is what stands on the live line at this moment."""

    def __init__(self, began: float) -> None:
        self.began, self.done, self.whole = began, 0.0, 0.0

    def reach(self, done: float | None, now: float) -> None:
        """Never back: a share is rough, and a bar that shrinks says nothing."""
        if done is None or done < self.done:
            return
        self.done = done
        self.whole = (now - self.began) / done if done > SURE else 0.0

    def at(self, now: float) -> str:
        if not self.done:
            return ""
        left = self.began + self.whole - now
        said = f"{self.done:.0%}"
        return f"{said}, about {spoken(left)} left" if self.whole > LONG and left > 0 else said

    def __str__(self) -> str:
        return self.at(time.monotonic())


def spoken(seconds: float) -> str:
    """As one says it: 8 s, 2 min, 3 h."""
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
