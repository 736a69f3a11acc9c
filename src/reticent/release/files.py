"""Writing a release's data files, a piece at a time.

Strings are written plain, with no categories, index or schema that could hold values of rows that were removed.  In Parquet a
text column's pages are numbered by a dictionary of the published values: what a writer would do anyway, without hashing each row.
Other columns of few values are numbered by the writer; whole numbers that are known to ascend are written by their differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl

from reticent.release.formulas import any_formula, quoted
from reticent.release.row_groups import Cut, alone, even, int32, used
from reticent.release.rows import Beside, Coded, Column, Columns, Looked, Numbers, Piece, Rows

FEW = 1 << 12  # values that a page's dictionary may have


def write_data(path: Path, rows: Rows | pl.DataFrame, format: str, *, quote: bool = False) -> bool:
    """Write rows to a file.  Returns whether a text of a CSV looks like a formula; in Parquet nobody takes one for it."""
    if format == "parquet":
        whole = Rows.of_frame(rows) if isinstance(rows, pl.DataFrame) else rows
        write_parquet(path, whole.columns, whole.pieces)
        return False
    with open(path, "wb") as handle:
        return write_csv(handle, rows, quote=quote)


def write_parts(
    paths: Sequence[Path], rows: Rows | pl.DataFrame, format: str, part_rows: int | None, *, quote: bool = False
) -> bool:
    """The same to one file or to several, so many rows each and what is left to the last."""
    if len(paths) == 1:
        return write_data(paths[0], rows, format, quote=quote)
    whole = Rows.of_frame(rows) if isinstance(rows, pl.DataFrame) else rows
    many = [*[part_rows] * (len(paths) - 1), None]
    if format == "parquet":
        tables = _Tables(whole.columns)
        cut = Cut(tables.of(whole.pieces))
        for path, some in zip(paths, many, strict=True):
            tables.write(path, map(alone, even(cut.take(some), tables.held)))
        return False
    found = any_formula(_listed(whole.columns))
    frames = Cut(whole.spelled(piece) for piece in whole.pieces)
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
    return [name for name, column in columns.items() if isinstance(column, Beside | Looked)]


def _listed(columns: Columns) -> list[pl.Series]:
    """The texts that are known before any row is: names, and the values of coded columns."""
    return [
        (column.values if isinstance(column, Coded) else pl.Series(dtype=pl.Int32)).alias(name)
        for name, column in columns.items()
    ]


def write_parquet(path: Path, columns: Columns, pieces: Iterable[Piece]) -> None:
    """One file, a row group for every PIECE of rows, or of fewer where they are wide."""
    tables = _Tables(columns)
    tables.write(path, even(tables.of(pieces), tables.held))


class _Tables:
    """Rows as Arrow tables, and how they are written."""

    def __init__(self, columns: Columns):
        import pyarrow as pa

        self.columns = {name: _Column(name, column) for name, column in columns.items()}
        fields = [pa.field(name, column.type, nullable=column.nulls) for name, column in self.columns.items()]
        self.schema = pa.schema(fields)
        self.looked = {
            at: column for at, column in enumerate(self.columns.values()) if isinstance(column.column, Looked)
        }
        self.held = self.schema  # until a row group is whole, texts that are looked up are numbers
        for at in self.looked:
            self.held = self.held.set(at, pa.field(self.schema.field(at).name, pa.int32()))

    def of(self, pieces: Iterable[Piece]) -> Iterator[Any]:
        import pyarrow as pa

        for piece in pieces:
            yield pa.Table.from_arrays([column.take(piece) for column in self.columns.values()], schema=self.held)

    def write(self, path: Path, groups: Iterable[Any]) -> None:
        import pyarrow.parquet as pq

        coded = [name for name, column in self.columns.items() if column.by_number or column.few]
        differences = {name: "DELTA_BINARY_PACKED" for name, column in self.columns.items() if column.ascending}
        with pq.ParquetWriter(
            path, self.schema, compression="lz4", use_dictionary=coded or False, column_encoding=differences or None,
            write_statistics=False, store_schema=False,
        ) as out:  # fmt: skip
            for group in groups:
                for at, column in self.looked.items():
                    group = group.set_column(at, self.schema.field(at), column.looked_up(group.column(at)))
                out.write_table(group)
                del group  # before the next is made


class _Column:
    """A column as Arrow: texts by number, everything else spelled out."""

    def __init__(self, name: str, column: Column):
        import pyarrow as pa

        self.name, self.column = name, column
        self.values = _arrow(_example(column))
        coded = isinstance(column, Coded | Looked)
        self.nulls = column.nulls if isinstance(column, Beside | Looked) else bool(self.values.null_count)
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
        if isinstance(self.column, Numbers):
            return int32(piece.numbers(self.column))
        if isinstance(self.column, Looked):
            return int32(piece.beside(self.column.beside).to_numpy())
        numbers = int32(piece.codes(self.column))
        return pa.DictionaryArray.from_arrays(numbers, self.values) if self.by_number else self.values.take(numbers)

    def looked_up(self, numbers: Any) -> Any:
        """The texts of a row group's numbers."""
        import pyarrow as pa

        assert isinstance(self.column, Looked)
        shown, codes = used(numbers.combine_chunks())
        texts = _arrow(self.column.texts(shown))
        return pa.DictionaryArray.from_arrays(int32(codes), texts) if self.by_number else texts.take(int32(codes))


def _example(column: Column) -> pl.Series:
    """The values of a coded column, or an empty series of the column's type."""
    if isinstance(column, Coded):
        return column.values
    if isinstance(column, Looked):
        return pl.Series(dtype=pl.String)
    return pl.Series(dtype=pl.Int32 if isinstance(column, Numbers) else column.dtype)


def _arrow(series: pl.Series) -> Any:
    import pyarrow as pa

    array = series.to_arrow()
    return (
        array.cast(pa.string())
        if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type)
        else array
    )
