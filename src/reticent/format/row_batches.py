"""Published rows before they are materialized: distinct values of columns, values of entries, entries of rows.

A release of five million rows has a few thousand different labels. Rows come in batches and are materialized as they
are written, so that memory holds one batch; an engine that has all rows in memory holds one number per row and not
its texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import polars as pl

BATCH_ROWS = 1 << 19  # rows; a piece is a row group of a Parquet file


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A dictionary-encoded column: `values[of_entry[e]]` is the value of entry e; every listed value is in some row.

    If `of_entry` is shorter than the recipe (it is by cell, whatever the cell's entries), `by` is the index in it of
    each entry. If there is no recipe of all rows, `beside` names the column of codes in each batch.
    """

    values: pl.Series
    of_entry: np.ndarray
    by: np.ndarray | None = None
    beside: str | None = None

    @classmethod
    def from_entries(
        cls, values: pl.Series, of_entry: np.ndarray, used_entries: np.ndarray, by: np.ndarray | None = None
    ) -> CodedColumn:
        """Make a column with the values cut down to those that the indexes `shown` of `of_entry` use."""
        is_used = np.zeros(len(values), bool)
        is_used[of_entry[used_entries]] = True
        number = np.cumsum(is_used, dtype=np.int32) - 1
        return cls(values.filter(pl.Series(is_used)), np.maximum(number[of_entry], 0), by)


@dataclass(frozen=True, eq=False)
class LookupColumn:
    """A dictionary-encoded column whose dictionary is not in memory.

    Each batch carries codes in its column `beside`, and `texts` looks up those of some codes, in their order.
    """

    texts: Callable[[np.ndarray], pl.Series]
    beside: str
    nulls: bool


@dataclass(frozen=True, eq=False)
class AscendingColumn:
    """32-bit integers that are known to ascend from row to row: the number of each entry's group."""

    of_entry: np.ndarray


@dataclass(frozen=True, slots=True)
class BatchColumn:
    """A column whose values are in each batch. `nulls` is whether any may be missing."""

    dtype: pl.DataType
    nulls: bool = True
    ascending: bool = False  # known to ascend from row to row


OutputColumn = CodedColumn | LookupColumn | AscendingColumn | BatchColumn
OutputColumns = Mapping[str, OutputColumn]


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Some rows: the entry of each, and the columns that the batch carries."""

    entry: np.ndarray | slice
    carried: pl.DataFrame | None = None
    _through: dict[int, np.ndarray] = field(default_factory=dict, repr=False)

    def codes(self, column: CodedColumn) -> np.ndarray:
        """Return the code of each row in a column."""
        if column.beside is not None:
            return self.get_carried_column(column.beside).to_numpy()
        if column.by is None:
            return column.of_entry[self.entry]
        if id(column.by) not in self._through:  # several columns are looked up by the same
            self._through[id(column.by)] = column.by[self.entry]
        return column.of_entry[self._through[id(column.by)]]

    def numbers(self, column: AscendingColumn) -> np.ndarray:
        return column.of_entry[self.entry].astype(np.int32, copy=False)

    def get_carried_column(self, name: str) -> pl.Series:
        assert self.carried is not None, "a column stands beside entries that have none"
        return self.carried[name]


class RowBatches(Protocol):
    """Published rows from an engine, in the order in which they are written; iterated once."""

    @property
    def rows(self) -> int: ...

    @property
    def beside(self) -> Mapping[str, BatchColumn]:
        """The columns that each batch carries beside the entries."""

    def __iter__(self) -> Iterator[RowBatch]: ...


@dataclass(frozen=True, eq=False)
class InMemoryRows:
    """All rows in memory: the entry of each (or a slice of all entries), and the carried columns."""

    entry: np.ndarray | slice
    rows: int
    carried: pl.DataFrame | None = None
    batch_rows: int = BATCH_ROWS

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, entry: np.ndarray | slice = slice(None)) -> InMemoryRows:
        return cls(entry, len(frame), frame)

    @property
    def beside(self) -> dict[str, BatchColumn]:
        columns = [] if self.carried is None else self.carried.get_columns()
        return {
            column.name: BatchColumn(
                column.dtype, column.null_count() > 0, column.dtype.is_integer() and column.flags["SORTED_ASC"]
            )
            for column in columns
        }

    def __iter__(self) -> Iterator[RowBatch]:
        """Yield the batches; an empty table is one empty batch."""
        for start in range(0, max(self.rows, 1), self.batch_rows):
            block = slice(start, min(start + self.batch_rows, self.rows))
            entry = block if isinstance(self.entry, slice) else self.entry[block]
            yield RowBatch(entry, None if self.carried is None else self.carried[block])


@dataclass(frozen=True, eq=False)
class FileRows:
    """One published file: its columns in order, and its rows in batches."""

    columns: OutputColumns
    pieces: RowBatches

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> FileRows:
        pieces = InMemoryRows.from_frame(frame)
        return cls(pieces.beside, pieces)

    def __len__(self) -> int:
        return self.pieces.rows

    def spell_out(self, piece: RowBatch) -> pl.DataFrame:
        return pl.DataFrame({name: _spell_out_column(piece, name, column) for name, column in self.columns.items()})

    def frame(self) -> pl.DataFrame:
        """Materialize all rows."""
        return pl.concat([self.spell_out(piece) for piece in self.pieces])


def _spell_out_column(piece: RowBatch, name: str, column: OutputColumn) -> pl.Series:
    if isinstance(column, LookupColumn):
        used, codes = np.unique(piece.get_carried_column(column.beside).to_numpy(), return_inverse=True)
        return column.texts(used).gather(codes).alias(name)
    if isinstance(column, CodedColumn):
        return column.values.gather(piece.codes(column)).alias(name)
    return (
        pl.Series(name, piece.numbers(column))
        if isinstance(column, AscendingColumn)
        else piece.get_carried_column(name)
    )
