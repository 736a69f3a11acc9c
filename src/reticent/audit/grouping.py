"""The groups of a published table: rows whose labels are equal in every quasi-identifying column.

Each column is numbered by its distinct values, the numbers of a row are packed into one word, and one sort of the words
gives groups and counts at once.  Labels are compared as texts; nothing is known of what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

import numpy as np
import polars as pl

from reticent.audit.measure.counts import Counts

_WORD = 1 << 62
_DENSE = 1 << 21  # words up to here are marked in an array, larger ones sorted
_PIECE = 1 << 18  # rows looked up together: fresh memory for all of them costs more than looking up


@dataclass(frozen=True, eq=False)
class Numbered:
    """A column as numbers: `distinct[code]` is its value; a null is a value like another."""

    codes: np.ndarray
    distinct: pl.Series

    def __len__(self) -> int:
        return len(self.distinct)

    def times(self, of_row: np.ndarray | None = None) -> np.ndarray:
        """How many rows hold each value, where each row stands for `of_row` published ones."""
        return np.bincount(self.codes, weights=of_row, minlength=len(self)).astype(np.int64)


def number(series: pl.Series) -> Numbered:
    """Number the distinct values of a column."""
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    keys = series.cast(pl.Categorical).to_physical() if series.dtype == pl.String else _integers(series)
    top = cast("int", keys.max() or 0)
    if keys.null_count():
        top += 1
        keys = keys.fill_null(top)
    raw = keys.to_numpy()
    if top > 8 * len(raw) + 1024:
        _, first, codes = np.unique(raw, return_index=True, return_inverse=True)
        return Numbered(codes.astype(np.int32), series.gather(first))
    where = np.full(top + 1, -1, np.int64)
    for start in range(0, len(raw), _PIECE):
        piece = raw[start : start + _PIECE]
        where[piece] = np.arange(start, start + len(piece))
    used = np.flatnonzero(where >= 0)
    rank = np.zeros(top + 1, np.int32)
    rank[used] = np.arange(len(used))
    return Numbered(looked_up(rank, raw), series.gather(where[used]))


def looked_up(table: np.ndarray, index: np.ndarray) -> np.ndarray:
    """`table[index]`, a piece at a time."""
    found = np.empty(len(index), table.dtype)
    for start in range(0, len(index), _PIECE):
        found[start : start + _PIECE] = table[index[start : start + _PIECE]]
    return found


def _integers(series: pl.Series) -> pl.Series:
    """Non-negative integers, equal where the values are."""
    if series.dtype == pl.Null:
        return pl.Series(series.name, [None] * len(series), dtype=pl.UInt32)
    physical = series.to_physical()
    if physical.dtype == pl.Boolean:
        return physical.cast(pl.UInt32)
    if physical.dtype.is_integer():
        low, high = cast("tuple[int | None, int | None]", (physical.min(), physical.max()))
        if low is None or high is None:
            return pl.Series(series.name, [None] * len(series), dtype=pl.UInt32)
        if low >= 0 and high < len(series):
            return physical.cast(pl.UInt32)
        if low > -_WORD and high < _WORD:
            return physical.cast(pl.Int64) - low
    return series.rank("dense").cast(pl.Int64)


def pack(columns: Sequence[Numbered], rows: int) -> np.ndarray:
    """One number for each combination, in the order of the columns' codes."""
    word, room = np.zeros(rows, np.int64), 1
    for column in columns:
        if room * len(column) > _WORD:
            distinct, word = np.unique(word, return_inverse=True)
            room = len(distinct)
        word *= len(column)
        word += column.codes
        room *= len(column)
    return word


def enumerated(words: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct of some words below `room` in order, and the place of each word among them."""
    if room > _DENSE:
        distinct, place = np.unique(words, return_inverse=True)
        return distinct, place.reshape(-1)
    occurs = np.zeros(room, bool)
    occurs[words] = True
    place = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), looked_up(place, words)


def combined(columns: Sequence[Numbered], rows: int) -> tuple[int, np.ndarray]:
    """How many combinations occur, and the number of each row's among them, in the order of the columns' codes."""
    word, room = np.zeros(rows, np.int64), 1
    for column in columns:
        wide = room * len(column)
        if wide > _WORD or room <= _DENSE < wide:  # those that do not occur are left out while that is cheap
            distinct, word = enumerated(word, room)
            room = len(distinct)
        word *= len(column)
        word += column.codes
        room *= len(column)
    distinct, word = enumerated(word, room)
    return len(distinct), word


def unpack(words: np.ndarray, columns: Sequence[Numbered]) -> np.ndarray:
    """The codes of packed combinations, where all columns fitted one word."""
    codes = np.empty((len(words), len(columns)), np.int64)
    for at in reversed(range(len(columns))):
        words, codes[:, at] = np.divmod(words, len(columns[at]))
    return codes


@dataclass(frozen=True, eq=False)
class PublishedGroups:
    """PublishedGroups in order of their words: `labels[group, column]` numbers its labels."""

    word: np.ndarray  # of each row
    sizes: np.ndarray
    labels: np.ndarray
    times: np.ndarray | None = None  # how many published rows each row stands for; one where None

    def __len__(self) -> int:
        return len(self.sizes)

    def counts(self, values: Numbered) -> Counts:
        """How many rows of each group hold each value."""
        word, m = self.word, len(values)
        if len(word) and (int(word.max()) + 1) * m > _WORD:
            word = np.unique(word, return_inverse=True)[1]
        both = word * m
        both += values.codes
        both, count = _tally(both, self.times)
        group = np.cumsum(np.diff(both // m, prepend=-1) != 0) - 1
        return Counts(group, both % m, count, values.times(self.times))


def _tally(words: np.ndarray, times: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The distinct words in order, and how many rows have each."""
    if times is None:
        distinct, count = np.unique(words, return_counts=True)
        return distinct, count.astype(np.int64)
    distinct, which = np.unique(words, return_inverse=True)
    return distinct, np.bincount(which, weights=times, minlength=len(distinct)).astype(np.int64)


def group(columns: Sequence[Numbered], rows: int, times: np.ndarray | None = None) -> PublishedGroups:
    word = pack(columns, rows)
    distinct, sizes = _tally(word, times)
    if prod(len(column) for column in columns) <= _WORD:
        labels = unpack(distinct, columns)
    else:
        row = np.empty(len(distinct), np.int64)
        row[np.searchsorted(distinct, word)] = np.arange(rows)
        labels = np.column_stack([column.codes[row] for column in columns])
    return PublishedGroups(word, sizes, labels, times)
