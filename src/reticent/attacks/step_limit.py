"""A limit on the steps of an enumeration, so that an adversary gives up on tables that are too large."""

from __future__ import annotations


class StepLimit:
    """Counts steps, and raises an error when there are too many."""

    def __init__(self, max_steps: int, error: type[Exception]):
        self.max_steps = max_steps
        self.error = error
        self.taken = 0

    def step(self) -> None:
        self.taken += 1
        if self.taken > self.max_steps:
            raise self.error
