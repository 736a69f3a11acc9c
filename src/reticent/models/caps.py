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


def make_upper_caps(caps: list[Fraction], excluded: int) -> np.ndarray:
    """Convert upper caps to pairs; the value left out is not bound by them."""
    pairs = to_integer_pairs(caps)
    if excluded >= 0:
        pairs[excluded] = 1
    return pairs


def list_excluded_values(totals: np.ndarray, null: int) -> list[int]:
    """List what to leave out, one after the other: nothing, and the null rows where there are any."""
    return [NO_VALUE, null] if null >= 0 and totals[null] else [NO_VALUE]


def exclude_value(counts: np.ndarray, excluded: int) -> np.ndarray:
    """Return the counts, or groups of counts, with those of one value set to 0."""
    if excluded < 0:
        return counts
    counts = counts.copy()
    counts[..., excluded] = 0
    return counts


def merge_caps(caps: list[Caps]) -> list[Caps]:
    """Merge caps into one set for each way of counting: the strictest of each."""
    joined: list[Caps] = []
    for cap in caps:
        index = next((i for i, other in enumerate(joined) if _count_the_same_way(cap, other)), None)
        if index is None:
            joined.append(cap)
        else:
            joined[index] = _merge_two_caps(joined[index], cap)
    return joined


def _count_the_same_way(caps: Caps, other: Caps) -> bool:
    """Tell whether both sets of caps count the same way; fields that a set does not use are ignored."""
    same_null = caps.null == other.null or not (caps.least_distinct and other.least_distinct)
    same_lower = caps.present_only == other.present_only or caps.lower is None or other.lower is None
    return caps.without == other.without and same_null and same_lower


def _merge_two_caps(caps: Caps, other: Caps) -> Caps:
    return replace(
        caps,
        least_size=max(caps.least_size, other.least_size),
        least_distinct=max(caps.least_distinct, other.least_distinct),
        upper=_pick_stricter_bounds(caps.upper, other.upper, upper=True),
        lower=_pick_stricter_bounds(caps.lower, other.lower, upper=False),
        present_only=(other if caps.lower is None else caps).present_only,
        null=(caps if caps.least_distinct else other).null,
    )


def _pick_stricter_bounds(bounds: np.ndarray | None, other: np.ndarray | None, *, upper: bool) -> np.ndarray | None:
    if bounds is None or other is None:
        return other if bounds is None else bounds
    smaller = bounds[:, 0] * other[:, 1] <= other[:, 0] * bounds[:, 1]
    return np.where((smaller if upper else ~smaller)[:, None], bounds, other)
