"""The compositions of a group in one column: how many of its people may have each value of the range?

Beforehand each person's value is drawn alike from the values under the label.  Known are that an end which is tight is somebody's, and
of a group that could not be cut: no place in the range has k people or more on both sides.  So as many people as the group has
beyond 2k - 2 share one value.  Sums run from value to value over how many people have been placed (a chain of binomials), forwards
and backwards; all terms are non-negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log, log2

import numpy as np

MOST = 60
"""Of groups with more people nothing is concluded."""


@dataclass(frozen=True, eq=False)
class Composition:
    """`expected` people at each value of the range, and the `chance` of what is known about them."""

    expected: np.ndarray
    chance: float

    @property
    def bits(self) -> float:
        """How much is known beyond the range itself."""
        return -log2(self.chance)


@lru_cache(maxsize=20_000)
def composition(people: int, values: int, k: int | None, low: bool, high: bool) -> Composition | None:
    """`low` and `high`: the end is somebody's value.  `k`: no place could be cut; None: that is not known.

    None where nothing fits, and of groups with more than MOST people.
    """
    if people > MOST:
        return None
    after = [np.zeros(people + 1) for _ in range(values + 1)]
    after[0][0] = 1.0
    steps = [_step(people, values - at, 1 if _held(at, values, low, high) else 0) for at in range(values)]
    open_ = [_open(people, k) if at < values else np.ones(people + 1) for at in range(1, values + 1)]
    for at, step in enumerate(steps):
        after[at + 1] = (after[at] @ step) * open_[at]
    chance = float(after[values][people])
    if chance <= 0:
        return None
    before = np.zeros(people + 1)
    before[people] = 1.0
    placed = np.arange(people + 1)[None, :] - np.arange(people + 1)[:, None]
    expected = np.zeros(values)
    for at in range(values - 1, -1, -1):
        weight = before * open_[at]
        expected[at] = after[at] @ (steps[at] * np.maximum(placed, 0)) @ weight / chance
        before = steps[at] @ weight
    return Composition(expected, min(chance, 1.0))


def _held(at: int, values: int, low: bool, high: bool) -> bool:
    return (low and at == 0) or (high and at == values - 1)


def _open(people: int, k: int | None) -> np.ndarray:
    """Which numbers of people below a place are possible, where the group could not be cut there."""
    below = np.arange(people + 1)
    if k is None:
        return np.ones(people + 1)
    return ((below < k) | (people - below < k)).astype(np.float64)


def _step(people: int, left: int, least: int) -> np.ndarray:
    """(placed, placed after): the chance that so many of the people left have the next of `left` values, at least `least`."""
    rest = people - np.arange(people + 1)[:, None]
    many = np.arange(people + 1)[None, :] - np.arange(people + 1)[:, None]
    if left == 1:
        return ((many == rest) & (many >= least)).astype(np.float64)
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, people + 1)))])
    able = (many >= least) & (many <= rest)
    ways = factorial[rest] - factorial[np.clip(many, 0, people)] - factorial[np.clip(rest - many, 0, people)]
    chance = np.exp(np.where(able, ways - many * log(left) + (rest - many) * log(1 - 1 / left), -np.inf))
    return np.where(able, chance, 0.0)


def alike(people: int, values: int) -> Composition:
    """Nothing is known but the range."""
    return Composition(np.full(values, people / values), 1.0)


def holds(counts: np.ndarray, k: int) -> bool:
    """Whether no place of a true composition has k people or more on both sides."""
    below = np.cumsum(counts)[:-1]
    return not bool(((below >= k) & (counts.sum() - below >= k)).any())
