"""Writing a release's data files, a piece at a time.

Strings are written plain, with no categories, index or schema that could hold values of rows that were removed.  In Parquet a
text column's pages are numbered by a dictionary of the published values: what a writer would do anyway, without hashing each row.
Other columns of few values are numbered by the writer; whole numbers that are known to ascend are written by their differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import polars as pl

from reticent.release.formulas import any_formula, quoted
from reticent.release.rows import PIECE, Beside, Coded, Columns, Numbers, Piece, Rows

FEW = 1 << 12  # values that a page's dictionary may have


def write_data(path: Path, rows: Rows | pl.DataFrame, format: str, *, quote: bool = False) -> bool:
    """Whether a text of a CSV looks like a formula; in Parquet nobody takes one for it."""
    if format == "parquet":
        whole = Rows.of_frame(rows) if isinstance(rows, pl.DataFrame) else rows
        write_parquet(path, whole.columns, whole.pieces)
        return False
    with open(path, "wb") as handle:
        return write_csv(handle, rows, quote=quote)


def write_csv(handle: IO[bytes], rows: Rows | pl.DataFrame, *, quote: bool = False) -> bool:
    """The one way that rows are written as CSV: the same rows give the same bytes; formulas quoted where that is asked.

    Returns whether a text or a name looks like a formula.
    """
    rows = Rows.of_frame(rows) if isinstance(rows, pl.DataFrame) else rows
    found, header = any_formula(_listed(rows.columns)), True
    beside = [name for name, column in rows.columns.items() if isinstance(column, Beside)]
    for piece in rows.pieces:
        frame = rows.spelled(piece)
        found = found or any_formula(frame[name] for name in beside)
        (quoted(frame) if quote else frame).write_csv(handle, include_header=header)
        header = False
    return found


def _listed(columns: Columns) -> list[pl.Series]:
    """The texts that are known before any row is: names, and the values of coded columns."""
    return [
        (column.values if isinstance(column, Coded) else pl.Series(dtype=pl.Int32)).alias(name)
        for name, column in columns.items()
    ]


def write_parquet(path: Path, columns: Columns, pieces: Iterable[Piece]) -> None:
    """One file, a row group for every PIECE of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known = {name: _Column(name, column) for name, column in columns.items()}
    schema = pa.schema([pa.field(name, column.type, nullable=column.nulls) for name, column in known.items()])
    coded = [name for name, column in known.items() if column.by_number or column.few]
    differences = {name: "DELTA_BINARY_PACKED" for name, column in known.items() if column.ascending}
    with pq.ParquetWriter(
        path, schema, compression="lz4", use_dictionary=coded or False, column_encoding=differences or None,
        write_statistics=False, store_schema=False,
    ) as out:  # fmt: skip
        tables = (
            pa.Table.from_arrays([column.take(piece) for column in known.values()], schema=schema) for piece in pieces
        )
        for group in _even(tables):
            out.write_table(group)


def _even(tables: Iterable[Any]) -> Iterator[Any]:
    """Tables of PIECE rows each, the last one of what is left: how rows came in says nothing about where groups end."""
    import pyarrow as pa

    held: list[Any] = []
    rows, begun = 0, False
    for table in tables:
        held.append(table)
        rows += len(table)
        if rows >= PIECE:
            whole = pa.concat_tables(held) if len(held) > 1 else table
            for start in range(0, rows - PIECE + 1, PIECE):
                yield whole.slice(start, PIECE)
            rest = rows % PIECE
            held, rows, begun = [whole.slice(rows - rest)] if rest else [], rest, True
    if held and (rows or not begun):
        yield pa.concat_tables(held)


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
        # from_buffers, because pa.array looks for pandas and would load it
        numbers = pa.Array.from_buffers(pa.int32(), len(stored), [None, pa.py_buffer(stored)])
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
