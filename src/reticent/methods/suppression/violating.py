"""A table that violates l-eligibility, and the levels at which calibrated suppression may cut it (`calibrated` has the
definitions)."""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate


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
        intervals = []
        highest = max(self.rows, l * rest[0])  # l times what a value must exceed to be S_1 and violating
        for j in range(min(len(rest) - l + 2, l)):
            opens = self._needed(j + 1) if j < len(rest) else 0
            closes = self._needed(j) - 1 if j else first - 1
            next_lower = rest[j + l - 1] if j + l <= len(rest) else 0
            candidacy = ((rest[j + l - 2] + first) * l - highest - 1) // l
            low, high = max(opens, next_lower, 1), min(closes, self._greatest, candidacy)
            if low <= high:
                intervals.append((low, high))
        return intervals

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

    def capacity(self, start: int) -> Fraction:
        """The probability with which every table that has the cut at an open level can publish it."""
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
