"""Caps: what a group of a given size may hold, as integers a kernel compares.

A group with `count[v]` rows of value v among `size` rows is allowed iff

    size >= least_size,  the number of values v != null with count[v] > 0 is >= least_distinct,
    count[v] * upper[v, 1] <= upper[v, 0] * size    and    count[v] * lower[v, 1] >= lower[v, 0] * size   for every v,

where the rows and the count of value `without` are left out of `size` first (null rows: caps must hold with and without
them; a group of nulls alone is then empty, and `least_size` 0 means that an empty group breaks nothing).
`present_only` applies the lower caps only where the count is positive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class Caps:
    values: int
    least_size: int = 1
    least_distinct: int = 0
    upper: np.ndarray | None = None  # (values, 2) int64: numerator, denominator
    lower: np.ndarray | None = None
    present_only: bool = False
    null: int = NO_VALUE  # never counts as a distinct value
    without: int = NO_VALUE  # left out before anything is compared
    family: np.ndarray | None = None  # where sets of values are counted as one: the number of each value's set

    def allows(self, counts: np.ndarray) -> np.ndarray:
        """Tell which of the groups (rows of a (groups, values) array) are allowed: the kernel's meaning, in NumPy."""
        counts = exclude_value(np.asarray(counts, np.int64), self.without)
        size = counts.sum(axis=1)
        fine = size >= self.least_size
        if self.least_distinct:
            present = counts > 0
            if self.null >= 0:
                present[:, self.null] = False
            fine &= present.sum(axis=1) >= self.least_distinct
        if self.upper is not None:
            fine &= (counts * self.upper[:, 1] <= self.upper[:, 0] * size[:, None]).all(axis=1)
        if self.lower is not None:
            enough = counts * self.lower[:, 1] >= self.lower[:, 0] * size[:, None]
            fine &= (enough | (counts == 0) if self.present_only else enough).all(axis=1)
        return fine


def to_integer_pairs(caps: list[Fraction]) -> np.ndarray:
    """Convert fractions to the integer pairs a kernel takes."""
    return np.array([(cap.numerator, cap.denominator) for cap in caps], np.int64).reshape(-1, 2)


def make_upper_caps(caps: list[Fraction], without: int) -> np.ndarray:
    """Convert upper caps to pairs; the value left out is not bound by them."""
    pairs = to_integer_pairs(caps)
    if without >= 0:
        pairs[without] = 1
    return pairs


def list_excluded_values(totals: np.ndarray, null: int) -> list[int]:
    """List what to leave out, one after the other: nothing, and the null rows where there are any."""
    return [NO_VALUE, null] if null >= 0 and totals[null] else [NO_VALUE]


def exclude_value(counts: np.ndarray, without: int) -> np.ndarray:
    """Return the counts, or groups of counts, with those of one value set to 0."""
    if without < 0:
        return counts
    counts = counts.copy()
    counts[..., without] = 0
    return counts


def merge_caps(caps: list[Caps]) -> list[Caps]:
    """Merge caps into one set for each way of counting: the strictest of each."""
    joined: list[Caps] = []
    for cap in caps:
        at = next((i for i, other in enumerate(joined) if _count_the_same_way(cap, other)), None)
        if at is None:
            joined.append(cap)
        else:
            joined[at] = _merge_two_caps(joined[at], cap)
    return joined


def _count_the_same_way(one: Caps, other: Caps) -> bool:
    """Tell whether both sets of caps count the same way; fields that a set does not use are ignored."""
    same_null = one.null == other.null or not (one.least_distinct and other.least_distinct)
    same_lower = one.present_only == other.present_only or one.lower is None or other.lower is None
    return one.without == other.without and same_null and same_lower


def _merge_two_caps(one: Caps, other: Caps) -> Caps:
    return replace(
        one,
        least_size=max(one.least_size, other.least_size),
        least_distinct=max(one.least_distinct, other.least_distinct),
        upper=_pick_stricter_bounds(one.upper, other.upper, least=True),
        lower=_pick_stricter_bounds(one.lower, other.lower, least=False),
        present_only=(other if one.lower is None else one).present_only,
        null=(one if one.least_distinct else other).null,
    )


def _pick_stricter_bounds(one: np.ndarray | None, other: np.ndarray | None, *, least: bool) -> np.ndarray | None:
    if one is None or other is None:
        return other if one is None else one
    smaller = one[:, 0] * other[:, 1] <= other[:, 0] * one[:, 1]
    return np.where((smaller if least else ~smaller)[:, None], one, other)
