"""Writing a release's data files, a piece at a time.

Strings are written plain, with no categories, index or schema that could hold values of rows that were removed.  In Parquet a
text column's pages are numbered by a dictionary of the published values: what a writer would do anyway, without hashing each row.
Other columns of few values are numbered by the writer; whole numbers that are known to ascend are written by their differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from reticent.release.formulas import any_formula, quoted
from reticent.release.row_groups import even
from reticent.release.rows import Beside, Coded, Columns, Numbers, Piece, Rows

FEW = 1 << 12  # values that a page's dictionary may have


def write_data(path: Path, rows: Rows | pl.DataFrame, format: str, *, quote: bool = False) -> bool:
    """Whether a text of a CSV looks like a formula; in Parquet nobody takes one for it."""
    if format == "parquet":
        whole = Rows.of_frame(rows) if isinstance(rows, pl.DataFrame) else rows
        write_parquet(path, whole.columns, whole.pieces)
        return False
    with open(path, "wb") as handle:
        return write_csv(handle, rows, quote=quote)


def write_parts(
    paths: Sequence[Path], rows: Rows | pl.DataFrame, format: str, part_rows: int, *, quote: bool = False
) -> bool:
    """The same into several files, so many rows each and what is left into the last."""
    whole = Rows.of_frame(rows) if isinstance(rows, pl.DataFrame) else rows
    many = [*[part_rows] * (len(paths) - 1), None]
    if format == "parquet":
        tables = _Tables(whole.columns)
        cut = _Cut(tables.of(whole.pieces))
        for path, some in zip(paths, many, strict=True):
            tables.write(path, map(_alone, even(cut.take(some), tables.schema)))
        return False
    found = any_formula(_listed(whole.columns))
    frames = _Cut(whole.spelled(piece) for piece in whole.pieces)
    for path, some in zip(paths, many, strict=True):
        with open(path, "wb") as handle:
            found = _write_frames(handle, frames.take(some), _beside(whole.columns), found, quote=quote)
    return found


def write_csv(handle: IO[bytes], rows: Rows | pl.DataFrame, *, quote: bool = False) -> bool:
    """The one way that rows are written as CSV: the same rows give the same bytes; formulas quoted where that is asked.

    Returns whether a text or a name looks like a formula.
    """
    rows = Rows.of_frame(rows) if isinstance(rows, pl.DataFrame) else rows
    frames = (rows.spelled(piece) for piece in rows.pieces)
    return _write_frames(handle, frames, _beside(rows.columns), any_formula(_listed(rows.columns)), quote=quote)


def _write_frames(
    handle: IO[bytes], frames: Iterable[pl.DataFrame], beside: Sequence[str], found: bool, *, quote: bool
) -> bool:
    """Whether a formula was `found` before, or is in one of the columns `beside`."""
    header = True
    for frame in frames:
        found = found or any_formula(frame[name] for name in beside)
        (quoted(frame) if quote else frame).write_csv(handle, include_header=header)
        header = False
    return found


def _beside(columns: Columns) -> list[str]:
    return [name for name, column in columns.items() if isinstance(column, Beside)]


def _listed(columns: Columns) -> list[pl.Series]:
    """The texts that are known before any row is: names, and the values of coded columns."""
    return [
        (column.values if isinstance(column, Coded) else pl.Series(dtype=pl.Int32)).alias(name)
        for name, column in columns.items()
    ]


def write_parquet(path: Path, columns: Columns, pieces: Iterable[Piece]) -> None:
    """One file, a row group for every PIECE of rows, or of fewer where they are wide."""
    tables = _Tables(columns)
    tables.write(path, even(tables.of(pieces), tables.schema))


class _Tables:
    """Rows as Arrow tables, and how they are written."""

    def __init__(self, columns: Columns):
        import pyarrow as pa

        self.columns = {name: _Column(name, column) for name, column in columns.items()}
        fields = [pa.field(name, column.type, nullable=column.nulls) for name, column in self.columns.items()]
        self.schema = pa.schema(fields)

    def of(self, pieces: Iterable[Piece]) -> Iterator[Any]:
        import pyarrow as pa

        for piece in pieces:
            yield pa.Table.from_arrays([column.take(piece) for column in self.columns.values()], schema=self.schema)

    def write(self, path: Path, groups: Iterable[Any]) -> None:
        import pyarrow.parquet as pq

        coded = [name for name, column in self.columns.items() if column.by_number or column.few]
        differences = {name: "DELTA_BINARY_PACKED" for name, column in self.columns.items() if column.ascending}
        with pq.ParquetWriter(
            path, self.schema, compression="lz4", use_dictionary=coded or False, column_encoding=differences or None,
            write_statistics=False, store_schema=False,
        ) as out:  # fmt: skip
            for group in groups:
                out.write_table(group)
                del group  # before the next is made


class _Cut:
    """Tables, or frames, cut where so many rows are taken of them; what was taken is not kept."""

    def __init__(self, tables: Iterable[Any]):
        self._tables, self._rest = iter(tables), None

    def take(self, rows: int | None) -> Iterator[Any]:
        """The next so many rows; all that are left where None is asked."""
        while rows is None or rows:
            table = next(self._tables, None) if self._rest is None else self._rest
            if table is None:
                return
            self._rest = None
            if rows is not None:
                if len(table) > rows:
                    table, self._rest = table.slice(0, rows), table.slice(rows)
                rows -= len(table)
            if len(table):
                yield table


def _alone(group: Any) -> Any:
    """A row group whose dictionaries list its own values alone: a part of few rows repeats nothing of the others."""
    import pyarrow as pa

    columns = []
    for column in group.columns:
        whole = column.combine_chunks()
        if pa.types.is_dictionary(column.type):
            used, codes = _used(whole.indices, len(whole.dictionary))
            whole = pa.DictionaryArray.from_arrays(_int32(codes), whole.dictionary.take(_int32(used)))
        columns.append(whole)
    return pa.Table.from_arrays(columns, schema=group.schema)


def _used(indices: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of `size` numbers occur, and the place of each row's number among them."""
    stored = np.frombuffer(indices.buffers()[1], np.int32)  # not by to_numpy: it would load pandas
    stored = stored[indices.offset : indices.offset + len(indices)]
    if size > 4 * len(stored):
        return np.unique(stored, return_inverse=True)
    occurs = np.zeros(size, bool)
    occurs[stored] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[stored]


