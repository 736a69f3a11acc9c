"""Cuts of calibrated suppression, by their definition (`docs/methods/suppression.md`): which levels are open, and how
surely one is kept.

All levels of a table are asked at once.  At the level F of the highest value, the others r are lowered to k, the
greatest level with l k <= F + sum min(r, k); it is found by bisection, since from the l-th of r on the difference of
the sides only grows.
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

MOST_HEAVY = 3  # a cut with more values above one in l of the withheld is not published


@dataclass(frozen=True, slots=True)
class Table:
    """Counts, falling."""

    counts: tuple[int, ...]
    l: int

    @classmethod
    def of(cls, counts: Iterable[int], l: int) -> Table:
        return cls(tuple(sorted(counts, reverse=True)), l)

    @property
    def safely(self) -> int:
        """How many records `safe` withholds."""
        return sum(self.counts[: self.l]) - self.l * self.counts[self.l - 1]

    def cut(self, first: int) -> int:
        """The level of the others where the highest value is lowered to `first`."""
        return int(_cuts(np.array(self.counts[1:]), self.l, np.array([first]))[0])

    def levels(self) -> np.ndarray:
        """The open levels, rising."""
        highest, rest, l = self.counts[0], np.array(self.counts[1:]), self.l
        if rest[0] == highest:
            return np.zeros(0, np.int64)
        first = np.arange(1, highest)
        level = _cuts(rest, l, first)
        lowered = np.searchsorted(-rest, -level, side="left")  # values above the level
        padded = np.append(rest, [0] * l)
        above, below = padded[lowered + l - 2], padded[lowered + l - 1]
        least = np.maximum(np.minimum(first, above), below)  # the lowest count of a value that may have led
        would_lead = least + highest - first
        opens = (first <= level) & (lowered + l <= len(self.counts)) & (first >= below)
        opens &= (l * would_lead > sum(self.counts)) & (would_lead > rest[0])
        return first[opens]


def _cuts(rest: np.ndarray, l: int, first: np.ndarray) -> np.ndarray:
    total = np.append(0, np.cumsum(rest[::-1]))  # of the lowest so many
    rising = -np.sort(-rest)[::-1]

    def fits(level: np.ndarray) -> np.ndarray:
        lower = np.searchsorted(rising, level, side="left")
        return l * level <= first + total[lower] + (len(rest) - lower) * level

    low = np.full(len(first), rest[l - 1] if l <= len(rest) else 0)
    high = np.full(len(first), int(first.max(initial=0)) + int(rest.sum()) + 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        there = fits(middle)
        low, high = np.where(there, middle, low), np.where(there, high, middle)
    return low


def kept(table: Table, first: int) -> Fraction:
    """The probability with which a table is published by its cut at an open level.

    A value of which more than one in l of the withheld is (heavy) is balanced by the table that has as much less of it."""
    level, l = table.cut(first), table.l
    excess = [count - level for count in table.counts[1:] if count > level]
    moved = table.counts[0] - first
    withheld = moved + sum(excess)
    heavy = [more for more in excess if l * more > withheld]
    if len(heavy) > MOST_HEAVY or any(l * (more + 1) > 2 * withheld for more in heavy):
        return Fraction(0)
    likely = _shared(table, first, level, moved)
    for more in heavy:
        if not likely:
            break
        light = (2 * withheld - l * more) // l
        lighter = list(table.counts)
        lighter[0] += more - light
        lighter[lighter.index(level + more, 1)] -= more - light
        balance = Fraction(withheld - l * light, l * more - withheld)
        likely = min(likely, balance * kept(Table.of(lighter, l), first))
    return likely


def _free(table: Table, first: int, level: int) -> list[int]:
    """Published counts of the values that may have led: those with the l highest among the ones the level did not lower, and ties."""
    free = sorted([first, *(count for count in table.counts[1:] if count <= level)], reverse=True)
    return [count for count in free if count >= free[table.l - 1]]


def _shared(table: Table, first: int, level: int, moved: int) -> Fraction:
    """The greatest probability that all tables with this cut can have in common: each is asked for its open levels."""
    l, widest = table.l, 0
    lowered = [count for count in table.counts[1:] if count > level]
    free = [first, *(count for count in table.counts[1:] if count <= level)]
    withheld = moved + sum(count - level for count in lowered)
    for leader in set(_free(table, first, level)):
        others = free.copy()
        others.remove(leader)
        other = Table.of([leader + moved, *lowered, *others], l)
        if other.safely < withheld:
            return Fraction(0)
        widest = max(widest, len(other.levels()))
    return Fraction(1, widest)
