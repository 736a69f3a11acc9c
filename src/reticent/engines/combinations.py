"""The distinct combinations of some columns and how many rows have each, by one number for each row.

Texts are numbered by their categories, whole numbers and dates by how far they are from the least.  Where all possible
combinations are few, beside the rows, a row's numbers are packed into one, and rows are tallied in an array that has a place for
every number: a third of the cost of a group-by.  Rows come a piece at a time; where a piece has numbers beyond those so far, the
array is made anew.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from reticent.kernels.cell_tallies import tally
from reticent.table.source import batches, collect

ROOM = 1 << 24  # possible combinations that are tallied in an array, 8 bytes each
SPARSE = 32  # of them for each row so far, so that a small table needs no large array
PIECE = 1 << 19  # rows looked at together
BLOCK = 1 << 16  # of them packed at once, so that memory is used again and not asked for anew
HELD = 1 << 21  # rows that cannot be tallied, held before all are grouped


class Span(NamedTuple):
    """The numbers of a column: from `low` to `high`, and one more where values are missing."""

    low: int
    high: int
    missing: bool

    @property
    def size(self) -> int:
        return self.high - self.low + 1 + self.missing

    def and_(self, other: Span) -> Span:
        """Both spans, and what lies between."""
        if self.high < self.low or other.high < other.low:  # every value of one is missing
            return (other if self.high < self.low else self)._replace(missing=True)
        return Span(min(self.low, other.low), max(self.high, other.high), self.missing or other.missing)


def combinations(lazy: pl.LazyFrame, name: str, doing: str) -> pl.DataFrame:
    """Every combination of the frame's columns, and in a column `name` how many rows have it."""
    tallies, others = Tallies(), list[pl.DataFrame]()
    for piece in batches(lazy, doing, PIECE):
        if tallies.add(piece):
            continue
        if sum(map(len, others)) + len(piece) > HELD:
            return _grouped(lazy, name, doing)
        others.append(piece)
    others = [piece for piece in others if not tallies.add(piece, again=True)]  # more rows came since
    rest = _grouped(pl.concat(others).lazy(), name, doing) if others else None
    if not tallies.examples:
        return _grouped(lazy, name, doing) if rest is None else rest
    found = tallies.found(name)
    return found if rest is None else _merged(pl.concat([found, rest]), name, doing)


class Tallies:
    """Rows counted so far: how often each number occurs, and a row that has it."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.rows = 0  # that came, counted or not
        self.times = np.zeros(0, np.int64)
        self.examples: list[pl.DataFrame] = []
        self.places: list[np.ndarray] = []

    def add(self, piece: pl.DataFrame, *, again: bool = False) -> bool:
        """Count some rows; False where combinations may be too many, or a column cannot be numbered.

        `again`: they came before, and were not counted.
        """
        self.rows += 0 if again else len(piece)
        stored = [_stored(series) for series in piece.get_columns()]
        if not len(piece) or not all(_numbered(column) for column in stored):
            return False
        spans = [_span(column) for column in stored]
        if self.spans:
            spans = [had.and_(met) for had, met in zip(self.spans, spans, strict=True)]
        room = prod(span.size for span in spans)
        if room > min(ROOM, SPARSE * self.rows) or any(max(abs(span.low), abs(span.high)) >= 1 << 62 for span in spans):
            return False
        if spans != self.spans:
            self._grow(spans, room)
        first, fresh = np.empty(min(room, len(piece)), np.int64), 0
        columns = [_whole(column, span) for column, span in zip(stored, spans, strict=True)]
        word = np.empty(min(BLOCK, len(piece)), np.int64)
        known = []
        for start in range(0, len(piece), BLOCK):
            here = word[: min(BLOCK, len(piece) - start)]
            self._pack([column[start : start + BLOCK] for column in columns], here)
            before, fresh = fresh, tally(here, start, self.times, first, fresh)
            known.append(here[first[before:fresh] - start])
        if fresh:
            self.examples.append(piece[first[:fresh]])
            self.places.append(np.concatenate(known))
        return True

    def found(self, name: str) -> pl.DataFrame:
        """The combinations, and in a column `name` how many rows have each."""
        times = self.times[np.concatenate(self.places)]
        return pl.concat(self.examples).with_columns(pl.Series(name, times).cast(pl.get_index_type()))

    def _grow(self, spans: list[Span], room: int) -> None:
        """The same counts, in an array for other spans."""
        times = self.times[np.concatenate(self.places)] if self.places else None
        self.spans, self.times = spans, np.zeros(room, np.int64)
        if times is None:
            return
        held = pl.concat(self.examples)
        columns = [_whole(_stored(series), span) for series, span in zip(held.get_columns(), spans, strict=True)]
        word = np.empty(len(held), np.int64)
        self._pack(columns, word)
        self.times[word] = times
        self.examples, self.places = [held], [word]

    def _pack(self, columns: list[np.ndarray], word: np.ndarray) -> None:
        """One number for each row, from its number in each column."""
        word[:] = 0
        for column, span in zip(columns, self.spans, strict=True):
            word *= span.size
            word += column
            word -= span.low


def _stored(series: pl.Series) -> pl.Series:
    """The numbers behind a column: of categories, dates and truth values too."""
    return series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()


def _numbered(stored: pl.Series) -> bool:
    return stored.dtype.is_integer() and stored.dtype not in (pl.Int128, pl.UInt128)


def _span(stored: pl.Series) -> Span:
    low: Any = stored.min()  # whole numbers, or None where all are missing
    high: Any = stored.max()
    return Span(0, -1, True) if low is None else Span(low, high, stored.null_count() > 0)


def _whole(stored: pl.Series, span: Span) -> np.ndarray:
    """Every row's number; the one after the greatest where its value is missing."""
    if stored.null_count() or stored.dtype == pl.UInt64:
        stored = stored.cast(pl.Int64).fill_null(span.high + 1)
    return stored.to_numpy()


def _grouped(lazy: pl.LazyFrame, name: str, doing: str) -> pl.DataFrame:
    return collect(lazy.group_by(lazy.collect_schema().names()).len(name=name), doing, engine="streaming")


def _merged(tallies: pl.DataFrame, name: str, doing: str) -> pl.DataFrame:
    keys = [key for key in tallies.columns if key != name]
    return collect(tallies.lazy().group_by(keys).agg(pl.col(name).sum()), doing)
