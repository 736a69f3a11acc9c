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
from reticent.format.data_writer import RowBatches
from reticent.recipe.aggregate_bounds import IntervalCounts, compute_bounds
from reticent.recipe.group_labels import build_exact_entries
from reticent.recipe.kind import COUNT_COLUMN, GROUP_COLUMN, GroupedWriter, arrange_entries
from reticent.recipe.recipe import GroupTable, Recipe, TransformedRecipe


@dataclass(frozen=True, eq=False)
class TransformedWriter(GroupedWriter):
    """Writer of a recipe whose groups publish nodes of a hierarchy."""

    recipe: TransformedRecipe
    kind: ClassVar[str] = "transformed"
    draws_rows: ClassVar[bool] = False
    lists_values: ClassVar[bool] = True
    reserved: ClassVar[Mapping[str, tuple[Role, ...]]] = {GROUP_COLUMN: (Role.QUASI, Role.INSENSITIVE)}

    @classmethod
    def from_recipe(cls, recipe: Recipe, columns: Mapping[str, Column]) -> TransformedWriter:
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
        is_integer = recipe.cells.sensitive[0].dtype.startswith(("Int", "UInt"))
        low = recipe.units[recipe.first[listed.value]]
        high = recipe.units[recipe.last[listed.value]]
        bounds = compute_bounds(IntervalCounts(listed.group, low, high, listed.count), rows)
        columns = {
            GROUP_COLUMN: pl.Series(bounds.group.astype(np.int32)),
            "selected": pl.Series(bounds.selected.astype(np.int32)),
        }
        return pl.DataFrame({**columns, **bounds.to_series(None if is_integer else recipe.scale)})

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        recipe = self.recipe
        fresh = np.flatnonzero(np.diff(recipe.target, prepend=-1))
        return {
            "kind": self.kind,
            "withheld": recipe.all_withheld,
            "columns": build_exact_entries(recipe, self.columns, types),
            "values": list(recipe.texts),
            "tree": np.column_stack([recipe.first, recipe.last]).tolist(),
            "targets": [list(weights) for weights in recipe.weights],
            "assigned": np.column_stack([fresh, recipe.target[fresh]]).tolist(),
        }


WRITER = TransformedWriter
