"""Publishing a recipe as a perturbed table: quasi-identifiers exactly as they were, sensitive values redrawn, the matrix beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.recipe.recipe import Recipe
from reticent.recipe.schema import carried_schema, quasi_schema, sensitive_schema
from reticent.table.domain import Domain
from reticent.table.grammar import value_label
from reticent.table.roles import Column, Role
from reticent.table.types import typed


@dataclass(frozen=True, eq=False)
class PerturbedRecipe(Recipe):
    """`matrix[i][v] / whole` is the probability that `occurring[i]` is published as `occurring[v]`."""

    occurring: np.ndarray = None  # type: ignore[assignment]
    matrix: tuple[tuple[int, ...], ...] = ()
    whole: int = 1


@dataclass(frozen=True, eq=False)
class Perturbed:
    """A recipe without groups, ready to be written."""

    recipe: PerturbedRecipe
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "perturbed"

    @classmethod
    def of(cls, recipe: PerturbedRecipe, columns: Mapping[str, Column]) -> Perturbed:
        return cls(recipe, columns)

    def frames(self, entry: np.ndarray, carried: pl.DataFrame | None) -> dict[str, pl.DataFrame]:
        """The data file, from each published row's entry of the recipe; columns in the source's order."""
        recipe = self.recipe
        codes = recipe.cells.codes[recipe.cell]
        found = {
            domain.name: _values(domain).gather(codes[:, at][entry]) for at, domain in enumerate(recipe.cells.quasi)
        }
        sensitive = recipe.cells.sensitive[0]
        found[sensitive.name] = _values(sensitive).gather(recipe.published_values[:, 0][entry])
        if carried is not None:
            found |= {name: carried[name] for name in carried.columns}
        kept = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": pl.DataFrame({name: found[name] for name in kept})}

    def manifest(self, types: Mapping[str, str]) -> dict[str, Any]:
        """Schema, values, matrix and, where no row is withheld, the overall distribution."""
        recipe, cells = self.recipe, self.recipe.cells
        entries = []
        for name, column in self.columns.items():
            if column.role is Role.QUASI:
                at = [domain.name for domain in cells.quasi].index(name)
                entries.append(quasi_schema(cells.quasi[at], _published(recipe, at), column))
            elif column.role is Role.SENSITIVE:
                entries.append(sensitive_schema(cells.sensitive[0], column.missing))
            elif column.role is Role.INSENSITIVE:
                entries.append(carried_schema(name, types[name], column))
        said = {entry: number(Fraction(entry, recipe.whole)) for entry in {e for row in recipe.matrix for e in row}}
        found = {
            "kind": self.kind,
            "withheld": recipe.withheld,
            "columns": entries,
            "values": [cells.sensitive[0].texts[code] for code in recipe.occurring],
            "matrix": [[said[entry] for entry in row] for row in recipe.matrix],
        }
        if not recipe.withheld:
            totals = cells.totals(0)[recipe.occurring]
            found["distribution"] = [number(Fraction(int(count), cells.rows)) for count in totals]
        return found


def number(value: Fraction) -> int | float | str:
    """An exact number as JSON can say it: whole, a decimal that reads back exactly, or "1/3"."""
    if value.denominator == 1:
        return int(value)
    return float(value) if Fraction(repr(float(value))) == value else str(value)


def _values(domain: Domain) -> pl.Series:
    return typed([*domain.texts, *([None] if domain.null else [])], domain.dtype).alias(domain.name)


def _published(recipe: Recipe, at: int) -> list[str | None]:
    """The labels of the values that are published: each as itself."""
    domain = recipe.cells.quasi[at]
    codes = np.unique(recipe.cells.codes[recipe.cell, at])
    return [None if code == domain.null_code else value_label(domain.texts[code]) for code in codes.tolist()]
