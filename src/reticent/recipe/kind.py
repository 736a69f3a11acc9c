"""Interface of the writers of release kinds, and what writers of exact quasi-identifiers share.

`recipe/<kind>.py` holds one class, WRITER, that turns a recipe into files; `Writer` is its protocol.  `GroupedWriter`
is the base of kinds that publish exact quasi-identifiers with the number of a group, and list sensitive values by
group, apart from rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import polars as pl

from reticent.data.columns import Column, Role
from reticent.format.data_writer import AscendingColumn, CodedColumn, FileRows, RowBatches
from reticent.kernels.group_order import order_by_group
from reticent.kernels.within_groups import sort_within
from reticent.recipe.group_labels import find_published_cells, list_domain_values
from reticent.recipe.recipe import Recipe

GROUP_COLUMN = "group"
COUNT_COLUMN = "count"
MAX_INSERTION_SORT = 32  # numbers that are sorted by insertion
Planned = TypeVar("Planned", bound=Recipe)


@dataclass(frozen=True, eq=False)
class GroupedWriter:
    """Base of writers of a recipe whose groups are published by number."""

    recipe: Recipe
    columns: Mapping[str, Column]
    generalizes: ClassVar[bool] = False
    several_sensitive: ClassVar[bool] = False

    def summarize_plan(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Summarize the planned groups; there is no loss, since quasi-identifiers stay as they are."""
        return {}

    def build_quasi_rows(self, pieces: RowBatches) -> FileRows:
        """Build the rows: exact quasi-identifiers, passthrough columns and the group."""
        recipe = self.recipe
        published = find_published_cells(self.recipe)
        columns: dict[str, Any] = dict(pieces.beside)
        for column_index, domain in enumerate(recipe.cells.quasi):
            columns[domain.name] = CodedColumn.from_entries(
                list_domain_values(domain), recipe.cells.codes[:, column_index], published, recipe.cell
            )
        names = [name for name, column in self.columns.items() if column.role in (Role.QUASI, Role.INSENSITIVE)]
        return FileRows(
            {**{name: columns[name] for name in names}, GROUP_COLUMN: AscendingColumn(recipe.group)}, pieces
        )

    @cached_property
    def place(self) -> np.ndarray | None:
        """Position of each entry by group and quasi-identifiers; rows that tie in these and in passthrough columns read the same."""
        recipe = self.recipe
        if recipe.arranged:
            return None
        point = recipe.cells.point[recipe.cell]
        return np.maximum(recipe.group, 0).astype(np.int64) * (int(point.max(initial=0)) + 1) + point


def arrange_entries(recipe: Planned) -> Planned:
    """Order entries by group and, within one, by cell: rows are then sorted by all that they show.

    Cells are in the order of their quasi-identifiers first, and rows that differ in the sensitive value alone read the
    same; so the order is a function of what is published and reveals nothing more.  Withheld entries come first.
    """
    if not recipe.has_single_rows or recipe.values is not None:
        bits = len(recipe.cells).bit_length()
        order = np.argsort((recipe.group.astype(np.int64) << bits) | recipe.cell, kind="stable")
        values = None if recipe.values is None else recipe.values[order]
        return replace(
            recipe,
            cell=recipe.cell[order],
            group=recipe.group[order],
            quota=recipe.quota[order],
            values=values,
            arranged=True,
        )
    sizes = np.bincount(recipe.group + 1)  # withheld rows first
    begin = np.cumsum(sizes) - sizes
    cell = np.empty(len(recipe.cell), np.int32)
    order_by_group(recipe.cell.astype(np.int32, copy=False), recipe.group.astype(np.int32, copy=False) + 1, begin, cell)
    sort_groups(cell, sizes)
    return replace(
        recipe, cell=cell, group=np.repeat(np.arange(-1, len(sizes) - 1, dtype=np.int32), sizes), arranged=True
    )


def sort_groups(number: np.ndarray, sizes: np.ndarray) -> None:
    """Sort each group's numbers: the first `sizes[0]` of them, the next `sizes[1]`, and so on."""
    begin = np.append(0, np.cumsum(sizes))
    sort_within(number, begin, MAX_INSERTION_SORT)
    for group in np.flatnonzero(sizes > MAX_INSERTION_SORT):
        number[begin[group] : begin[group + 1]].sort()


def to_int_series(name: str, values: np.ndarray, ascending: bool = False) -> pl.Series:
    """Store whole numbers in 32 bits; a column that is known to ascend is written by its differences."""
    series = pl.Series(name, values.astype(np.int32, copy=False))
    return series.set_sorted() if ascending else series


class Writer(Protocol):
    """Protocol of a writer: a recipe ready to be written.

    `of` makes it, and merges groups that would read the same where the kind has labels.
    """

    kind: ClassVar[str]
    generalizes: ClassVar[bool]  # whether quasi-identifiers become labels, so that withholding rows can lower the loss
    several_sensitive: ClassVar[bool]  # whether the kind takes more than one sensitive column
    # A kind whose quasi-identifiers are labels, which lose information, has `labelled`: True.
    # A kind whose statements about groups an audit compares with all rows of the source has `draws_rows`: False.
    # A kind that publishes to somebody who may know everybody else's values has `hides_presence`: True.
    # A kind whose manifest lists the sensitive values has `lists_values`: True.
    # A kind whose values stand apart from rows, and are the rows' own, has `record_values(pieces)`: pieces that record them.
    # A kind that adds columns of its own has `reserved`: their names, and the roles of columns that cannot have them.
    recipe: Recipe

    @classmethod
    def from_recipe(cls, recipe: Any, columns: Mapping[str, Column]) -> Self: ...

    def summarize_plan(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Summarize what is known before anything is written: groups, the smallest of them, the expected loss, as the kind has them."""

    @property
    def place(self) -> np.ndarray | None:
        """Position of each entry of the recipe among the published rows, which are sorted by it and then by passthrough columns.

        None: rows are shuffled, or expanded from a recipe that is arranged already.
        """

    def frames(self, pieces: RowBatches) -> Mapping[str, FileRows | pl.DataFrame]:
        """Build the data files by name; the first has the published rows, as an engine hands them over."""

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """Build the manifest's fields that depend on the kind; `types` are those of passthrough columns."""
