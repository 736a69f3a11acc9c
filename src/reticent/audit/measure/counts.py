"""What the measures are computed from: how many rows of each group hold each sensitive value, and exact comparison.

Entries are (group, value, count) with count > 0, in order of group and then of value; values are numbered in the order
of their domain, a null last. A missing value may never help a promise, so every measure is taken on two tables where
there are nulls: as published, the null being one more value, and without the null rows (`list_views`).

Comparison is exact, of fractions and of logarithms of fractions against fractions. Floating point only narrows down
what can be greatest, with a margin proved to be wider than its error; the rest is decided in integers. ln x is
irrational for rational x other than 1, and log2 x is rational only for powers of two: apart from these no tie can occur,
and precision is raised until a comparison is decided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from reticent.format.schema_checks import parse_fraction

_MAX_SUM = 1 << 62
_RELATIVE_ERROR = 2.0**-50  # two conversions and a division err by less than 2**-51 together, relatively


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Counts by group and value, as 64-bit integers.

    `totals` are the rows of each value in the whole table, 0 for a value of the domain that is not published. `emptied`
    is how many groups had nothing but null rows, and are left out of this view.
    """

    group: np.ndarray  # 0 .. groups - 1, none skipped
    value: np.ndarray
    count: np.ndarray  # > 0
    totals: np.ndarray
    emptied: int = 0

    @cached_property
    def rows(self) -> int:
        return int(self.totals.sum())

    @cached_property
    def groups(self) -> int:
        return int(self.group[-1]) + 1 if len(self.group) else 0

    @cached_property
    def starts(self) -> np.ndarray:
        """The first entry of each group."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.add.reduceat(self.count, self.starts) if len(self.group) else self.count

    @cached_property
    def occurring(self) -> int:
        """How many values are published at all."""
        return int(np.count_nonzero(self.totals))

    @property
    def complete(self) -> bool:
        """Whether every published value occurs in every group."""
        return len(self.group) == self.groups * self.occurring

    def integers(self, terms: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (counts, sizes, totals) in a type in which `terms` products of rows and a size cannot overflow."""
        largest_sum = self.rows * int(self.sizes.max(initial=1)) * terms
        kind: type = np.int64 if largest_sum < _MAX_SUM else object
        return self.count.astype(kind), self.sizes.astype(kind), self.totals.astype(kind)

    def drop_values(self, unknown: np.ndarray) -> GroupCounts:
        """Return the table without the rows of some values."""
        is_known = ~unknown[self.value]
        group = self.group[is_known]
        number = np.cumsum(np.diff(group, prepend=-1) != 0) - 1
        groups_left = int(number[-1]) + 1 if len(number) else 0
        return GroupCounts(
            number,
            self.value[is_known],
            self.count[is_known],
            np.where(unknown, 0, self.totals),
            self.groups - groups_left,
        )


def list_views(counts: GroupCounts, unknown: np.ndarray) -> list[GroupCounts]:
    """List the tables a promise must hold on; `unknown` marks the values that are or hold a null."""
    if not (unknown & (counts.totals > 0)).any():
        return [counts]
    return [counts, counts.drop_values(unknown)]


def parse_parameter(value: object) -> Fraction:
    """Parse a parameter as it was written: 0.1 is one tenth; one of too many digits is refused before it is computed."""
    return parse_fraction(value)


def find_greatest(numerators: np.ndarray, denominators: np.ndarray) -> Fraction:
    """Find max a / b over arrays of integers, a >= 0, b > 0; 0 for none."""
    return _find_extreme(numerators, denominators, max)


def find_least(numerators: np.ndarray, denominators: np.ndarray) -> Fraction:
    """Find min a / b over arrays of integers, a >= 0, b > 0."""
    return _find_extreme(numerators, denominators, min)


def find_extremes_by_value(
    value: np.ndarray, count: np.ndarray, size: np.ndarray, pick: Callable
) -> dict[int, Fraction]:
    """Find for each value its greatest (or least) count / size, exactly.

    Counts and sizes are below 2**53, and division is rounded correctly, hence monotone: the true extreme is among the
    entries whose floating quotient is extreme.
    """
    ratio = count / size
    best = np.full(int(value.max(initial=-1)) + 1, -np.inf if pick is max else np.inf)
    (np.maximum if pick is max else np.minimum).at(best, value, ratio)
    near = ratio == best[value]
    extremes: dict[int, Fraction] = {}
    for v, c, s in set(zip(value[near].tolist(), count[near].tolist(), size[near].tolist(), strict=True)):
        fraction = Fraction(c, s)
        extremes[v] = pick(extremes[v], fraction) if v in extremes else fraction
    return extremes


def bound_ln(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return fractions below and above ln x. `Decimal.ln` is rounded correctly: one unit in the last place is ample."""
    lower = Fraction(0)
    upper = Fraction(0)
    context = Context(prec=digits)
    for integer, sign in ((x.numerator, 1), (x.denominator, -1)):
        log = Decimal(integer).ln(context)
        unit = Fraction(10) ** (log.adjusted() - digits + 1) if log else Fraction(0)
        lower = lower + sign * Fraction(log) - unit
        upper = upper + sign * Fraction(log) + unit
    return lower, upper


def compare_ln(x: Fraction, y: Fraction) -> int:
    """Return the sign of ln x - y, for x > 0."""
    if x == 1:
        return _get_sign(-y)
    return _decide_sign(lambda digits: bound_ln(x, digits), y)


def compare_log2(x: Fraction, y: Fraction) -> int:
    """Return the sign of log2 x - y, for x > 0."""
    power = _find_power_of_two(x)
    if power is not None:
        return _get_sign(power - y)

    def bounds(digits: int) -> tuple[Fraction, Fraction]:  # of ln x - y ln 2
        lower, upper = bound_ln(x, digits)
        two = [y * bound for bound in bound_ln(Fraction(2), digits)]
        return lower - max(two), upper - min(two)

    return _decide_sign(bounds, Fraction(0))


def _find_extreme(numerators: np.ndarray, denominators: np.ndarray, pick: Callable) -> Fraction:
    if not len(numerators):
        return Fraction(0)
    ratio = (numerators / denominators).astype(np.float64)
    if pick is max:
        near = np.flatnonzero(ratio >= ratio.max() * (1 - _RELATIVE_ERROR))
    else:
        near = np.flatnonzero(ratio <= ratio.min() * (1 + _RELATIVE_ERROR))
    pairs = set(zip(numerators[near].tolist(), np.broadcast_to(denominators, ratio.shape)[near].tolist(), strict=True))
    return pick(Fraction(a, b) for a, b in pairs)


def _get_sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def _decide_sign(bounds: Callable[[int], tuple[Fraction, Fraction]], y: Fraction) -> int:
    digits = 20
    while True:
        lower, upper = bounds(digits)
        if lower > y:
            return 1
        if upper < y:
            return -1
        digits *= 2


def _find_power_of_two(x: Fraction) -> int | None:
    a = x.numerator
    b = x.denominator
    if a & (a - 1) or b & (b - 1):
        return None
    return a.bit_length() - b.bit_length()
