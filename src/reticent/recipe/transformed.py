"""Publishing a recipe as three tables: exact quasi-identifiers and group, the groups' generalized values, and bounds on aggregates.

Fakes are in `sensitive` like any value: nothing says which they are.  `bounds` is the auxiliary table of Koudas, Srivastava, Yu &
Zhang (VLDB 2009, section 3.3), cut down to where a slope changes: see `release/transformed.py` for how it is read.
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
from reticent.recipe.aggregate_bounds import IntervalCounts, compute_bounds
from reticent.recipe.column_entries import build_exact_entries
from reticent.recipe.kind import COUNT_COLUMN, GROUP_COLUMN, GroupedWriter, arrange_entries
from reticent.recipe.recipe import GroupTable, Recipe, TransformedRecipe


@dataclass(frozen=True, eq=False)
class TransformedWriter(GroupedWriter):
    """A recipe whose groups publish nodes of a hierarchy, ready to be written."""

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
        """Quasi-identifiers stay as they are: there is no span to lose by."""
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
        """`sensitive` is sorted by group and, within one, by the first and the last value of a node."""
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
        """The domain's values in the column's own type; categories as texts."""
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
