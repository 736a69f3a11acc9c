"""Publishing a recipe as two tables: each row's exact quasi-identifiers and group, each group's sensitive values with their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.recipe.grouped_rows import COUNT, GROUP, GroupedRows, arranged, numbers, sort_groups
from reticent.recipe.recipe import Recipe
from reticent.recipe.unchanged import published_cells, schema_of, values_of
from reticent.recipe.value_record import RecordedPieces, number_by_appearance
from reticent.release.anatomized import value_type
from reticent.release.rows import PIECE, Coded, Pieces, Rows, Whole
from reticent.table.roles import PUBLISHED, Column, Role


@dataclass(frozen=True, eq=False)
class Anatomized(GroupedRows):
    """A recipe whose groups are published by number, ready to be written."""

    kind: ClassVar[str] = "anatomized"
    reserved: ClassVar[Mapping[str, tuple[Role, ...]]] = {GROUP: PUBLISHED, COUNT: PUBLISHED}

    @classmethod
    def of(cls, recipe: Recipe, columns: Mapping[str, Column]) -> Anatomized:
        carrying = any(column.role is Role.INSENSITIVE for column in columns.values())
        return cls(recipe if carrying else arranged(recipe), columns)

    def frames(self, pieces: Pieces) -> dict[str, Rows]:
        """`quasi`: a row for each person.  `sensitive`: a row for each group and value.  Both are sorted by all they show."""
        return {"quasi": self.quasi_rows(pieces), "sensitive": self._sensitive(published_cells(self.recipe))}

    def record_values(self, pieces: Pieces) -> RecordedPieces:
        """Rows of which the value is recorded while they are written, for the owner alone."""
        listed = self._listed[1]
        numbers = number_by_appearance(listed, self.recipe.cells.sensitive[0].size).astype(
            value_type(len(np.unique(listed)))
        )
        return RecordedPieces(pieces, numbers[self.recipe.published_values[:, 0]])

    @cached_property
    def _listed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Groups with each of their values and how many rows have it, in order."""
        recipe = self.recipe
        kept = slice(None) if recipe.whole else recipe.shown
        cell, group, quota = recipe.cell[kept], recipe.group[kept], recipe.quota[kept]
        redrawn = None if recipe.values is None else recipe.values[kept, 0]
        value = np.empty(len(cell), np.int32)
        for start in range(0, len(cell), PIECE):  # a piece at a time, because fresh memory costs more than the sum
            here = slice(start, start + PIECE)
            value[here] = recipe.cells.values[cell[here], 0] if redrawn is None else redrawn[here]
        if recipe.arranged and recipe.alone:
            sort_groups(value, np.bincount(group))
        else:
            order = np.lexsort((value, group))
            group, value, quota = group[order], value[order], quota[order]
        fresh = np.append(True, (group[1:] != group[:-1]) | (value[1:] != value[:-1]))[: len(group)]
        if not fresh.all():
            starts = np.flatnonzero(fresh)
            group, value, quota = group[starts], value[starts], np.add.reduceat(quota, starts)
        return group, value, quota

    def _sensitive(self, published: np.ndarray) -> Rows:
        recipe, domain = self.recipe, self.recipe.cells.sensitive[0]
        group, value, quota = self._listed
        used = value if recipe.values is not None else recipe.cells.values[published, 0]
        pieces = Whole.of_frame(pl.DataFrame([numbers(GROUP, group, ascending=True), numbers(COUNT, quota)]), value)
        listed = Coded.of(values_of(domain), np.arange(domain.size, dtype=np.int32), used)
        beside = pieces.beside
        return Rows({GROUP: beside[GROUP], domain.name: listed, COUNT: beside[COUNT]}, pieces)

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "withheld": self.recipe.withheld,
            "columns": schema_of(self.recipe, self.columns, types),
        }


WRITER = Anatomized
