"""Publishing a recipe as two tables: each row's exact quasi-identifiers and group, each group's sensitive values with their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.errors import ColumnError
from reticent.recipe.exact import schema_of, values_of
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
        recipe = self.recipe
        kept = np.flatnonzero(recipe.group != WITHHELD)
        codes = recipe.cells.codes[recipe.cell]
        found: dict[str, Coded | pl.Series] = {
            domain.name: Coded.of(values_of(domain), codes[:, at], kept) for at, domain in enumerate(recipe.cells.quasi)
        }
        if carried is not None:
            found |= {name: carried[name] for name in carried.columns}
        shown = [name for name, column in self.columns.items() if column.role in (Role.QUASI, Role.INSENSITIVE)]
        numbers = pl.Series(GROUP, np.arange(recipe.groups))
        quasi = {name: found[name] for name in shown} | {
            GROUP: Coded(numbers, np.maximum(recipe.group, 0).astype(np.int32))
        }
        return {"quasi": Rows(quasi, entry), "sensitive": self._sensitive(kept)}

    def _sensitive(self, kept: np.ndarray) -> pl.DataFrame:
        recipe, domain = self.recipe, self.recipe.cells.sensitive[0]
        key = recipe.group[kept] * domain.size + recipe.published_values[kept, 0]
        held, of_entry = np.unique(key, return_inverse=True)
        count = np.bincount(of_entry.reshape(-1), weights=recipe.quota[kept], minlength=len(held)).astype(np.int64)
        values = values_of(domain).gather(held % domain.size)
        return pl.DataFrame({GROUP: held // domain.size, domain.name: values, COUNT: count})

    def manifest(self, types: Mapping[str, str]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "withheld": self.recipe.withheld,
            "columns": schema_of(self.recipe, self.columns, types),
        }