def _int32(numbers: np.ndarray) -> Any:
    """Numbers as Arrow has them: from_buffers, because pa.array looks for pandas and would load it."""
    import pyarrow as pa

    stored = np.ascontiguousarray(numbers, np.int32)
    return pa.Array.from_buffers(pa.int32(), len(stored), [None, pa.py_buffer(stored)])


class _Column:
    """A column as Arrow: texts by number, everything else spelled out."""

    def __init__(self, name: str, column: Coded | Numbers | Beside):
        import pyarrow as pa

        self.name, self.column = name, column
        self.values = _arrow(_example(column))
        coded = isinstance(column, Coded)
        self.nulls = column.nulls if isinstance(column, Beside) else bool(self.values.null_count)
        self.ascending = isinstance(column, Numbers) or (isinstance(column, Beside) and column.ascending)
        # of a column that stands beside, the writer finds out: it gives a page's dictionary up where that grows too long.
        # Not of fractions: they are seldom few, and a dictionary may hold several that are not a number
        self.few = (
            len(self.values) <= FEW if coded else not self.ascending and not pa.types.is_floating(self.values.type)
        )
        self.by_number = coded and pa.types.is_string(self.values.type) and not self.nulls
        self.type = pa.dictionary(pa.int32(), pa.string()) if self.by_number else self.values.type

    def take(self, piece: Piece) -> Any:
        import pyarrow as pa

        if isinstance(self.column, Beside):
            return _arrow(piece.beside(self.name))
        coded = isinstance(self.column, Coded)
        stored = piece.codes(self.column) if isinstance(self.column, Coded) else piece.numbers(self.column)
        numbers = _int32(stored)
        if self.by_number:
            return pa.DictionaryArray.from_arrays(numbers, self.values)
        return self.values.take(numbers) if coded else numbers


def _example(column: Coded | Numbers | Beside) -> pl.Series:
    """The values of a coded column, or an empty series of the column's type."""
    if isinstance(column, Coded):
        return column.values
    return pl.Series(dtype=pl.Int32 if isinstance(column, Numbers) else column.dtype)


def _arrow(series: pl.Series) -> Any:
    import pyarrow as pa

    array = series.to_arrow()
    return (
        array.cast(pa.string())
        if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type)
        else array
    )
