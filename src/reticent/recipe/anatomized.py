"""Publishing a recipe as two tables: each row's exact quasi-identifiers and group, each group's sensitive values with their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from reticent.errors import ColumnError
from reticent.recipe.recipe import Recipe
from reticent.recipe.unchanged import published_cells, schema_of, values_of
from reticent.release.rows import PIECE, Coded, Rows
from reticent.table.roles import Column, Role

GROUP, COUNT = "group", "count"
Planned = TypeVar("Planned", bound=Recipe)


@dataclass(frozen=True, eq=False)
class Anatomized:
    """A recipe whose groups are published by number, ready to be written."""

    recipe: Recipe
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "anatomized"
    generalizes: ClassVar[bool] = False
    several_sensitive: ClassVar[bool] = False

    @classmethod
    def of(cls, recipe: Recipe, columns: Mapping[str, Column]) -> Anatomized:
        taken = [
            name for name, column in columns.items() if name in (GROUP, COUNT) and column.role is not Role.IDENTIFYING
        ]
        if taken:
            raise ColumnError(
                f"A column is named {taken[0]!r}, and so is one that an anatomized release adds.",
                attempt="renaming the source's column.",
            )
        carrying = any(column.role is Role.INSENSITIVE for column in columns.values())
        return cls(recipe if carrying else arranged(recipe), columns)

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Quasi-identifiers stay as they are: there is no span to lose by."""
        return {}

    def frames(self, entry: np.ndarray | slice, carried: pl.DataFrame | None) -> dict[str, Rows]:
        """`quasi`: a row for each person.  `sensitive`: a row for each group and value.  Both are sorted by all they show."""
        return {"quasi": self.quasi_rows(entry, carried), "sensitive": self._sensitive(published_cells(self.recipe))}

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
        group = _numbers(GROUP, recipe.group[entry], ascending=True)
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

    def _sensitive(self, published: np.ndarray) -> Rows:
        recipe, domain = self.recipe, self.recipe.cells.sensitive[0]
        kept = slice(None) if recipe.whole else recipe.shown
        cell, values, quota = (
            recipe.cell[kept],
            None if recipe.values is None else recipe.values[kept],
            recipe.quota[kept],
        )
        wide = np.int32 if recipe.groups * domain.size <= np.iinfo(np.int32).max else np.int64
        key: np.ndarray = recipe.group[kept].astype(wide)
        key *= domain.size
        for start in range(0, len(key), PIECE):  # a piece at a time, because fresh memory costs more than the sum
            here = slice(start, start + PIECE)
            key[here] += recipe.cells.values[cell[here], 0] if values is None else values[here, 0]
        if recipe.alone:
            key.sort()
        else:
            order = np.argsort(key, kind="stable")
            key, quota = key[order], quota[order]
        fresh = np.append(True, key[1:] != key[:-1])[: len(key)]
        if not fresh.all():
            starts = np.flatnonzero(fresh)
            key, quota = key[starts], np.add.reduceat(quota, starts)
        group = key // domain.size
        key -= group * domain.size
        used = key if values is not None else recipe.cells.values[published, 0]
        columns: dict[str, Coded | pl.Series] = {
            GROUP: _numbers(GROUP, group, ascending=True),
            domain.name: Coded.of(values_of(domain), np.arange(domain.size, dtype=np.int32), used),
            COUNT: _numbers(COUNT, quota),
        }
        return Rows(columns, key)

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "withheld": self.recipe.withheld,
            "columns": schema_of(self.recipe, self.columns, types),
        }


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


def _numbers(name: str, values: np.ndarray, ascending: bool = False) -> pl.Series:
    """Whole numbers in 32 bits; a column that is known to ascend is written by its differences."""
    series = pl.Series(name, values.astype(np.int32, copy=False))
    return series.set_sorted() if ascending else series


WRITER = Anatomized
