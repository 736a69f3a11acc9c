"""Which cell each row is in: the row's values as small integers, packed into one key, looked up.

Texts are numbered by Polars' categories, whole numbers by their distance from the least, anything else by its rank among the
values that were counted.  A dense table answers where it fits; a join on the packed key where it does not.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import polars as pl

from reticent.table.source import is_text

DENSE = 1 << 26  # keys a dense table may have: 256 MB of 32-bit cells
SPREAD = 1 << 22


def cells_of_rows(rows: pl.DataFrame, combinations: pl.DataFrame, cell: np.ndarray) -> np.ndarray:
    """The cell of each row, given the counted combinations (same columns) and the cell of each of them."""
    key = np.zeros(len(rows), np.int64)
    known = np.zeros(len(combinations), np.int64)
    room = 1
    for name in combinations.columns:
        here, there, size = _numbered(rows[name], combinations[name])
        if room * size >= 1 << 62:
            key, known, room = _renumbered(key, known)
        key, known, room = key * size + here, known * size + there, room * size
    if room <= DENSE:
        table = np.zeros(room, np.int32)
        table[known] = cell
        return table[key]
    mapping = pl.DataFrame({"key": known, "cell": cell})
    return pl.DataFrame({"key": key}).join(mapping, on="key", how="left", maintain_order="left")["cell"].to_numpy()


def _numbered(rows: pl.Series, counted: pl.Series) -> tuple[np.ndarray, np.ndarray, int]:
    """Both series as the same small integers, null last, and how many there are."""
    dtype = counted.dtype
    if is_text(dtype) or dtype == pl.Boolean:
        here, there = (s.cast(pl.UInt8) if dtype == pl.Boolean else s.to_physical() for s in (rows, counted))
    elif dtype.is_integer() and len(counted) > counted.null_count() and _spread(counted) < SPREAD and _signed(counted):
        least = cast("int", counted.min())
        here, there = (s.cast(pl.Int64) - least for s in (rows, counted))
    else:
        values = counted.unique().drop_nulls().sort()
        numbers = pl.Series(range(len(values)), dtype=pl.UInt32)
        here, there = (s.replace_strict(values, numbers, default=None, return_dtype=pl.UInt32) for s in (rows, counted))
    size = cast("int", there.max() or 0) + 1 if len(there) else 1
    return here.fill_null(size).to_numpy().astype(np.int64), there.fill_null(size).to_numpy().astype(np.int64), size + 1


def _spread(series: pl.Series) -> int:
    return cast("int", series.max()) - cast("int", series.min())


def _signed(series: pl.Series) -> bool:
    """Whether all of it fits 64 bits with a sign."""
    return cast("int", series.max()) < 1 << 63


def _renumbered(key: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Packed keys by their rank among the counted ones, where another column would not fit 64 bits."""
    distinct = np.unique(known)
    return np.searchsorted(distinct, key), np.searchsorted(distinct, known), len(distinct)
