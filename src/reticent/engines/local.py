"""The local engine: rows in memory, by Polars.

One pass counts the rows into cells.  Where no other column is carried, the release is expanded from cells in shuffled
order (or in a recipe's own, where that is a function of what is published) and rows are not read twice; otherwise each row finds its cell by a join and its outcome by its rank in the cell,
the order of PRF(key, source position).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.engines.changed import Tally, read_again
from reticent.engines.combinations import combinations
from reticent.engines.engine import PLAINLY, Counted, Working
from reticent.engines.locate import cells_of_rows
from reticent.engines.ranked import by_word, entries_by_cell, tied
from reticent.errors import SourceError
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.release.rows import Whole
from reticent.table import beside
from reticent.table import source as sources
from reticent.table.carried import CarriedCounts, count_carried
from reticent.table.codec import COUNT, encode_cells
from reticent.table.roles import Column, Role, with_role
from reticent.table.source import Source, collect, is_text
from reticent.table.typed_rows import typed


def count(lazy: pl.LazyFrame, columns: Mapping[str, Column], rows_per_person: int = 1) -> Counted:
    """Rows -> cells, by one pass over them."""
    keys = [*with_role(columns, Role.QUASI), *with_role(columns, Role.SENSITIVE)]
    counted = combinations(keyed(lazy.select(keys), keys), COUNT, "Counting the rows")
    return counted_of(counted, lazy.collect_schema(), columns, rows_per_person)


def counted_of(
    counted: pl.DataFrame, schema: pl.Schema, columns: Mapping[str, Column], rows_per_person: int = 1
) -> Counted:
    """Cells from counted combinations of rows with this schema."""
    if not len(counted):
        raise SourceError("The source has a header and no rows.", attempt="a file with at least k rows.")
    keys = [*with_role(columns, Role.QUASI), *with_role(columns, Role.SENSITIVE)]
    texts = [pl.col(name).cast(pl.String) for name in keys if is_text(schema[name]) and schema[name] != pl.String]
    cells, cell = encode_cells(counted.with_columns(texts), columns)
    carried = {
        name: "String" if is_text(schema[name]) else str(schema[name]) for name in with_role(columns, Role.INSENSITIVE)
    }
    times = counted[COUNT].to_numpy().astype(np.int64)
    return Counted(replace(cells, rows_per_person=rows_per_person), columns, counted.drop(COUNT), cell, times, carried)


def keyed(lazy: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Texts as categories: grouping them costs half of grouping strings."""
    texts = [name for name, dtype in lazy.collect_schema().items() if name in keys and dtype == pl.String]
    return lazy.with_columns(pl.col(texts).cast(pl.Categorical)) if texts else lazy


def tallied(lazy: pl.LazyFrame, names: list[str]) -> pl.DataFrame:
    """The distinct combinations of some columns, and how many rows have each."""
    counted = lazy.select(names).group_by(names).len(name=COUNT)
    return collect(counted, "Counting the rows", engine="streaming")


def cut(lazy: pl.LazyFrame, by: str, value: pl.Series, names: list[str]) -> pl.LazyFrame:
    """Some columns of the rows with that value.  Python's moments and spans of time have no nanoseconds: they are compared as numbers."""
    if value.dtype.is_temporal():
        return lazy.filter(pl.col(by).to_physical() == value.to_physical().item()).select(names)
    return lazy.filter(pl.col(by) == value.item()).select(names)


def apply(counted: Counted, recipe: Recipe, rng: Random, lazy: pl.LazyFrame, place: np.ndarray | None = None) -> Whole:
    """The recipe's entry of each published row in shuffled order, and the carried columns beside it.

    Of a recipe that is arranged, its entries in their own order: a slice of them where each is of one row.  With a `place`
    for each entry, rows are sorted by it and by what they carry.
    """
    carried = with_role(counted.columns, Role.INSENSITIVE)
    if carried:
        return _carry(counted, recipe, rng, lazy, carried, place)
    if recipe.arranged and recipe.alone and recipe.whole:
        return Whole(slice(None), len(recipe.group))
    kept = recipe.shown.astype(np.int32)
    entry = np.repeat(kept, recipe.quota[kept])
    if not recipe.arranged:
        rng.stream("shuffle").shuffle(entry)
    return Whole(entry, len(entry))


