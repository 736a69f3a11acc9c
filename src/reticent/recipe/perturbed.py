"""Writer of perturbed releases: exact quasi-identifiers, sensitive values redrawn, and the matrix in the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from reticent.data.columns import Column, Role
from reticent.format.data_writer import CodedColumn, FileRows, RowBatches
from reticent.recipe.group_labels import build_exact_entries, find_published_cells, list_domain_values, to_json_number
from reticent.recipe.recipe import PerturbedRecipe


@dataclass(frozen=True, eq=False)
class PerturbedWriter:
    """Writer of a recipe without groups."""

    recipe: PerturbedRecipe
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "perturbed"
    generalizes: ClassVar[bool] = False
    lists_values: ClassVar[bool] = True
    redraws_values: ClassVar[bool] = True
    several_sensitive: ClassVar[bool] = False
    place: ClassVar[None] = None

    @classmethod
    def from_recipe(cls, recipe: PerturbedRecipe, columns: Mapping[str, Column]) -> PerturbedWriter:
        return cls(recipe, columns)

    def summarize_plan(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Summarize the plan; there is no loss, since quasi-identifiers stay as they are."""
        return {}

    def frames(self, pieces: RowBatches) -> dict[str, FileRows]:
        """Build the data file, columns in the source's order."""
        recipe = self.recipe
        published = find_published_cells(self.recipe)
        columns: dict[str, Any] = dict(pieces.beside)
        for column_index, domain in enumerate(recipe.cells.quasi):
            columns[domain.name] = CodedColumn.from_entries(
                list_domain_values(domain), recipe.cells.codes[:, column_index], published, recipe.cell
            )
        sensitive = recipe.cells.sensitive[0]
        columns[sensitive.name] = CodedColumn.from_entries(
            list_domain_values(sensitive), recipe.published_values[:, 0], recipe.published_entries
        )
        names = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": FileRows({name: columns[name] for name in names}, pieces)}

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """Build schema, values, matrix and, where every row with its values is published, the overall distribution.

        Rows that were withheld because they lack a value are no part of it.
        """
        recipe = self.recipe
        cells = self.recipe.cells
        number_of = {
            entry: to_json_number(Fraction(entry, recipe.matrix_denominator))
            for entry in {e for row in recipe.matrix for e in row}
        }
        manifest_fields = {
            "kind": self.kind,
            "withheld": recipe.all_withheld,
            "columns": build_exact_entries(recipe, self.columns, types),
            "values": [cells.sensitive[0].texts[code] for code in recipe.occurring],
            "matrix": [[number_of[entry] for entry in row] for row in recipe.matrix],
        }
        if not recipe.withheld and not cells.withheld_before.surplus:
            totals = cells.totals(0)[recipe.occurring]
            manifest_fields["distribution"] = [to_json_number(Fraction(int(count), cells.rows)) for count in totals]
        return manifest_fields


WRITER = PerturbedWriter
