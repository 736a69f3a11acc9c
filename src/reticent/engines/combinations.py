"""The distinct combinations of some columns and how many rows have each, by one number for each row.

Texts are numbered by their categories, whole numbers and dates by how far they are from the least.  Where all possible
combinations are few, a row's numbers are packed into one, and the rows are tallied in an array: a third of the cost of
a group-by.  Rows come a piece at a time, and the tallies of pieces are merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from reticent.table.source import batches, collect

ROOM = 1 << 21  # possible combinations that are tallied in an array
PIECE = 1 << 19  # rows looked at together
BLOCK = 1 << 16  # of them packed at once, so that memory is used again and not asked for anew
HELD = 1 << 21  # combinations held before they are merged, and rows that cannot be tallied


class Numbers(NamedTuple):
    """A column by number: `stored` with nulls as `high + 1`, from `low` on; `size` numbers may occur."""

    stored: np.ndarray
    low: int
    size: int


def combinations(lazy: pl.LazyFrame, name: str, doing: str) -> pl.DataFrame:
    """Every combination of the frame's columns, and in a column `name` how many rows have it."""
    tallies: list[pl.DataFrame] = []
    others: list[pl.DataFrame] = []
    most = HELD
    for piece in batches(lazy, doing, PIECE):
        tally = _tallied(piece, name)
        if tally is not None:
            tallies.append(tally)
            if sum(map(len, tallies)) > most:
                tallies = [_merged(pl.concat(tallies), name, doing)]
                most = max(HELD, 2 * len(tallies[0]))
        elif sum(map(len, others)) + len(piece) > HELD:
            return _grouped(lazy, name, doing)
        else:
            others.append(piece)
    if not tallies:
        return _grouped(pl.concat(others).lazy() if others else lazy, name, doing)
    if others:
        tallies.append(_grouped(pl.concat(others).lazy(), name, doing))
    return tallies[0] if len(tallies) == 1 else _merged(pl.concat(tallies), name, doing)


def _grouped(lazy: pl.LazyFrame, name: str, doing: str) -> pl.DataFrame:
    return collect(lazy.group_by(lazy.collect_schema().names()).len(name=name), doing, engine="streaming")


def _merged(tallies: pl.DataFrame, name: str, doing: str) -> pl.DataFrame:
    keys = [key for key in tallies.columns if key != name]
    return collect(tallies.lazy().group_by(keys).agg(pl.col(name).sum()), doing)


def _tallied(piece: pl.DataFrame, name: str) -> pl.DataFrame | None:
    """The combinations of some rows; None where they may be too many, or a column cannot be numbered."""
    columns = list(_numbers(piece))
    if not len(piece) or len(columns) < piece.width:
        return None
    room = prod(column.size for column in columns)
    times, example = np.zeros(room, np.int64), np.zeros(room, np.int64)  # and a row that has the combination
    block = max(room, BLOCK)
    words = np.empty(min(block, len(piece)), np.int64)
    for start in range(0, len(piece), block):
        here = slice(start, min(start + block, len(piece)))
        word = words[: here.stop - start]
        word[:] = 0
        for column in columns:
            word *= column.size
            word += column.stored[here]
            word -= column.low
        tally = np.bincount(word)
        times[: len(tally)] += tally
        example[word] = np.arange(start, here.stop)
    held = np.flatnonzero(times)
    return piece[example[held]].with_columns(pl.Series(name, times[held]).cast(pl.get_index_type()))


def _numbers(piece: pl.DataFrame) -> Iterator[Numbers]:
    """The columns by number, as far as they can be."""
    room = 1
    for series in piece.get_columns():
        stored = series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()
        if not stored.dtype.is_integer() or stored.dtype in (pl.Int128, pl.UInt128):
            return
        low: Any = stored.min()  # whole numbers, or None where all are missing
        high: Any = stored.max()
        low, high = (0, -1) if low is None else (low, high)
        missing = stored.null_count() > 0
        size = high - low + 1 + missing
        room *= max(size, 1)
        if room > ROOM or max(abs(low), abs(high)) >= 1 << 62:
            return
        if missing or stored.dtype == pl.UInt64:
            stored = stored.cast(pl.Int64).fill_null(high + 1)
        yield Numbers(stored.to_numpy(), low, size)
