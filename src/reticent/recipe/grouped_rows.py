"""Exact quasi-identifiers with the number of a group: what kinds share that list sensitive values by group, apart from rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from reticent.recipe.recipe import Recipe
from reticent.recipe.unchanged import published_cells, values_of
from reticent.release.rows import Coded, Numbers, Pieces, Rows
from reticent.table.roles import Column, Role

GROUP, COUNT = "group", "count"
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
    bits = len(recipe.cells).bit_length()
    key = recipe.group.astype(np.int64)
    key <<= bits
    key |= recipe.cell
    if not recipe.alone or recipe.values is not None:
        order = np.argsort(key, kind="stable")
        values = None if recipe.values is None else recipe.values[order]
        return replace(
            recipe, cell=recipe.cell[order], group=recipe.group[order], quota=recipe.quota[order], values=values,
            arranged=True,
        )  # fmt: skip
    key.sort()
    group = np.empty(len(key), np.int32 if recipe.groups <= np.iinfo(np.int32).max else np.int64)
    np.right_shift(key, bits, out=group, casting="same_kind")
    key &= (1 << bits) - 1
    return replace(recipe, cell=key, group=group, arranged=True)


def numbers(name: str, values: np.ndarray, ascending: bool = False) -> pl.Series:
    """Whole numbers in 32 bits; a column that is known to ascend is written by its differences."""
    series = pl.Series(name, values.astype(np.int32, copy=False))
    return series.set_sorted() if ascending else series
