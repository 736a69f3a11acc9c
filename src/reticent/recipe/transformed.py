"""Writer of transformed releases: three tables, with exact quasi-identifiers and group, generalized values, and bounds.

`quasi` has each row's exact quasi-identifiers and group, `sensitive` the groups' generalized values, `bounds` bounds on
aggregates.  Fakes are in `sensitive` like any value: nothing tells which they are.

`bounds` is the auxiliary table of Koudas, Srivastava, Yu & Zhang (VLDB 2009, section 3.3): for each group and number of
selected rows the least and the greatest SUM, MIN and MAX (`compute_bounds`).  Of s selected rows of a group the least
sum takes the s least lower ends, the greatest the s greatest upper ends; both are linear in s until the next end
differs.  The table is cut down to rows where a slope changes, so that it is as long as `sensitive`.  Between two rows
the row above, at S >= s, gives the answer: the s-th least lower end is its `max_lower`, the s-th greatest upper end its
`min_upper`.  See `release/transformed.py` for how it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.data.columns import Column, Role
from reticent.data.parsing import parse_texts
from reticent.format.rows import RowBatches
from reticent.recipe.column_entries import build_exact_entries
from reticent.recipe.kind import COUNT_COLUMN, GROUP_COLUMN, GroupedWriter, arrange_entries
from reticent.recipe.recipe import GroupTable, Recipe, TransformedRecipe


@dataclass(frozen=True, eq=False)
class IntervalCounts:
    """Published values of groups: `count` of them between `low` and `high`, in whole units."""

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
        """Keep whole numbers as they are; convert others to the column's unit, lower ends rounded down and upper ends up."""
        if scale is None:
            return {name: pl.Series(name, values) for name, values in self.columns.items()}
        found = {}
        for name, values in self.columns.items():
            near = values / scale
            exact = values % scale == 0
            away = np.nextafter(near, -np.inf if name.endswith("lower") else np.inf)
            single = not name.startswith("sum")  # an end of a value is that value as it is written
            found[name] = pl.Series(name, near if single else np.where(exact, near, away))
        return found


