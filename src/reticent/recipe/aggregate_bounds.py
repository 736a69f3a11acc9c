"""The bounds of a transformed release: for each group and number of selected rows the least and the greatest SUM, MIN and MAX.

(Koudas, Srivastava, Yu & Zhang, VLDB 2009, section 3.3.)  Of s selected rows of a group the least sum takes the s least lower ends,
the greatest sum the s greatest upper ends; both are linear in s until the next end differs.  The table has a row where a slope
changes, so it is as long as `sensitive`.  Between two rows the row above, at S >= s, holds: the s-th least lower end is its
`max_lower`, the s-th greatest upper end its `min_upper`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl


@dataclass(frozen=True, eq=False)
class IntervalCounts:
    """Groups' published values: so many (`count`) between `low` and `high`, in whole units."""

    group: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray


@dataclass(frozen=True, eq=False)
class AggregateBounds:
    group: np.ndarray
    selected: np.ndarray
    columns: dict[str, np.ndarray]

    def to_series(self, scale: int | None) -> dict[str, pl.Series]:
        """Whole numbers as they are; others in the column's unit, lower ends rounded down and upper ends up."""
        if scale is None:
            return {name: pl.Series(name, values) for name, values in self.columns.items()}
        series = {}
        for name, values in self.columns.items():
            near = values / scale
            exact = values % scale == 0
            outward = np.nextafter(near, -np.inf if name.endswith("lower") else np.inf)
            single = not name.startswith("sum")  # an end of a value is that value as it is written
            series[name] = pl.Series(name, near if single else np.where(exact, near, outward))
        return series


def compute_bounds(ends: IntervalCounts, rows: np.ndarray) -> AggregateBounds:
    """`rows` are those of each group, numbered from 0; a group may have more values than rows."""
    wide = int(ends.count.sum()) + 2
    up = np.lexsort((ends.low, ends.group))
    down = np.lexsort((-ends.high, ends.group))
    lower_ends = _SortedEnds.from_values(ends.group[up], ends.low[up], ends.count[up], wide)
    upper_ends = _SortedEnds.from_values(ends.group[down], ends.high[down], ends.count[down], wide)
    keys = [np.arange(len(rows)) * wide + rows]
    for order, by in ((lower_ends, up), (upper_ends, down)):
        group = ends.group[by]
        last = np.append((group[1:] != group[:-1]) | (order.value[1:] != order.value[:-1]), True)
        inside = last & (order.until < rows[group])
        keys.append(order.key[inside])
    key = np.unique(np.concatenate(keys))
    group = key // wide
    selected = key % wide
    sum_lower, max_lower = lower_ends.sum_first(group, selected)
    sum_upper, min_upper = upper_ends.sum_first(group, selected)
    single = np.ones(len(group), np.int64)
    bounds = {
        "sum_lower": sum_lower,
        "sum_upper": sum_upper,
        "min_lower": lower_ends.sum_first(group, single)[1],
        "min_upper": min_upper,
        "max_lower": max_lower,
        "max_upper": upper_ends.sum_first(group, single)[1],
    }
    return AggregateBounds(group, selected, bounds)


@dataclass(frozen=True, eq=False)
class _SortedEnds:
    """One order of the groups' values: where each run of equal ends stops, and the sum up to it."""

    key: np.ndarray  # group * wide + values up to here
    value: np.ndarray
    until: np.ndarray
    total: np.ndarray
    wide: int

    @classmethod
    def from_values(cls, group: np.ndarray, value: np.ndarray, count: np.ndarray, wide: int) -> _SortedEnds:
        until = np.cumsum(count)
        total = np.cumsum(count * value)
        start = np.flatnonzero(np.diff(group, prepend=-1))
        lengths = np.diff(np.append(start, len(group)))
        until = until - np.repeat(np.append(0, until)[start], lengths)
        total = total - np.repeat(np.append(0, total)[start], lengths)
        return cls(group * wide + until, value, until, total, wide)

    def sum_first(self, group: np.ndarray, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sum of the first `selected` ends, and the last of them."""
        place = np.searchsorted(self.key, group * self.wide + selected)
        return self.total[place] - (self.until[place] - selected) * self.value[place], self.value[place]
