"""Calibrated suppression: randomized, and sound against an adversary who knows the algorithm and its probabilities.

The method is ours.  R-suppression fails because the tables that can lead to one published table do so with unequal
probabilities (ERRATA 2.1).  Here they are made equal.  For a table B that violates l-eligibility, with S_1 the single
most frequent value and the others r, and a level F < F_1, the *cut* of B at F is

    P = F for S_1, min(r, k) for the others,   k = the greatest level with l k <= |P|,   F <= k.

J are the values that k cuts.  Let H be the values outside J with the l highest counts in P (and ties), S_1 among them.
If each value i of H would, with the F_1 - F records of S_1 added to it instead, be the single most frequent value and
violating, then each of these tables B_i has a cut at p_i, and it is P again, with the same J, k and H: the B_i are a
*family* of |H| >= l tables that differ in which value is S_1.  Call F *open* for B, and let w(B) be the number of open
levels (`ViolatingTable`).

The mechanism (`CalibratedSuppression`) draws one of the w(B) open levels uniformly and keeps it with probability w(B)
p, where p is the same for all tables of the family and at most its capacity, 1 / max_i w(B_i), or 0 where a safe
suppression of some B_i would withhold less; else it withholds as `safe` does.  So every B_i of a family publishes P by
it with the same probability p.  Hence, with equal prior weight on all violating count vectors of |T| records in the
same values, two things hold exactly for each value:

    which value led       the posterior of S_1 given P is a mixture of uniform distributions on at least l values (those of
                          families, and those of `safe`, which are uniform by symmetry): at most 1/l
    whom it withheld      the mean share of a value among the withheld records given P, that is the posterior that a withheld
                          person has it, is at most 1/l: for values of H and for `safe` by the same symmetry, for values of J
                          because p is less than the capacity where a value of J alone is more than one in l of what a
                          cut withholds (`compute_cut_probability`)

It never withholds more than `safe`.  Open levels of J's size j form an interval, so w(B) is a sum of at most l lengths.

The probability p of a cut (`compute_cut_probability`): a cut takes W records, M of the leading value and x_v of each
value v of J.  The leading value is any of at least l, so a person who was withheld has it with a probability of at most
1/l.  But such a person has the value v of J with a probability of x_v / W, and where l x_v > W (v is then *heavy*: it
exceeds one in l of the table, up to rounding, as S_1 does) that is more than one in l.

A family of tables with a heavy v is therefore published only as far as another family makes up for it that is light in
v.  Families that differ in x_v and M alone have the same cut P, the same J and the same H.  The partner of the excess y
is its mirror image

    y' = floor(2 W / l) - y,      so that  l y' < W  and  W - l y' >= l y - W

and the family f is published with the probability

    p(f) = min(capacity(f), min over heavy v of  p(f with y' for y) (W - l y') / (l y - W)),     0 where y' < 1.

The partner is light in v, so the recursion ends; it has a cut at the same level, since its leading value leads the
more. No two families have the same partner, so summed over the families with given P and J, p(f) (l x_v - W) is at most
0 for each v.  Hence the mean share of v among the withheld is at most 1/l.  Everything here is the same for all tables
of a family, so these publish P with one probability still.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

import numpy as np

from reticent.exact_arithmetic import as_ratio
from reticent.methods.suppression.kinds import SafeSuppression, SuppressionOutcome

MAX_HEAVY_VALUES = 3  # a cut with more heavy values is not published: each doubles what its probability costs
MAX_OPEN_LEVELS = 512  # beyond so many open levels a mean is taken over as many, evenly spaced


# ruff: noqa: E741  `l` is the field's own letter


@dataclass(frozen=True)
class ViolatingTable:
    """The falling counts of a table that violates l-eligibility, and the levels at which calibrated suppression may cut it."""

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
        l = self.l
        first = self.counts[0]
        rest = self.counts[1:]
        if l * first <= self.rows or rest[0] >= first:
            return []
        intervals = []
        highest = max(self.rows, l * rest[0])  # l times what a value must exceed to be S_1 and violating
        for j in range(min(len(rest) - l + 2, l)):
            opens = self._least_uncut_level(j + 1) if j < len(rest) else 0
            closes = self._least_uncut_level(j) - 1 if j else first - 1
            next_lower = rest[j + l - 1] if j + l <= len(rest) else 0
            candidacy = ((rest[j + l - 2] + first) * l - highest - 1) // l
            low = max(opens, next_lower, 1)
            high = min(closes, self._greatest_level, candidacy)
            if low <= high:
                intervals.append((low, high))
        return intervals

    @cached_property
    def width(self) -> int:
        return sum(high - low + 1 for low, high in self.open)

    def level(self, number: int) -> int:
        """Return an open level by its number in order."""
        for low, high in self.open:
            if number <= high - low:
                return low + number
            number -= high - low + 1
        raise IndexError(number)

    def _least_uncut_level(self, k: int) -> int:
        """Find the least F at which the k-th of the rest is not cut."""
        count = self.counts[k]
        return (self.l - k) * count - self.tail[k]

    @cached_property
    def _greatest_level(self) -> int:
        """The greatest F that may be the highest count: (l - 1) F <= sum min(r, F)."""
        rest = self.counts[1:]
        for k in range(self.l - 1):
            bound = self.tail[k] // (self.l - 1 - k)
            level = min(bound, rest[k - 1]) if k else bound
            if level >= rest[k]:
                return level
        return rest[self.l - 2]

    def cut(self, start: int) -> tuple[list[int], int]:
        """Return P for S_1 at an open level, value for value, and how many of the rest were cut."""
        rest = self.counts[1:]
        for j in range(self.l):
            level = (start + self.tail[j]) // (self.l - j)
            if j >= len(rest) or level >= rest[j]:
                return [start, *(min(count, level) for count in rest)], j
        raise AssertionError("a level is not open")

    def capacity(self, start: int) -> Fraction:
        """Compute the probability with which every table that has the cut at an open level can publish it."""
        published, j = self.cut(start)
        moved = self.counts[0] - start
        withheld = self.rows - sum(published)
        free = [start, *published[1 + j :]]
        others = self.counts[1 : 1 + j]  # cut, and as they were in every table of the cut
        chosen = set(sorted(free, reverse=True)[: self.l])
        widest = 0
        for count in chosen:
            unmoved = free.copy()
            unmoved.remove(count)
            table = ViolatingTable(tuple(sorted([count + moved, *others, *unmoved], reverse=True)), self.l)
            if withheld > table.withheld_safely:
                return Fraction(0)
            widest = max(widest, table.width)
        return Fraction(1, widest)


def compute_cut_probability(table: ViolatingTable, start: int) -> Fraction:
    """Compute the probability that the cut at an open level is published: the same for every table that has this cut.

    It is such that a withheld person has no value with a posterior above 1/l (see the module's docstring).
    """
    published, cut = table.cut(start)
    withheld = table.rows - sum(published)
    excess = [count - level for count, level in zip(table.counts[1 : 1 + cut], published[1 : 1 + cut], strict=True)]
    heavy = [value for value, withheld_rows in enumerate(excess) if table.l * withheld_rows > withheld]
    partners = {value: 2 * withheld // table.l - excess[value] for value in heavy}
    if len(heavy) > MAX_HEAVY_VALUES or any(light < 1 for light in partners.values()):
        return Fraction(0)
    likely = table.capacity(start)
    for value, light in partners.items():
        if likely:
            slack = Fraction(withheld - table.l * light, table.l * excess[value] - withheld)
            likely = min(
                likely, slack * compute_cut_probability(_lighten_table(table, value, excess[value] - light), start)
            )
    return likely


class CalibratedSuppression:
    """A cut with the probability that all its tables share, else `safe`."""

    name: ClassVar[str] = "calibrated"

    def draw(self, counts: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
        table = _make_violating_table(counts, l)
        if table.width:
            start = table.level(int(rng.integers(table.width)))
            if _draw_event(compute_cut_probability(table, start) * table.width, rng):
                return np.array(table.cut(start)[0])
        return SafeSuppression().publish_counts(counts, l)

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[SuppressionOutcome]:
        table = _make_violating_table(counts, l)
        remaining = Fraction(1)
        for number in range(table.width):
            start = table.level(number)
            published = compute_cut_probability(table, start)
            remaining -= published
            yield published, np.array(table.cut(start)[0])
        yield remaining, SafeSuppression().publish_counts(counts, l)

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction:
        table = _make_violating_table(counts, l)
        by_cut = _compute_cut_likelihood(table, published)
        if np.array_equal(SafeSuppression().publish_counts(counts, l), published):
            by_cut += 1 - sum(
                (compute_cut_probability(table, table.level(number)) for number in range(table.width)), Fraction(0)
            )
        return by_cut

    def estimate(self, counts: np.ndarray, l: int, published: np.ndarray, rng: np.random.Generator) -> Fraction:
        """Draw a number in [0, 1] whose mean is the likelihood.

        Where `safe` publishes the same, one open level, drawn, stands for all.
        """
        table = _make_violating_table(counts, l)
        if not np.array_equal(SafeSuppression().publish_counts(counts, l), published):
            return _compute_cut_likelihood(table, published)
        if not table.width:
            return Fraction(1)
        start = table.level(int(rng.integers(table.width)))
        return (
            1 - table.width * compute_cut_probability(table, start)
            if table.cut(start)[0] != published.tolist()
            else Fraction(1)
        )

    def compute_expected_withheld(self, counts: np.ndarray, l: int) -> float:
        table = _make_violating_table(counts, l)
        saved = _average(
            float(compute_cut_probability(table, level))
            * (table.withheld_safely - table.rows + sum(table.cut(level)[0]))
            for level in _list_open_levels(table)
        )
        return table.withheld_safely - table.width * saved


def _lighten_table(table: ViolatingTable, value: int, by: int) -> ViolatingTable:
    """Return the table with so many records of a cut value moved to the leading one."""
    counts = list(table.counts)
    counts[0] += by
    counts[1 + value] -= by
    return ViolatingTable((counts[0], *sorted(counts[1:], reverse=True)), table.l)


def _make_violating_table(counts: np.ndarray, l: int) -> ViolatingTable:
    return ViolatingTable(tuple(int(count) for count in counts), l)


def _draw_event(probability: Fraction, rng: np.random.Generator) -> bool:
    """Return True with exactly this probability."""
    numerator, denominator = as_ratio(probability)
    if denominator < 1 << 62:
        return int(rng.integers(denominator)) < numerator
    digits = denominator.bit_length()
    while True:
        number = int.from_bytes(rng.bytes(digits // 8 + 1)) >> (8 - digits % 8)
        if number < denominator:
            return number < numerator


def _compute_cut_likelihood(table: ViolatingTable, published: np.ndarray) -> Fraction:
    """Compute the probability with which a table is published by a cut."""
    start = int(published[0])
    if any(low <= start <= high for low, high in table.open) and table.cut(start)[0] == published.tolist():
        return compute_cut_probability(table, start)
    return Fraction(0)


def _average(values: Iterator[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _list_open_levels(table: ViolatingTable) -> Iterator[int]:
    if table.width <= MAX_OPEN_LEVELS:
        return (table.level(number) for number in range(table.width))
    return (table.level(number * (table.width - 1) // (MAX_OPEN_LEVELS - 1)) for number in range(MAX_OPEN_LEVELS))
