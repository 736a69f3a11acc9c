"""Finds the cell of each row: the row's values as small integers, packed into one key, and looked up.

Texts are numbered by Polars' categories, whole numbers by their distance from the least, anything else by its rank
among the counted values.  A dense table answers if it fits, otherwise a join on the packed key.  What is known of the
counted combinations is prepared once (`CellLocator`), so that rows can be looked up batch by batch.

`CellRecount` refuses a source that has changed since its rows were counted: counts and rows would disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.passthrough import make_source_changed_error as make_source_changed_error
from reticent.data.source import is_text
from reticent.errors import SourceError

MAX_DENSE_KEYS = 1 << 26  # keys a dense table may have: 256 MB of 32-bit cells
MAX_INTEGER_SPREAD = 1 << 22  # between the least and the greatest integer that are numbered by their distance
UNKNOWN_CELL = -1
"""The cell of a row whose combination was not counted: the source is not what it was."""
Numbering = Callable[[pl.Series], np.ndarray]


def find_cells(rows: pl.DataFrame, combinations: pl.DataFrame, cell: np.ndarray) -> np.ndarray:
    """Find the cell of each row, given the counted combinations (same columns) and the cell of each of them."""
    return CellLocator.from_combinations(combinations, cell).find_cells(rows)


@dataclass(frozen=True, eq=False)
class CellLocator:
    """Looks rows up among counted combinations."""

    steps: tuple[_KeyColumn, ...]
    table: np.ndarray | pl.DataFrame

    @classmethod
    def from_combinations(cls, combinations: pl.DataFrame, cell: np.ndarray) -> CellLocator:
        keys = np.zeros(len(combinations), np.int64)
        key_count = 1
        steps = []
        for name in combinations.columns:
            number_values, size = _build_numbering(combinations[name])
            ranked = None
            if key_count * size >= 1 << 62:
                ranked = np.unique(keys)
                key_count = len(ranked) + 1
            step = _KeyColumn(name, number_values, size, ranked)
            keys = step.pack_key(keys, combinations[name])
            key_count = key_count * size
            steps.append(step)
        if key_count > MAX_DENSE_KEYS:
            return cls(tuple(steps), pl.DataFrame({"key": keys, "cell": cell}))
        table = np.full(key_count, UNKNOWN_CELL, np.int32)
        table[keys] = cell
        return cls(tuple(steps), table)

    def find_cells(self, rows: pl.DataFrame) -> np.ndarray:
        """Find the cell of each row; UNKNOWN_CELL if its combination was not counted."""
        key = np.zeros(len(rows), np.int64)
        for step in self.steps:
            key = step.pack_key(key, rows[step.name])
        if isinstance(self.table, np.ndarray):
            return self.table[key]
        cells = pl.DataFrame({"key": key}).join(self.table, on="key", how="left", maintain_order="left")["cell"]
        return cells.fill_null(UNKNOWN_CELL).to_numpy()


class CellRecount:
    """Counts the rows of each cell again, batch by batch, as they are read to be published."""

    def __init__(self, cells: Cells):
        self.cells = cells
        self.seen = np.zeros(len(cells), np.int64)

    def add(self, cell: np.ndarray) -> None:
        """Count rows in these cells; a row whose combination was not counted is refused at once."""
        if len(cell) and cell.min() <= UNKNOWN_CELL:
            raise make_source_changed_error()
        self.seen += np.bincount(cell, minlength=len(self.seen))

    def finish(self) -> None:
        """Refuse if a cell does not have the rows that were counted."""
        if not np.array_equal(self.seen, self.cells.counts):
            raise make_source_changed_error()


@contextmanager
def translate_reread_errors() -> Iterator[None]:
    """Turn a `SourceError` while rows are read again into one that the source has changed or is gone."""
    try:
        yield
    except SourceError:
        raise make_source_changed_error() from None


@dataclass(frozen=True, eq=False)
class _KeyColumn:
    """One column of the key: how its values are numbered and how many numbers there are.

    `ranked` are the counted packed keys of the columns before it: if the keys themselves would not fit 64 bits, their
    ranks are packed instead.
    """

    name: str
    number_values: Numbering
    size: int
    ranked: np.ndarray | None

    def pack_key(self, key: np.ndarray, values: pl.Series) -> np.ndarray:
        if self.ranked is not None:
            key = _rank_keys(self.ranked, key)
        return key * self.size + self.number_values(values)


def _build_numbering(counted: pl.Series) -> tuple[Numbering, int]:
    """Return how values are numbered, and how many numbers there are: null is the last but one, an uncounted value the last."""
    dtype = counted.dtype
    if is_text(dtype) or dtype == pl.Boolean:
        return _number_directly(counted, _to_category_numbers)
    if dtype.is_integer() and _has_narrow_range(counted):
        lowest = cast("int", counted.min())
        return _number_directly(counted, lambda values: values.cast(pl.Int64) - lowest)
    values = counted.unique().drop_nulls().sort()
    size = len(values)
    numbers = pl.Series(range(len(values)), dtype=pl.UInt32)

    def rank_rows(rows: pl.Series) -> np.ndarray:
        ranks = rows.replace_strict(values, numbers, default=None, return_dtype=pl.UInt32) if size else rows
        missing = rows.is_null()
        return ranks.cast(pl.Int64).fill_null(size + 1).set(missing, size).to_numpy()

    return rank_rows, size + 2


def _rank_keys(known_keys: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the rank of each key among the known ones; an unknown key ranks after all of them."""
    position = np.minimum(np.searchsorted(known_keys, key), max(len(known_keys) - 1, 0))
    return np.where(known_keys[position] == key, position, len(known_keys)) if len(known_keys) else position


def _number_directly(counted: pl.Series, number: Callable[[pl.Series], pl.Series]) -> tuple[Numbering, int]:
    size = cast("int", number(counted).max() or 0) + 1 if len(counted) else 1

    def number_rows(rows: pl.Series) -> np.ndarray:
        numbers = number(rows).cast(pl.Int64).fill_null(size).to_numpy()
        if len(numbers) and (numbers.min() < 0 or numbers.max() > size):
            missing = rows.is_null().to_numpy()
            numbers = np.where(missing, size, np.where((numbers < 0) | (numbers >= size), size + 1, numbers))
        return numbers

    return number_rows, size + 2


def _to_category_numbers(values: pl.Series) -> pl.Series:
    return values.cast(pl.UInt8) if values.dtype == pl.Boolean else values.to_physical()


def _has_narrow_range(series: pl.Series) -> bool:
    """Tell whether there are integers, they lie near each other, and all fit signed 64-bit integers."""
    if len(series) == series.null_count():
        return False
    lowest = cast("int", series.min())
    highest = cast("int", series.max())
    return highest - lowest < MAX_INTEGER_SPREAD and highest < 1 << 63
