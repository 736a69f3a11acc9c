"""Calibrated suppression: randomized, and sound against an adversary who knows the algorithm and its probabilities.

Ours.  R-suppression fails because the tables that can lead to one published table do so with unequal probabilities (ERRATA
2.1).  Here they are made equal.  For a table B that violates l-eligibility, with S_1 the single most frequent value and the
others r, and a level F < F_1, the *cut* of B at F is

    P = F for S_1, min(r, k) for the others,   k = the greatest level with l k <= |P|,   F <= k.

J are the values that k cuts.  Let H be the values outside J with the l highest counts in P (and ties), S_1 among them.  If
each value i of H would, with the F_1 - F records of S_1 added to it instead, be the single most frequent value and violating,
then each of these tables B_i has a cut at p_i, and it is P again, with the same J, k and H: the B_i are |H| >= l tables that
differ in which value is S_1.  Call F *open* for B, and let w(B) be the number of open levels.

The mechanism draws one of the w(B) open levels uniformly and keeps it with probability w(B) / max_i w(B_i); else, and where a
safe suppression of some B_i would withhold less, it withholds as `safe` does.  So every B_i of a cut publishes P by it with the
same probability 1 / max_i w(B_i).  Hence, with equal prior weight on all violating count vectors of |T| records in the same
values, the posterior of S_1 given P is a mixture of uniform distributions on at least l values (those of cuts, and those of
`safe`, which are uniform by symmetry): at most 1/l for each value, exactly.

It never withholds more than `safe`.  Open levels of J's size j form an interval, so w(B) is a sum of at most l lengths.
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

import numpy as np

from reticent.methods.suppression.kinds import Outcome, Safe

MOST_LEVELS = 512  # beyond so many open levels a mean is taken over as many, evenly spaced


@dataclass(frozen=True)
class Violating:
    """The counts of a violating table, falling."""

    counts: tuple[int, ...]
    l: int

    @cached_property
    def rows(self) -> int:
        return sum(self.counts)

    @cached_property
    def tail(self) -> list[int]:
        """tail[k]: records of all values after the first 1 + k, that is of r_{k+1}, r_{k+2}, ..."""
        return list(accumulate(reversed(self.counts[1:]), initial=0))[::-1]

    @cached_property
    def withheld_safely(self) -> int:
        return sum(count - self.counts[self.l - 1] for count in self.counts[: self.l])

    @cached_property
    def open(self) -> list[tuple[int, int]]:
        """Intervals of open levels, one for each number j of values that the cut takes records from besides S_1."""
        l, first, rest = self.l, self.counts[0], self.counts[1:]
        if l * first <= self.rows or rest[0] >= first:
            return []
        found = []
        highest = max(self.rows, l * rest[0])  # l times what a value must exceed to be S_1 and violating
        for j in range(min(len(rest) - l + 2, l)):
            opens = self._needed(j + 1) if j < len(rest) else 0
            closes = self._needed(j) - 1 if j else first - 1
            next_lower = rest[j + l - 1] if j + l <= len(rest) else 0
            candidacy = ((rest[j + l - 2] + first) * l - highest - 1) // l
            low, high = max(opens, next_lower, 1), min(closes, self._greatest, candidacy)
            if low <= high:
                found.append((low, high))
        return found

    @cached_property
    def width(self) -> int:
        return sum(high - low + 1 for low, high in self.open)

    def level(self, number: int) -> int:
        """The open levels in order."""
        for low, high in self.open:
            if number <= high - low:
                return low + number
            number -= high - low + 1
        raise IndexError(number)

    def _needed(self, k: int) -> int:
        """The least F at which the k-th of the rest is not cut."""
        count = self.counts[k]
        return (self.l - k) * count - self.tail[k]

    @cached_property
    def _greatest(self) -> int:
        """The greatest F that may be the highest count: (l - 1) F <= sum min(r, F)."""
        rest = self.counts[1:]
        for k in range(self.l - 1):
            bound = self.tail[k] // (self.l - 1 - k)
            level = min(bound, rest[k - 1]) if k else bound
            if level >= rest[k]:
                return level
        return rest[self.l - 2]

    def cut(self, start: int) -> tuple[list[int], int]:
        """P for S_1 at an open level, value for value, and how many of the rest were cut."""
        rest = self.counts[1:]
        for j in range(self.l):
            level = (start + self.tail[j]) // (self.l - j)
            if j >= len(rest) or level >= rest[j]:
                return [start, *(min(count, level) for count in rest)], j
        raise AssertionError("a level is not open")

    def chance(self, start: int) -> Fraction:
        """The probability that the cut at an open level is published: the same for every table that has this cut."""
        published, j = self.cut(start)
        moved = self.counts[0] - start
        withheld = self.rows - sum(published)
        free = [start, *published[1 + j :]]
        others = self.counts[1 : 1 + j]  # cut, and as they were in every table of the cut
        chosen = set(sorted(free, reverse=True)[: self.l])
        widest = 0
        for count in chosen:
            left = free.copy()
            left.remove(count)
            table = Violating(tuple(sorted([count + moved, *others, *left], reverse=True)), self.l)
            if withheld > table.withheld_safely:
                return Fraction(0)
            widest = max(widest, table.width)
        return Fraction(1, widest)


class Calibrated:
    """A cut with the probability that all its tables share, else `safe`."""

    name: ClassVar[str] = "calibrated"

    def draw(self, counts: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
        table = _table(counts, l)
        if table.width:
            start = table.level(int(rng.integers(table.width)))
            kept = table.chance(start) * table.width
            if int(rng.integers(kept.denominator)) < kept.numerator:
                return np.array(table.cut(start)[0])
        return Safe().published(counts, l)

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[Outcome]:
        table, left = _table(counts, l), Fraction(1)
        for number in range(table.width):
            start = table.level(number)
            chance = table.chance(start)
            left -= chance
            yield chance, np.array(table.cut(start)[0])
        yield left, Safe().published(counts, l)

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction:
        table = _table(counts, l)
        found = _by_cut(table, published)
        if np.array_equal(Safe().published(counts, l), published):
            found += 1 - sum((table.chance(table.level(number)) for number in range(table.width)), Fraction(0))
        return found

    def estimate(self, counts: np.ndarray, l: int, published: np.ndarray, rng: np.random.Generator) -> Fraction:
        """A number in [0, 1] whose mean is the likelihood: where `safe` gives the same, one open level, drawn, stands for all."""
        table = _table(counts, l)
        if not np.array_equal(Safe().published(counts, l), published):
            return _by_cut(table, published)
        if not table.width:
            return Fraction(1)
        start = table.level(int(rng.integers(table.width)))
        return 1 - table.width * table.chance(start) if table.cut(start)[0] != published.tolist() else Fraction(1)

    def expected(self, counts: np.ndarray, l: int) -> float:
        table = _table(counts, l)
        saved = _mean(
            float(table.chance(level)) * (table.withheld_safely - table.rows + sum(table.cut(level)[0]))
            for level in _levels(table)
        )
        return table.withheld_safely - table.width * saved


def _table(counts: np.ndarray, l: int) -> Violating:
    return Violating(tuple(int(count) for count in counts), l)


def _by_cut(table: Violating, published: np.ndarray) -> Fraction:
    """The probability with which a table is published by a cut."""
    start = int(published[0])
    if any(low <= start <= high for low, high in table.open) and table.cut(start)[0] == published.tolist():
        return table.chance(start)
    return Fraction(0)


def _levels(table: Violating) -> Iterator[int]:
    if table.width <= MOST_LEVELS:
        return (table.level(number) for number in range(table.width))
    return (table.level(number * (table.width - 1) // (MOST_LEVELS - 1)) for number in range(MOST_LEVELS))


def _mean(values: Iterator[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
