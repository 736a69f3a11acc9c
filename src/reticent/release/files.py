"""Writing a release's data files, a piece at a time.

Strings are written plain, with no categories, index or schema that could hold values of rows that were removed.  In Parquet a
text column's pages are numbered by a dictionary of the published values: what a writer would do anyway, without hashing each row.
Other columns of few values are numbered by the writer; whole numbers that are known to ascend are written by their differences.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from reticent.release.formulas import quoted
from reticent.release.rows import Coded, Rows

ROW_GROUP = 2  # pieces in one row group of a Parquet file
FEW = 1 << 12  # values that a page's dictionary may have


def write_data(path: Path, rows: Rows | pl.DataFrame, format: str, *, quote: bool = False) -> None:
    if isinstance(rows, pl.DataFrame):
        rows = Rows(dict(zip(rows.columns, rows.get_columns(), strict=True)), np.zeros(len(rows), np.int32))
    if format == "parquet":
        _write_parquet(path, rows)
    else:
        with open(path, "wb") as handle:
            write_csv(handle, rows, quote=quote)


def write_csv(handle: IO[bytes], rows: Rows | pl.DataFrame, *, quote: bool = False) -> None:
    """The one way that rows are written as CSV: the same rows give the same bytes; formulas quoted where that is asked."""
    pieces = [(0, len(rows))] if isinstance(rows, pl.DataFrame) else rows.pieces()
    for start, stop in pieces:
        frame = rows if isinstance(rows, pl.DataFrame) else rows.frame(start, stop)
        (quoted(frame) if quote else frame).write_csv(handle, include_header=start == 0)


def _write_parquet(path: Path, rows: Rows) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: _Column(column) for name, column in rows.columns.items()}
    schema = pa.schema([pa.field(name, column.type, nullable=column.nulls) for name, column in columns.items()])
    coded = [name for name, column in columns.items() if column.by_number or column.few]
    differences = {name: "DELTA_BINARY_PACKED" for name, column in columns.items() if column.ascending}
    with pq.ParquetWriter(
        path, schema, compression="lz4", use_dictionary=coded or False, column_encoding=differences or None,
        write_statistics=False, store_schema=False,
    ) as out:  # fmt: skip
        pieces = list(rows.pieces())
        for at in range(0, len(pieces), ROW_GROUP):
            start, stop = pieces[at][0], pieces[at : at + ROW_GROUP][-1][1]
            entry = rows.entry[start:stop]
            arrays = [column.take(entry, start, stop) for column in columns.values()]
            out.write_table(pa.Table.from_arrays(arrays, schema=schema))


class _Column:
    """A column as Arrow: texts by number, everything else spelled out."""

    def __init__(self, column: Coded | pl.Series):
        import pyarrow as pa

        self.column = column
        values = _arrow(column.values if isinstance(column, Coded) else column[:0])
        self.nulls = bool((column.values if isinstance(column, Coded) else column).null_count())
        self.few = isinstance(column, Coded) and len(column.values) <= FEW
        self.ascending = isinstance(column, pl.Series) and column.dtype.is_integer() and column.flags["SORTED_ASC"]
        self.by_number = isinstance(column, Coded) and pa.types.is_string(values.type) and not self.nulls
        self.type = pa.dictionary(pa.int32(), pa.string()) if self.by_number else values.type
        self.values = values

    def take(self, entry: np.ndarray, start: int, stop: int) -> Any:
        import pyarrow as pa

        if not isinstance(self.column, Coded):
            return _arrow(self.column[start:stop])
        # from_buffers, because pa.array looks for pandas and would load it
        numbers = pa.Array.from_buffers(pa.int32(), len(entry), [None, pa.py_buffer(self.column.of_entry[entry])])
        if self.by_number:
            return pa.DictionaryArray.from_arrays(numbers, self.values)
        return self.values.take(numbers)


def _arrow(series: pl.Series) -> Any:
    import pyarrow as pa

    array = series.to_arrow()
    return (
        array.cast(pa.string())
        if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type)
        else array
    )
