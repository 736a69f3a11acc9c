"""What was concluded of each person, and how sure the greatest belief is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.attacks.beliefs import Beliefs


@dataclass(frozen=True, eq=False)
class Concluded:
    """`beliefs` has a row for each person; `worst` is the greatest of anybody, between `low` and `high`.

    `looked_at` says of whom anything was concluded: the others keep what their groups say.  `sure` is how many independent tables
    a person's belief rests on; None where it is exact.
    """

    beliefs: Beliefs
    looked_at: np.ndarray
    worst: float
    low: float
    high: float
    how: str
    runs: int
    behind: int  # tables found that publish this release, or the part of it that was looked at
    sure: np.ndarray | None = None
    whose: tuple[int, int] | None = None  # of a walk: the person and the value of the greatest belief
    moved: float | None = None  # of a walk: the share of people whose value ever changed

    @cached_property
    def belief(self) -> np.ndarray:
        """(people, values): for small tables."""
        return self.beliefs.to_dense()