@dataclass(frozen=True, eq=False)
class _SortedEnds:
    """One order of the groups' values: where each run of equal ends stops, and the sum up to there."""

    key: np.ndarray  # group * wide + values up to here
    value: np.ndarray
    until: np.ndarray
    total: np.ndarray
    wide: int

    @classmethod
    def of(cls, group: np.ndarray, value: np.ndarray, count: np.ndarray, wide: int) -> _SortedEnds:
        until = np.cumsum(count)
        total = np.cumsum(count * value)
        start = np.flatnonzero(np.diff(group, prepend=-1))
        lengths = np.diff(np.append(start, len(group)))
        until = until - np.repeat(np.append(0, until)[start], lengths)
        total = total - np.repeat(np.append(0, total)[start], lengths)
        return cls(group * wide + until, value, until, total, wide)

    def sum_first(self, group: np.ndarray, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sum of the first `selected` ends, and the last of them."""
        place = np.searchsorted(self.key, group * self.wide + selected)
        return self.total[place] - (self.until[place] - selected) * self.value[place], self.value[place]


def compute_bounds(ends: IntervalCounts, rows: np.ndarray) -> AggregateBounds:
    """Compute the bounds of each group; `rows` are those of each group, numbered from 0.

    A group may have more values than rows.
    """
    wide = int(ends.count.sum()) + 2
    up = np.lexsort((ends.low, ends.group))
    down = np.lexsort((-ends.high, ends.group))
    least = _SortedEnds.of(ends.group[up], ends.low[up], ends.count[up], wide)
    most = _SortedEnds.of(ends.group[down], ends.high[down], ends.count[down], wide)
    keys = [np.arange(len(rows)) * wide + rows]
    for order, by in ((least, up), (most, down)):
        group = ends.group[by]
        last = np.append((group[1:] != group[:-1]) | (order.value[1:] != order.value[:-1]), True)
        inside = last & (order.until < rows[group])
        keys.append(order.key[inside])
    key = np.unique(np.concatenate(keys))
    group = key // wide
    selected = key % wide
    sum_lower, max_lower = least.sum_first(group, selected)
    sum_upper, min_upper = most.sum_first(group, selected)
    one = np.ones(len(group), np.int64)
    found = {
        "sum_lower": sum_lower,
        "sum_upper": sum_upper,
        "min_lower": least.sum_first(group, one)[1],
        "min_upper": min_upper,
        "max_lower": max_lower,
        "max_upper": most.sum_first(group, one)[1],
    }
    return AggregateBounds(group, selected, found)


@dataclass(frozen=True, eq=False)
class TransformedWriter(GroupedWriter):
    """Writer of a recipe whose groups publish nodes of a hierarchy."""

    recipe: TransformedRecipe
    kind: ClassVar[str] = "transformed"
    lists_values: ClassVar[bool] = True
    reserved: ClassVar[Mapping[str, tuple[Role, ...]]] = {GROUP_COLUMN: (Role.QUASI, Role.INSENSITIVE)}

    @classmethod
    def of(cls, recipe: Recipe, columns: Mapping[str, Column]) -> TransformedWriter:
        assert isinstance(recipe, TransformedRecipe)
        carrying = any(column.role is Role.INSENSITIVE for column in columns.values())
        ready: Any = recipe if carrying else arrange_entries(recipe)
        return cls(ready, columns)

    def summarize_plan(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Summarize the planned groups; there is no loss, since quasi-identifiers stay as they are."""
        return {}

    def frames(self, pieces: RowBatches) -> dict[str, Any]:
        return {
            "quasi": self.build_quasi_rows(pieces),
            "sensitive": self.build_sensitive_table(),
            "bounds": self.build_bounds(),
        }

    @property
    def _listed(self) -> GroupTable:
        assert self.recipe.listed is not None
        return self.recipe.listed

    def _order_rows(self) -> np.ndarray:
        """Order `sensitive` by group and, within one, by the first and the last value of a node."""
        listed = self._listed
        recipe = self.recipe
        return np.lexsort((recipe.last[listed.value], recipe.first[listed.value], listed.group))

    def build_sensitive_table(self) -> pl.DataFrame:
        recipe = self.recipe
        listed = self._listed
        order = self._order_rows()
        node = listed.value[order]
        ends = self._parse_domain_values()
        return pl.DataFrame(
            {
                GROUP_COLUMN: pl.Series(listed.group[order].astype(np.int32)),
                "lower": ends.gather(recipe.first[node]),
                "upper": ends.gather(recipe.last[node]),
                "label": pl.Series(recipe.node_labels, dtype=pl.String).gather(node),
                COUNT_COLUMN: pl.Series(listed.count[order].astype(np.int32)),
            }
        )

    def _parse_domain_values(self) -> pl.Series:
        """Parse the domain's values into the column's own type; categories stay texts."""
        dtype = self.recipe.cells.sensitive[0].dtype if self.recipe.units is not None else "String"
        return parse_texts(list(self.recipe.texts), dtype)

    def build_bounds(self) -> pl.DataFrame:
        recipe = self.recipe
        listed = self._listed
        rows = np.bincount(recipe.group, weights=recipe.quota, minlength=recipe.groups).astype(np.int64)
        if recipe.units is None:
            return pl.DataFrame(
                {
                    GROUP_COLUMN: pl.Series(np.arange(recipe.groups, dtype=np.int32)),
                    "selected": pl.Series(rows.astype(np.int32)),
                }
            )
        whole = recipe.cells.sensitive[0].dtype.startswith(("Int", "UInt"))
        low = recipe.units[recipe.first[listed.value]]
        high = recipe.units[recipe.last[listed.value]]
        found = compute_bounds(IntervalCounts(listed.group, low, high, listed.count), rows)
        columns = {
            GROUP_COLUMN: pl.Series(found.group.astype(np.int32)),
            "selected": pl.Series(found.selected.astype(np.int32)),
        }
        return pl.DataFrame({**columns, **found.to_series(None if whole else recipe.scale)})

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        recipe = self.recipe
        fresh = np.flatnonzero(np.diff(recipe.target, prepend=-1))
        return {
            "kind": self.kind,
            "withheld": recipe.withheld,
            "columns": build_exact_entries(recipe, self.columns, types),
            "values": list(recipe.texts),
            "tree": np.column_stack([recipe.first, recipe.last]).tolist(),
            "targets": [list(weights) for weights in recipe.weights],
            "assigned": np.column_stack([fresh, recipe.target[fresh]]).tolist(),
        }


WRITER = TransformedWriter
