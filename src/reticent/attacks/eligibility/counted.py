"""The eligibility attack on R-suppression, counted instead of enumerated: exact for tables of any size, uniform prior.

Given the published counts P with highest level L, a table B that may have led to them is fixed by few numbers: the value v that
leads, with count c in P; the excess of B over L, M for v and f_1 .. f_q for the values that D-suppression cut to L; and how many of
them (x) it then cut once more, to L - 1.  All other values are as published.  R-suppression publishes P from B by the starts F:

    c < L    F = c alone
    c = L    F = L, and all F > L or none of them: their paths meet before level L, and eligibility at the start of levels and
             candidacy are monotone, so where one of them does not stop above L none does

Whether it stops there hangs on the state before P alone, hence on P and on the number g of values above L (`_stops`).  The
probability of F hangs on the interval of B's falling counts that F lies in: known from P, but where its upper end is the least of the
values above L.  So tables are counted by x, g and that least (`compositions`), and each of the x is any of the values at L - 1 by symmetry.
The cost grows with the values and, at most linearly, with the records withheld; beyond `compositions.TERMS` there are bounds.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

from reticent.attacks.eligibility.compositions import by_least, highest_low, led

Between = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class PublishedCounts:
    """Falling published counts of a table of `rows` records."""

    counts: tuple[int, ...]
    rows: int
    l: int

    @cached_property
    def withheld(self) -> int:
        return self.rows - sum(self.counts)

    @property
    def level(self) -> int:
        return self.counts[0]

    @cached_property
    def alike(self) -> Counter[int]:
        return Counter(self.counts)

    @property
    def least_excess(self) -> int:
        """What a violating value exceeds the level by, at the least."""
        return self.rows // self.l + 1 - self.level

    def above(self, count: int) -> int:
        return sum(other > count for other in self.counts)

    def below(self, count: int) -> int:
        """The next lower count; 1 after the last (ERRATA 2.3)."""
        return max((other for other in self.counts if other < count), default=1)

    @cached_property
    def final(self) -> bool:
        """P-eligibility and l-candidacy."""
        l, last = self.l, self.counts[self.l - 1]
        return l * self.level <= sum(self.counts) and l * (last + self.withheld) > self.rows

    @property
    def eligible(self) -> bool:
        return self.l * self.level <= sum(self.counts)

    @property
    def safe(self) -> bool:
        """Whether `safe` can have published it."""
        return self.alike[self.level] >= self.l and self.l * (self.level + self.withheld) > self.rows

    @property
    def unsafe(self) -> bool:
        """Whether `unsafe` can have published it: some table was cut to it and not stopped before."""
        if not self.final:
            return False
        top, lower = self.alike[self.level], self.alike[self.level - 1] if self.late else 0
        return any(
            (extra or self.first(higher + 1)) and self.withheld - extra >= max(higher + 1, higher + self.least_excess)
            for extra in range(lower + 1)
            for higher in range(top + extra)
        )

    @cached_property
    def late(self) -> bool:
        """Whether P is the first candidate of its level, had its last record been of a value now at L - 1."""
        last = self.level if self.l <= self.alike[self.level] + 1 else self.counts[self.l - 1]
        return self.l * (last + self.withheld - 1) <= self.rows

    def first(self, higher: int) -> bool:
        """Whether D-suppression first stops at the start of level L, `higher` values having been above it."""
        if not higher:
            return True
        l, steps = self.l, sum(self.counts) + higher - self.l * (self.level + 1)  # eligible so far into level L + 1
        if steps < 0:
            return True
        steps = min(steps, higher - 1)
        last = self.level + 1 if l <= higher - steps else self.counts[l - 1]
        return l * (last + self.withheld - higher + steps) <= self.rows


def weights(published: PublishedCounts) -> dict[int, Between]:
    """For each published count: the weight of all tables in which one value of that count led, between bounds that mostly meet."""
    if not published.final:
        return {}
    found = {}
    for count in published.alike:
        low = high = Fraction(0)
        for least, most in _parts(published, count):
            low, high = low + least, high + most
        if high:
            found[count] = (low, high)
    return found


def _parts(published: PublishedCounts, count: int) -> Iterator[Between]:
    """The weight by x and g."""
    level, at_top = published.level, count == published.level
    lower = published.alike[level - 1] - (count == level - 1)
    for extra in range(lower + 1 if published.late else 1):
        cut = published.alike[level] - at_top + extra
        total = published.withheld - extra - level + count
        chosen = Fraction(comb(lower, extra), comb(cut, extra))
        for higher in range(cut + 1):
            if total < max(higher + 1, published.least_excess):
                break
            known, shared, offset = _chance(published, count, extra, cut, higher)
            share = chosen * comb(cut, higher) / (published.l * (higher + 1))
            low = high = known * led(higher, total, 1, published.least_excess) if known else Fraction(0)
            if shared:
                ends = by_least(higher, total, published.least_excess, offset)
                low, high = low + shared * min(ends, key=shared.__mul__), high + shared * max(ends, key=shared.__mul__)
            if high:
                yield share * low, share * high


def greatest_chance(published: PublishedCounts, count: int, extra: int, cut: int, higher: int, total: int) -> Fraction:
    """The greatest Pr(P | B) among tables of one x and g: at the smallest or the largest least excess."""
    known, shared, offset = _chance(published, count, extra, cut, higher)
    last = max(highest_low(higher, total, published.least_excess), 1)
    return max(known + shared / (least + offset) for least in (1, last)) / published.l


def _chance(
    published: PublishedCounts, count: int, extra: int, cut: int, higher: int
) -> tuple[Fraction, Fraction, int]:
    """l Pr(P | B) = known + shared / (least + offset), `least` the least positive excess over the level."""
    if count < published.level:
        return _below(published, count, extra, cut, higher)
    level, l = published.level, published.l
    tied = cut - higher
    lowest = (
        level - 1 if published.alike[level - 1] > extra else published.below(level - bool(published.alike[level - 1]))
    )
    offset = 1 if tied else level - lowest + 1
    known, shared = Fraction(0), Fraction(0)
    if extra or published.first(higher):  # F = L
        known += _lower_intervals(level, lowest, higher + 1, tied, l)
        shared += higher < l
    if extra or published.first(higher + 1):  # F > L
        known += min(higher, l) + (higher < l)
        shared -= offset * (higher < l)
    return known, shared, offset


def _below(published: PublishedCounts, count: int, extra: int, cut: int, higher: int) -> tuple[Fraction, Fraction, int]:
    """The same for F = c < L."""
    level, l = published.level, published.l
    moved = extra if count == level - 1 else 0  # values of count c in P that were above
    over, tied = published.above(count) + moved, published.alike[count] - 1 - moved
    if over >= l or not (extra or published.first(higher)):
        return Fraction(0), Fraction(0), 1
    lowest = published.below(count)
    bottom = count if tied else lowest
    known = _lower_intervals(count, lowest, over + 1, tied, l)
    upper = min(other for other in published.counts if other > count)
    if upper == level - 1 and published.alike[upper] == extra:
        upper = level
    if upper < level or higher < cut:  # with a value left at the level itself
        return known + Fraction(1, upper - bottom + 1), Fraction(0), 1
    return known, Fraction(1), level - bottom + 1


def _lower_intervals(start: int, lowest: int, first: int, tied: int, l: int) -> Fraction:
    """l Pr(F = start) by the intervals after number `first`: [start, start] between tied values, and the one down to the next."""
    if not tied or first > l:
        return Fraction(0)
    found = Fraction(max(min(first + tied - 1, l) - first, 0))
    return found + Fraction(1, start - lowest + 1) if first + tied <= l else found
