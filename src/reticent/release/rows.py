"""Rows that are not spelled out yet: a column's distinct values, which of them each entry shows, and the entry of each row.

A release of five million rows has a few thousand different labels.  Rows are spelled out a piece at a time as they are
written, so that memory holds one number per row and not its texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

PIECE = 1 << 18


@dataclass(frozen=True, eq=False)
class Coded:
    """`values[of_entry[e]]` is what entry e shows in this column; no value is listed that no row shows."""

    values: pl.Series
    of_entry: np.ndarray

    @classmethod
    def of(cls, values: pl.Series, of_entry: np.ndarray, shown: np.ndarray) -> Coded:
        """With the values cut down to those that the entries `shown` use."""
        used = np.zeros(len(values), bool)
        used[of_entry[shown]] = True
        number = np.cumsum(used, dtype=np.int32) - 1
        return cls(values.filter(pl.Series(used)), np.maximum(number[of_entry], 0))


@dataclass(frozen=True, eq=False)
class Rows:
    """One published file: its columns in order, coded or carried, and the entry of each row."""

    columns: Mapping[str, Coded | pl.Series]
    entry: np.ndarray

    def __len__(self) -> int:
        return len(self.entry)

    def frame(self, start: int = 0, stop: int | None = None) -> pl.DataFrame:
        entry = self.entry[start:stop]
        return pl.DataFrame(
            {
                name: column.values.gather(column.of_entry[entry]) if isinstance(column, Coded) else column[start:stop]
                for name, column in self.columns.items()
            }
        )

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Where each piece starts and stops; an empty table is one empty piece."""
        for start in range(0, max(len(self), 1), PIECE):
            yield start, min(start + PIECE, len(self))
