"""Exact quasi-identifiers with the number of a group: what kinds share that list sensitive values by group, apart from rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from reticent.kernels.group_order import by_group
from reticent.kernels.within_groups import sort_within
from reticent.recipe.recipe import Recipe
from reticent.recipe.unchanged import published_cells, values_of
from reticent.release.rows import Coded, Numbers, Pieces, Rows
from reticent.table.roles import Column, Role

GROUP, COUNT = "group", "count"
SMALL = 32  # numbers that are sorted by insertion
Planned = TypeVar("Planned", bound=Recipe)


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """A recipe whose groups are published by number."""

    recipe: Recipe
    columns: Mapping[str, Column]
    generalizes: ClassVar[bool] = False
    several_sensitive: ClassVar[bool] = False

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Quasi-identifiers stay as they are: there is no span to lose by."""
        return {}

    def quasi_rows(self, pieces: Pieces) -> Rows:
        """Exact quasi-identifiers, carried columns and the group."""
        recipe, published = self.recipe, published_cells(self.recipe)
        found: dict[str, Any] = dict(pieces.beside)
        for at, domain in enumerate(recipe.cells.quasi):
            found[domain.name] = Coded.of(values_of(domain), recipe.cells.codes[:, at], published, recipe.cell)
        shown = [name for name, column in self.columns.items() if column.role in (Role.QUASI, Role.INSENSITIVE)]
        return Rows({**{name: found[name] for name in shown}, GROUP: Numbers(recipe.group)}, pieces)

    @cached_property
    def place(self) -> np.ndarray | None:
        """Entries by group and quasi-identifiers: rows that tie in these, and in what is carried beside, read the same."""
        recipe = self.recipe
        if recipe.arranged:
            return None
        point = recipe.cells.point[recipe.cell]
        return np.maximum(recipe.group, 0).astype(np.int64) * (int(point.max(initial=0)) + 1) + point


def arranged(recipe: Planned) -> Planned:
    """Entries by group and, within one, by cell: rows sorted by all that they show.

    Cells are in the order of their quasi-identifiers first, and rows that differ in the sensitive value alone read the same; so
    the order is a function of what is published, and says nothing more.  Withheld entries come first.
    """
    if not recipe.alone or recipe.values is not None:
        bits = len(recipe.cells).bit_length()
        order = np.argsort((recipe.group.astype(np.int64) << bits) | recipe.cell, kind="stable")
        values = None if recipe.values is None else recipe.values[order]
        return replace(
            recipe, cell=recipe.cell[order], group=recipe.group[order], quota=recipe.quota[order], values=values,
            arranged=True,
        )  # fmt: skip
    sizes = np.bincount(recipe.group + 1)  # withheld rows first
    begin = np.cumsum(sizes) - sizes
    cell = np.empty(len(recipe.cell), np.int32)
    by_group(recipe.cell.astype(np.int32, copy=False), recipe.group.astype(np.int32, copy=False) + 1, begin, cell)
    sort_groups(cell, sizes)
    return replace(
        recipe, cell=cell, group=np.repeat(np.arange(-1, len(sizes) - 1, dtype=np.int32), sizes), arranged=True
    )


def sort_groups(number: np.ndarray, sizes: np.ndarray) -> None:
    """Put each group's numbers in order: the first `sizes[0]` of them, the next `sizes[1]`, and so on."""
    begin = np.append(0, np.cumsum(sizes))
    sort_within(number, begin, SMALL)
    for group in np.flatnonzero(sizes > SMALL):
        number[begin[group] : begin[group + 1]].sort()


def numbers(name: str, values: np.ndarray, ascending: bool = False) -> pl.Series:
    """Whole numbers in 32 bits; a column that is known to ascend is written by its differences."""
    series = pl.Series(name, values.astype(np.int32, copy=False))
    return series.set_sorted() if ascending else series
