"""Publishing a recipe as a perturbed table: quasi-identifiers exactly as they were, sensitive values redrawn, the matrix beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.recipe.redrawn import RedrawnRecipe
from reticent.recipe.schema import number
from reticent.recipe.unchanged import schema_of, values_of
from reticent.table.roles import Column, Role


@dataclass(frozen=True, eq=False)
class Perturbed:
    """A recipe without groups, ready to be written."""

    recipe: RedrawnRecipe
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "perturbed"
    generalizes: ClassVar[bool] = False
    several_sensitive: ClassVar[bool] = False

    @classmethod
    def of(cls, recipe: RedrawnRecipe, columns: Mapping[str, Column]) -> Perturbed:
        return cls(recipe, columns)

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Quasi-identifiers stay as they are: there is no span to lose by."""
        return {}

    def frames(self, entry: np.ndarray, carried: pl.DataFrame | None) -> dict[str, pl.DataFrame]:
        """The data file, from each published row's entry of the recipe; columns in the source's order."""
        recipe = self.recipe
        codes = recipe.cells.codes[recipe.cell]
        found = {
            domain.name: values_of(domain).gather(codes[:, at][entry]) for at, domain in enumerate(recipe.cells.quasi)
        }
        sensitive = recipe.cells.sensitive[0]
        found[sensitive.name] = values_of(sensitive).gather(recipe.published_values[:, 0][entry])
        if carried is not None:
            found |= {name: carried[name] for name in carried.columns}
        kept = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": pl.DataFrame({name: found[name] for name in kept})}

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """Schema, values, matrix and, where no row is withheld, the overall distribution."""
        recipe, cells = self.recipe, self.recipe.cells
        said = {entry: number(Fraction(entry, recipe.per)) for entry in {e for row in recipe.matrix for e in row}}
        found = {
            "kind": self.kind,
            "withheld": recipe.withheld,
            "columns": schema_of(recipe, self.columns, types),
            "values": [cells.sensitive[0].texts[code] for code in recipe.occurring],
            "matrix": [[said[entry] for entry in row] for row in recipe.matrix],
        }
        if not recipe.withheld:
            totals = cells.totals(0)[recipe.occurring]
            found["distribution"] = [number(Fraction(int(count), cells.rows)) for count in totals]
        return found


WRITER = Perturbed
