"""Publishing a recipe as two tables: each row's exact quasi-identifiers and group, each group's sensitive values with their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.errors import ColumnError
from reticent.recipe.exact import published_cells, schema_of, values_of
from reticent.recipe.recipe import WITHHELD, Recipe
from reticent.table.roles import Column, Role
from reticent.table.rows import Coded, Rows

GROUP, COUNT = "group", "count"


@dataclass(frozen=True, eq=False)
class Anatomized:
    """A recipe whose groups are published by number, ready to be written."""

    recipe: Recipe
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "anatomized"

    @classmethod
    def of(cls, recipe: Recipe, columns: Mapping[str, Column]) -> Anatomized:
        taken = [
            name for name, column in columns.items() if name in (GROUP, COUNT) and column.role is not Role.IDENTIFYING
        ]
        if taken:
            raise ColumnError(
                f"A column is named {taken[0]!r}, and so is one that an anatomized release adds.",
                attempt="renaming the source's column.",
            )
        return cls(recipe, columns)

    def frames(self, entry: np.ndarray, carried: pl.DataFrame | None) -> dict[str, Rows | pl.DataFrame]:
        """`quasi`: a row for each person, in shuffled order.  `sensitive`: a row for each group and value, sorted by both."""
        recipe, published = self.recipe, published_cells(self.recipe)
        found: dict[str, Coded | pl.Series] = {
            domain.name: Coded.of(values_of(domain), recipe.cells.codes[:, at], published)
            for at, domain in enumerate(recipe.cells.quasi)
        }
        if carried is not None:
            found |= {name: carried[name] for name in carried.columns}
        shown = [name for name, column in self.columns.items() if column.role in (Role.QUASI, Role.INSENSITIVE)]
        quasi = {name: found[name] for name in shown} | {GROUP: pl.Series(GROUP, recipe.group[entry])}
        return {"quasi": Rows(quasi, recipe.cell[entry]), "sensitive": self._sensitive()}

    def _sensitive(self) -> pl.DataFrame:
        recipe, domain = self.recipe, self.recipe.cells.sensitive[0]
        kept = slice(None) if not recipe.withheld else recipe.group != WITHHELD
        key = recipe.group[kept] * domain.size + recipe.published_values[kept, 0]
        quota = recipe.quota[kept]
        if int(quota.max(initial=1)) > 1:
            order = np.argsort(key, kind="stable")
            key, quota = key[order], quota[order]
        else:
            key = np.sort(key)
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        count = np.add.reduceat(quota, starts) if len(key) else quota
        held = key[starts]
        values = values_of(domain).gather(held % domain.size)
        return pl.DataFrame({GROUP: held // domain.size, domain.name: values, COUNT: count})

    def manifest(self, types: Mapping[str, str]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "withheld": self.recipe.withheld,
            "columns": schema_of(self.recipe, self.columns, types),
        }
