"""Exact quasi-identifiers with the number of a group: what kinds share that list sensitive values by group, apart from rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from reticent.recipe.recipe import Recipe
from reticent.recipe.unchanged import published_cells, values_of
from reticent.release.rows import Coded, Rows
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

    def quasi_rows(self, entry: np.ndarray | slice, carried: pl.DataFrame | None) -> Rows:
        """Exact quasi-identifiers, carried columns and the group."""
        recipe, published = self.recipe, published_cells(self.recipe)
        if carried is not None:
            assert isinstance(entry, np.ndarray), "carried columns are read row by row"
            order = self._order(entry, carried)
            entry, carried = entry[order], carried[order]
        found: dict[str, Coded | pl.Series] = {
            domain.name: Coded.of(values_of(domain), recipe.cells.codes[:, at], published)
            for at, domain in enumerate(recipe.cells.quasi)
        }
        if carried is not None:
            found |= {name: carried[name] for name in carried.columns}
        shown = [name for name, column in self.columns.items() if column.role in (Role.QUASI, Role.INSENSITIVE)]
        group = numbers(GROUP, recipe.group[entry], ascending=True)
        return Rows({**{name: found[name] for name in shown}, GROUP: group}, recipe.cell[entry])

    def _order(self, entry: np.ndarray, carried: pl.DataFrame) -> np.ndarray:
        """Rows by group, quasi-identifiers and carried values: rows that tie read the same."""
        recipe = self.recipe
        codes = (
            recipe.cells.codes
        )  # cells stand in the order of their quasi-identifiers, then of their sensitive values
        combination = np.cumsum(np.append(True, (codes[1:] != codes[:-1]).any(axis=1))[: len(codes)])
        keys = carried.with_columns(
            pl.Series("\x00group", recipe.group[entry]), pl.Series("\x00quasi", combination[recipe.cell[entry]])
        )
        by = ["\x00group", "\x00quasi", *carried.columns]
        return keys.select(pl.arg_sort_by(by, nulls_last=True)).to_series().to_numpy()


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
