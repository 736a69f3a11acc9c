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

from reticent.recipe.bounds_table import Ends, bounds_table
from reticent.recipe.grouped_rows import COUNT, GROUP, GroupedRows, arranged
from reticent.recipe.recipe import GroupTable, Recipe
from reticent.recipe.targeted import TransformedRecipe
from reticent.recipe.unchanged import schema_of
from reticent.release.rows import Pieces
from reticent.table.roles import Column, Role
from reticent.table.types import typed


@dataclass(frozen=True, eq=False)
class Transformed(GroupedRows):
    """A recipe whose groups publish nodes of a hierarchy, ready to be written."""

    recipe: TransformedRecipe
    kind: ClassVar[str] = "transformed"
    lists_values: ClassVar[bool] = True
    reserved: ClassVar[Mapping[str, tuple[Role, ...]]] = {GROUP: (Role.QUASI, Role.INSENSITIVE)}

    @classmethod
    def of(cls, recipe: Recipe, columns: Mapping[str, Column]) -> Transformed:
        assert isinstance(recipe, TransformedRecipe)
        carrying = any(column.role is Role.INSENSITIVE for column in columns.values())
        ready: Any = recipe if carrying else arranged(recipe)
        return cls(ready, columns)

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Quasi-identifiers stay as they are: there is no span to lose by."""
        return {}

    def frames(self, pieces: Pieces) -> dict[str, Any]:
        return {"quasi": self.quasi_rows(pieces), "sensitive": self.sensitive_table(), "bounds": self.bounds()}

    @property
    def _listed(self) -> GroupTable:
        assert self.recipe.listed is not None
        return self.recipe.listed

    def _order_listed(self) -> np.ndarray:
        """`sensitive` is sorted by group and, within one, by the first and the last value of a node."""
        listed, recipe = self._listed, self.recipe
        return np.lexsort((recipe.last[listed.value], recipe.first[listed.value], listed.group))

    def sensitive_table(self) -> pl.DataFrame:
        recipe, listed, order = self.recipe, self._listed, self._order_listed()
        node = listed.value[order]
        ends = self._ends()
        return pl.DataFrame(
            {
                GROUP: pl.Series(listed.group[order].astype(np.int32)),
                "lower": ends.gather(recipe.first[node]),
                "upper": ends.gather(recipe.last[node]),
                "label": pl.Series(recipe.node_labels, dtype=pl.String).gather(node),
                COUNT: pl.Series(listed.count[order].astype(np.int32)),
            }
        )

    def _ends(self) -> pl.Series:
        """The domain's values in the column's own type; categories as texts."""
        dtype = self.recipe.cells.sensitive[0].dtype if self.recipe.units is not None else "String"
        return typed(list(self.recipe.texts), dtype)

    def bounds(self) -> pl.DataFrame:
        recipe, listed = self.recipe, self._listed
        rows = np.bincount(recipe.group, weights=recipe.quota, minlength=recipe.groups).astype(np.int64)
        if recipe.units is None:
            return pl.DataFrame(
                {
                    GROUP: pl.Series(np.arange(recipe.groups, dtype=np.int32)),
                    "selected": pl.Series(rows.astype(np.int32)),
                }
            )
        whole = recipe.cells.sensitive[0].dtype.startswith(("Int", "UInt"))
        low, high = recipe.units[recipe.first[listed.value]], recipe.units[recipe.last[listed.value]]
        found = bounds_table(Ends(listed.group, low, high, listed.count), rows)
        columns = {
            GROUP: pl.Series(found.group.astype(np.int32)),
            "selected": pl.Series(found.selected.astype(np.int32)),
        }
        return pl.DataFrame({**columns, **found.written(None if whole else recipe.scale)})

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        recipe = self.recipe
        fresh = np.flatnonzero(np.diff(recipe.target, prepend=-1))
        return {
            "kind": self.kind,
            "withheld": recipe.withheld,
            "columns": schema_of(recipe, self.columns, types),
            "values": list(recipe.texts),
            "tree": np.column_stack([recipe.first, recipe.last]).tolist(),
            "targets": [list(weights) for weights in recipe.weights],
            "assigned": np.column_stack([fresh, recipe.target[fresh]]).tolist(),
        }


WRITER = Transformed
