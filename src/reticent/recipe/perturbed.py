"""Publishing a recipe as a perturbed table: quasi-identifiers exactly as they were, sensitive values redrawn, the matrix beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from reticent.recipe.redrawn import RedrawnRecipe
from reticent.recipe.schema import number
from reticent.recipe.unchanged import published_cells, schema_of, values_of
from reticent.release.rows import Coded, Pieces, Rows
from reticent.table.roles import Column, Role


@dataclass(frozen=True, eq=False)
class Perturbed:
    """A recipe without groups, ready to be written."""

    recipe: RedrawnRecipe
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "perturbed"
    generalizes: ClassVar[bool] = False
    lists_values: ClassVar[bool] = True
    several_sensitive: ClassVar[bool] = False
    place: ClassVar[None] = None

    @classmethod
    def of(cls, recipe: RedrawnRecipe, columns: Mapping[str, Column]) -> Perturbed:
        return cls(recipe, columns)

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Quasi-identifiers stay as they are: there is no span to lose by."""
        return {}

    def frames(self, pieces: Pieces) -> dict[str, Rows]:
        """The data file, columns in the source's order."""
        recipe, published = self.recipe, published_cells(self.recipe)
        found: dict[str, Any] = dict(pieces.beside)
        for at, domain in enumerate(recipe.cells.quasi):
            found[domain.name] = Coded.of(values_of(domain), recipe.cells.codes[:, at], published, recipe.cell)
        sensitive = recipe.cells.sensitive[0]
        found[sensitive.name] = Coded.of(values_of(sensitive), recipe.published_values[:, 0], recipe.shown)
        kept = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": Rows({name: found[name] for name in kept}, pieces)}

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