def _carry(
    counted: Counted, recipe: Recipe, rng: Random, lazy: pl.LazyFrame, carried: list[str], place: np.ndarray | None
) -> Whole:
    """Each row's entry of the recipe and its carried columns, in shuffled order or sorted, withheld rows left out."""
    keys = counted.combinations.columns
    with read_again():
        rows = collect(keyed(lazy, keys).select(*keys, *carried), "Reading the carried columns")
    cell = cells_of_rows(rows.select(keys), counted.combinations, counted.cell)
    again = Tally(counted.cells)
    again.add(cell)
    again.finish()
    entry = outcomes(recipe, cell, rng)
    order = None if place is not None else rng.stream("shuffle").permutation(len(entry)).astype(np.uint32)
    if not recipe.whole:
        shown = np.zeros(len(recipe.group), bool)
        shown[recipe.shown] = True
        order = np.flatnonzero(shown[entry]).astype(np.uint32) if order is None else order[shown[entry[order]]]
    moved = rows.select(carried) if order is None else rows.select(pl.col(carried).gather(pl.Series(order)))
    entry = entry if order is None else entry[order]
    # Categories become plain text only after they were moved: moving numbers costs a tenth of moving strings.
    moved = moved.with_columns(pl.col(name).cast(pl.String) for name in carried if is_text(moved[name].dtype))
    if place is not None:
        by = by_place(place[entry], moved)
        entry, moved = entry[by], moved[by]
    return Whole(entry, len(entry), moved)


def by_place(place: np.ndarray, carried: pl.DataFrame) -> np.ndarray:
    """The order of rows by their place and by what they carry: rows that tie read the same."""
    order = np.argsort(place)
    where = tied(place[order])
    rows = order[where]
    keys = carried[rows].with_columns(pl.Series("\x00place", place[rows]))
    within = keys.select(pl.arg_sort_by(["\x00place", *carried.columns], nulls_last=True)).to_series().to_numpy()
    order[where] = rows[within]
    return order


def outcomes(recipe: Recipe, cell: np.ndarray, rng: Random, start: int = 0) -> np.ndarray:
    """The recipe's entry for each row: the row's rank in its cell, in the order of PRF(key, position), in the cumulative quotas."""
    entries, by_cell = entries_by_cell(recipe)
    first = np.append(0, np.cumsum(entries))[:-1]
    place = first[cell]
    shared = np.flatnonzero(entries[cell] > 1)
    if len(shared):
        words = rng.words("rank", start, len(cell))[shared]
        order = shared[by_word(cell[shared], words)]
        held = cell[order]
        begins = np.flatnonzero(np.diff(held, prepend=-1))
        rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
        until = np.cumsum(recipe.quota[by_cell])
        before = (until - recipe.quota[by_cell])[first[held]]
        place[order] = np.searchsorted(until, before + rank, side="right")
    return by_cell[place]


class Local:
    """All rows in memory, by Polars."""

    name: ClassVar[str] = "local"
    distributed: ClassVar[bool] = False
    regions: ClassVar[None] = None

    def each(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]:
        return [function(*given) for given in asked]

    def scan(self, source: Source, frame: Any = None) -> pl.LazyFrame:
        return sources.scan(source, frame)

    def held(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return collect(rows, "Reading the rows").lazy()

    def typed(self, rows: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
        return typed(rows, columns)

    def count_carried(self, rows: pl.LazyFrame, columns: Mapping[str, Column]) -> CarriedCounts:
        return count_carried(rows, columns)

    def look(self, rows: pl.LazyFrame, columns: Mapping[str, Column], how: Working = PLAINLY) -> beside.Beside:
        return beside.look(rows, columns)

    def count(
        self, rows: pl.LazyFrame, columns: Mapping[str, Column], rows_per_person: int = 1, how: Working = PLAINLY
    ) -> Counted:
        return count(rows, columns, rows_per_person)

    def tallied(self, rows: pl.LazyFrame, names: list[str]) -> pl.DataFrame:
        return tallied(rows, names)

    def cut(self, rows: pl.LazyFrame, by: str, value: pl.Series, names: list[str]) -> pl.LazyFrame:
        return cut(rows, by, value, names)

    def apply(
        self,
        counted: Counted,
        recipe: Recipe,
        rng: Random,
        rows: pl.LazyFrame,
        place: np.ndarray | None = None,
        how: Working = PLAINLY,
    ) -> Whole:
        return apply(counted, recipe, rng, rows, place)


ENGINE = Local()
