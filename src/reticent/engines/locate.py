"""Which cell each row is in: the row's values as small integers, packed into one key, looked up.

Texts are numbered by Polars' categories, whole numbers by their distance from the least, anything else by its rank among the
values that were counted.  A dense table answers where it fits; a join on the packed key where it does not.  What is known of
the counted combinations is prepared once, so that rows can be looked up piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from reticent.table.source import is_text

DENSE = 1 << 26  # keys a dense table may have: 256 MB of 32-bit cells
SPREAD = 1 << 22
NOWHERE = -1
"""The cell of a row whose combination was not counted: the source is not what it was."""

Numbering = Callable[[pl.Series], np.ndarray]


def cells_of_rows(rows: pl.DataFrame, combinations: pl.DataFrame, cell: np.ndarray) -> np.ndarray:
    """The cell of each row, given the counted combinations (same columns) and the cell of each of them."""
    return Locator.of(combinations, cell).cells(rows)


@dataclass(frozen=True, eq=False)
class _Step:
    """One column: how its values are numbered and how many numbers there are.

    `ranked` are the packed keys of the columns before it that were counted: ranks among them are packed on, where the keys
    themselves would not fit 64 bits.
    """

    name: str
    numbered: Numbering
    size: int
    ranked: np.ndarray | None

    def packed(self, key: np.ndarray, values: pl.Series) -> np.ndarray:
        if self.ranked is not None:
            key = _rank(self.ranked, key)
        return key * self.size + self.numbered(values)


@dataclass(frozen=True, eq=False)
class Locator:
    """Looks rows up among counted combinations."""

    steps: tuple[_Step, ...]
    table: np.ndarray | pl.DataFrame

    @classmethod
    def of(cls, combinations: pl.DataFrame, cell: np.ndarray) -> Locator:
        known, room, steps = np.zeros(len(combinations), np.int64), 1, []
        for name in combinations.columns:
            numbered, size = _numbering(combinations[name])
            ranked = None
            if room * size >= 1 << 62:
                ranked = np.unique(known)
                room = len(ranked) + 1
            step = _Step(name, numbered, size, ranked)
            known, room = step.packed(known, combinations[name]), room * size
            steps.append(step)
        if room > DENSE:
            return cls(tuple(steps), pl.DataFrame({"key": known, "cell": cell}))
        table = np.full(room, NOWHERE, np.int32)
        table[known] = cell
        return cls(tuple(steps), table)

    def cells(self, rows: pl.DataFrame) -> np.ndarray:
        """The cell of each row, NOWHERE where its combination was not counted."""
        key = np.zeros(len(rows), np.int64)
        for step in self.steps:
            key = step.packed(key, rows[step.name])
        if isinstance(self.table, np.ndarray):
            return self.table[key]
        found = pl.DataFrame({"key": key}).join(self.table, on="key", how="left", maintain_order="left")["cell"]
        return found.fill_null(NOWHERE).to_numpy()


def _numbering(counted: pl.Series) -> tuple[Numbering, int]:
    """How values are numbered, and how many numbers there are: null is the last but one, a value not counted the last."""
    dtype = counted.dtype
    if is_text(dtype) or dtype == pl.Boolean:
        return _by_number(
            counted, lambda values: values.cast(pl.UInt8) if dtype == pl.Boolean else values.to_physical()
        )
    if dtype.is_integer() and len(counted) > counted.null_count() and _spread(counted) < SPREAD and _signed(counted):
        least = cast("int", counted.min())
        return _by_number(counted, lambda values: values.cast(pl.Int64) - least)
    values = counted.unique().drop_nulls().sort()
    size, numbers = len(values), pl.Series(range(len(values)), dtype=pl.UInt32)

    def ranked(rows: pl.Series) -> np.ndarray:
        found = rows.replace_strict(values, numbers, default=None, return_dtype=pl.UInt32) if size else rows
        missing = rows.is_null()
        return found.cast(pl.Int64).fill_null(size + 1).set(missing, size).to_numpy()

    return ranked, size + 2


def _by_number(counted: pl.Series, number: Callable[[pl.Series], pl.Series]) -> tuple[Numbering, int]:
    size = cast("int", number(counted).max() or 0) + 1 if len(counted) else 1

    def numbered(rows: pl.Series) -> np.ndarray:
        found = number(rows).cast(pl.Int64).fill_null(size).to_numpy()
        if len(found) and (found.min() < 0 or found.max() > size):
            missing = rows.is_null().to_numpy()
            found = np.where(missing, size, np.where((found < 0) | (found >= size), size + 1, found))
        return found

    return numbered, size + 2


def _spread(series: pl.Series) -> int:
    return cast("int", series.max()) - cast("int", series.min())


def _signed(series: pl.Series) -> bool:
    """Whether all of it fits 64 bits with a sign."""
    return cast("int", series.max()) < 1 << 63


def _rank(known: np.ndarray, key: np.ndarray) -> np.ndarray:
    """The rank of each key among the known ones; past all of them for one that is not known."""
    place = np.minimum(np.searchsorted(known, key), max(len(known) - 1, 0))
    return np.where(known[place] == key, place, len(known)) if len(known) else place
