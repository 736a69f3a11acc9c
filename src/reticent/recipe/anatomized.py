"""Writer of anatomized releases: two tables, rows with exact quasi-identifiers and group, and the sensitive values of groups.

`quasi` has each row's exact quasi-identifiers and group; `sensitive` has each group's sensitive values with their
counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.data.columns import PUBLISHED_ROLES, Column, Role
from reticent.format.data_writer import BATCH_ROWS, CodedColumn, FileRows, InMemoryRows, RowBatches
from reticent.recipe.group_labels import build_exact_entries, find_published_cells, list_domain_values
from reticent.recipe.kind import COUNT_COLUMN, GROUP_COLUMN, GroupedWriter, arrange_entries, sort_groups, to_int_series
from reticent.recipe.recipe import Recipe
from reticent.recipe.value_record import RecordedPieces, number_by_appearance
from reticent.release.anatomized import value_type


@dataclass(frozen=True, eq=False)
class AnatomizedWriter(GroupedWriter):
    """Writer of a recipe whose groups are published by number."""

    kind: ClassVar[str] = "anatomized"
    reserved: ClassVar[Mapping[str, tuple[Role, ...]]] = {GROUP_COLUMN: PUBLISHED_ROLES, COUNT_COLUMN: PUBLISHED_ROLES}

    @classmethod
    def from_recipe(cls, recipe: Recipe, columns: Mapping[str, Column]) -> AnatomizedWriter:
        carrying = any(column.role is Role.INSENSITIVE for column in columns.values())
        return cls(recipe if carrying else arrange_entries(recipe), columns)

    def frames(self, pieces: RowBatches) -> dict[str, FileRows]:
        """Build `quasi`, a row for each person, and `sensitive`, a row for each group and value; both sorted by all their columns."""
        return {
            "quasi": self.build_quasi_rows(pieces),
            "sensitive": self._build_sensitive_rows(find_published_cells(self.recipe)),
        }

    def record_values(self, pieces: RowBatches) -> RecordedPieces:
        """Wrap rows so that the value of each is recorded while they are written, for the owner alone."""
        listed = self._listed[1]
        numbers = number_by_appearance(listed, self.recipe.cells.sensitive[0].size).astype(
            value_type(len(np.unique(listed)))
        )
        return RecordedPieces(pieces, numbers[self.recipe.published_values[:, 0]])

    @cached_property
    def _listed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Groups with each of their values and the number of rows that have it, in order."""
        recipe = self.recipe
        published = slice(None) if recipe.is_complete else recipe.published_entries
        cell = recipe.cell[published]
        group = recipe.group[published]
        quota = recipe.quota[published]
        redrawn = None if recipe.values is None else recipe.values[published, 0]
        value = np.empty(len(cell), np.int32)
        for start in range(0, len(cell), BATCH_ROWS):  # a piece at a time, because fresh memory costs more than the sum
            batch = slice(start, start + BATCH_ROWS)
            value[batch] = recipe.cells.values[cell[batch], 0] if redrawn is None else redrawn[batch]
        if recipe.arranged and recipe.has_single_rows:
            sort_groups(value, np.bincount(group))
        else:
            order = np.lexsort((value, group))
            group = group[order]
            value = value[order]
            quota = quota[order]
        fresh = np.append(True, (group[1:] != group[:-1]) | (value[1:] != value[:-1]))[: len(group)]
        if not fresh.all():
            starts = np.flatnonzero(fresh)
            group = group[starts]
            value = value[starts]
            quota = np.add.reduceat(quota, starts)
        return group, value, quota

    def _build_sensitive_rows(self, published: np.ndarray) -> FileRows:
        recipe = self.recipe
        domain = self.recipe.cells.sensitive[0]
        group, value, quota = self._listed
        used = value if recipe.values is not None else recipe.cells.values[published, 0]
        pieces = InMemoryRows.from_frame(
            pl.DataFrame([to_int_series(GROUP_COLUMN, group, ascending=True), to_int_series(COUNT_COLUMN, quota)]),
            value,
        )
        listed = CodedColumn.from_entries(list_domain_values(domain), np.arange(domain.size, dtype=np.int32), used)
        batch_columns = pieces.beside
        return FileRows(
            {GROUP_COLUMN: batch_columns[GROUP_COLUMN], domain.name: listed, COUNT_COLUMN: batch_columns[COUNT_COLUMN]},
            pieces,
        )

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "withheld": self.recipe.all_withheld,
            "columns": build_exact_entries(self.recipe, self.columns, types),
        }


WRITER = AnatomizedWriter
