"""Published rows before they are materialized, and the writer of a release's data files, a batch at a time.

A release of five million rows has a few thousand different labels. Rows are distinct values of columns, values of
entries, and entries of rows (`FileRows`). They come in batches and are materialized as they are written, so that memory
holds one batch; an engine that has all rows in memory holds one number per row and not its texts.

Strings are written plain, with no categories, index or schema that could hold values of rows that were removed. In
Parquet a text column's pages are numbered by a dictionary of the published values: what a writer would do anyway,
without hashing each row. Other columns of few values are numbered by the writer; integers that are known to ascend
are written by their differences.

A row group has BATCH_ROWS rows, or as many as MAX_GROUP_BYTES hold where rows are very wide: a writer holds a whole
group. How rows arrive does not affect where groups end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import polars as pl

from reticent.format.data_files import contains_formula, quote_formulas

BATCH_ROWS = 1 << 19  # rows; a piece is a row group of a Parquet file
MAX_GROUP_BYTES = 1 << 29  # bytes of a row group in memory
ASSUMED_TEXT_BYTES = 24  # bytes that a text is taken for
MAX_PAGE_DICTIONARY_VALUES = 1 << 12  # values that a page's dictionary may have


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


def count_group_rows(schema: Any, max_rows: int = BATCH_ROWS, max_bytes: int = MAX_GROUP_BYTES) -> int:
    """Return how many rows a group has, by the columns' types alone."""
    return max(min(max_rows, max_bytes // max(sum(map(_estimate_value_bytes, schema.types)), 1)), 1)


def split_evenly(tables: Iterable[Any], size: int) -> Iterator[Any]:
    """Yield tables of `size` rows each, the last one of the rest; one group is held at a time."""
    import pyarrow as pa

    waiting = list[Any]()
    rows = 0
    has_yielded = False
    for table in tables:
        waiting.append(table)
        rows += len(table)
        del table
        if rows >= size:
            whole = pa.concat_tables(waiting)
            for start in range(0, rows - size + 1, size):
                yield whole.slice(start, size)
            rest = rows % size
            waiting = [whole.slice(rows - rest)] if rest else []
            rows = rest
            has_yielded = True
            del whole  # not held while the next is made
    if waiting and (rows or not has_yielded):
        yield pa.concat_tables(waiting)


class TableSplitter:
    """Tables, or frames, from which a given number of rows is taken at a time; what was taken is not kept."""

    def __init__(self, tables: Iterable[Any]):
        self._tables = iter(tables)
        self._rest = None

    def take(self, rows: int | None) -> Iterator[Any]:
        """Yield the next `rows` rows; all that are left for None."""
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


def trim_dictionaries(group: Any) -> Any:
    """Limit a row group's dictionaries to its own values: a part of few rows repeats nothing of the others."""
    import pyarrow as pa

    columns = []
    for column in group.columns:
        array = column.combine_chunks()
        if pa.types.is_dictionary(column.type):
            used_codes, codes = find_used_codes(array.indices)
            array = pa.DictionaryArray.from_arrays(
                convert_to_int32(codes), array.dictionary.take(convert_to_int32(used_codes))
            )
        columns.append(array)
    return pa.Table.from_arrays(columns, schema=group.schema)


def find_used_codes(indices: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, and the index of each row's code among them."""
    stored = np.frombuffer(indices.buffers()[1], np.int32)  # not by to_numpy: it would load pandas
    stored = stored[indices.offset : indices.offset + len(indices)]
    size = int(stored.max(initial=-1)) + 1
    if size > 4 * len(stored):
        return np.unique(stored, return_inverse=True)
    occurs = np.zeros(size, bool)
    occurs[stored] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[stored]


def convert_to_int32(numbers: np.ndarray) -> Any:
    """Convert numbers to Arrow, with from_buffers, because pa.array looks for pandas and would load it."""
    import pyarrow as pa

    stored = np.ascontiguousarray(numbers, np.int32)
    return pa.Array.from_buffers(pa.int32(), len(stored), [None, pa.py_buffer(stored)])


def write_data(path: Path, rows: FileRows | pl.DataFrame, format: str, *, quote: bool = False) -> bool:
    """Write rows to a file; return whether a text of a CSV looks like a formula (in Parquet none is taken for one)."""
    if format == "parquet":
        file_rows = FileRows.from_frame(rows) if isinstance(rows, pl.DataFrame) else rows
        write_parquet(path, file_rows.columns, file_rows.pieces)
        return False
    with open(path, "wb") as handle:
        return write_csv(handle, rows, quote=quote)


def write_data_parts(
    paths: Sequence[Path],
    rows: FileRows | pl.DataFrame,
    format: str,
    part_rows: int | None,
    *,
    quote: bool = False,
    max_group_rows: int = BATCH_ROWS,
) -> bool:
    """Write rows to one file, or to several of `part_rows` rows each and the rest in the last."""
    if len(paths) == 1:
        return write_data(paths[0], rows, format, quote=quote)
    file_rows = FileRows.from_frame(rows) if isinstance(rows, pl.DataFrame) else rows
    part_sizes = [*[part_rows] * (len(paths) - 1), None]
    if format == "parquet":
        tables = _ArrowTables(file_rows.columns)
        splitter = TableSplitter(tables.convert_batches(file_rows.pieces))
        group_rows = count_group_rows(tables.held, max_group_rows)
        for path, part_size in zip(paths, part_sizes, strict=True):
            tables.write(path, map(trim_dictionaries, split_evenly(splitter.take(part_size), group_rows)))
        return False
    has_formula = contains_formula(_list_known_texts(file_rows.columns))
    frames = TableSplitter(file_rows.spell_out(piece) for piece in file_rows.pieces)
    for path, part_size in zip(paths, part_sizes, strict=True):
        with open(path, "wb") as handle:
            has_formula = _write_frames(
                handle, frames.take(part_size), _list_batch_columns(file_rows.columns), has_formula, quote=quote
            )
    return has_formula


def write_csv(handle: IO[bytes], rows: FileRows | pl.DataFrame, *, quote: bool = False) -> bool:
    """Write rows as CSV, the one way for all: the same rows give the same bytes; formulas are quoted on request.

    Returns whether a text or a name looks like a formula.
    """
    rows = FileRows.from_frame(rows) if isinstance(rows, pl.DataFrame) else rows
    frames = (rows.spell_out(piece) for piece in rows.pieces)
    return _write_frames(
        handle,
        frames,
        _list_batch_columns(rows.columns),
        contains_formula(_list_known_texts(rows.columns)),
        quote=quote,
    )


def write_parquet(
    path: Path,
    columns: OutputColumns,
    pieces: Iterable[RowBatch],
    max_group_rows: int = BATCH_ROWS,
    max_group_bytes: int = MAX_GROUP_BYTES,
) -> None:
    """Write one file, with a row group for every `max_group_rows` rows, or for fewer where they are wide."""
    tables = _ArrowTables(columns)
    group_rows = count_group_rows(tables.held, max_group_rows, max_group_bytes)
    tables.write(path, split_evenly(tables.convert_batches(pieces), group_rows))


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


def _estimate_value_bytes(kind: Any) -> int:
    """Estimate the bytes of a value in memory."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _estimate_value_bytes(kind.index_type)
    try:
        return -(-kind.bit_width // 8)
    except ValueError:  # a text
        return ASSUMED_TEXT_BYTES


class _ArrowTables:
    """Converts rows to Arrow tables and writes them."""

    def __init__(self, columns: OutputColumns):
        import pyarrow as pa

        self.columns = {name: _ArrowColumn(name, column) for name, column in columns.items()}
        fields = [pa.field(name, column.type, nullable=column.nulls) for name, column in self.columns.items()]
        self.schema = pa.schema(fields)
        self.looked = {
            position: column
            for position, column in enumerate(self.columns.values())
            if isinstance(column.column, LookupColumn)
        }
        self.held = self.schema  # until a row group is whole, texts that are looked up are numbers
        for position in self.looked:
            self.held = self.held.set(position, pa.field(self.schema.field(position).name, pa.int32()))

    def convert_batches(self, pieces: Iterable[RowBatch]) -> Iterator[Any]:
        import pyarrow as pa

        for piece in pieces:
            yield pa.Table.from_arrays([column.take(piece) for column in self.columns.values()], schema=self.held)

    def write(self, path: Path, groups: Iterable[Any]) -> None:
        import pyarrow.parquet as pq

        coded = [name for name, column in self.columns.items() if column.by_number or column.few]
        differences = {name: "DELTA_BINARY_PACKED" for name, column in self.columns.items() if column.ascending}
        with pq.ParquetWriter(
            path,
            self.schema,
            compression="lz4",
            use_dictionary=coded or False,
            column_encoding=differences or None,
            write_statistics=False,
            store_schema=False,
        ) as out:
            for group in groups:
                for position, column in self.looked.items():
                    group = group.set_column(
                        position, self.schema.field(position), column.look_up_texts(group.column(position))
                    )
                out.write_table(group)
                del group  # before the next is made


def _list_known_texts(columns: OutputColumns) -> list[pl.Series]:
    """List the texts that are known before any row is: names, and the values of coded columns."""
    return [
        (column.values if isinstance(column, CodedColumn) else pl.Series(dtype=pl.Int32)).alias(name)
        for name, column in columns.items()
    ]


def _write_frames(
    handle: IO[bytes], frames: Iterable[pl.DataFrame], batch_columns: Sequence[str], has_formula: bool, *, quote: bool
) -> bool:
    """Write frames as CSV; return whether a formula was `found` before, or is in one of the columns `beside`."""
    header = True
    for frame in frames:
        has_formula = has_formula or contains_formula(frame[name] for name in batch_columns)
        (quote_formulas(frame) if quote else frame).write_csv(handle, include_header=header)
        header = False
    return has_formula


def _list_batch_columns(columns: OutputColumns) -> list[str]:
    return [name for name, column in columns.items() if isinstance(column, BatchColumn | LookupColumn)]


class _ArrowColumn:
    """Converts a column to Arrow: texts by code, everything else as values."""

    def __init__(self, name: str, column: OutputColumn):
        import pyarrow as pa

        self.name = name
        self.column = column
        self.values = _convert_to_arrow(_make_example(column))
        is_coded = isinstance(column, CodedColumn | LookupColumn)
        self.nulls = column.nulls if isinstance(column, BatchColumn | LookupColumn) else bool(self.values.null_count)
        self.ascending = isinstance(column, AscendingColumn) or (isinstance(column, BatchColumn) and column.ascending)
        # For a column carried in batches the writer finds out itself: it gives up a page's dictionary that grows too
        # long. Fractions get none: they are seldom few, and a dictionary may hold several NaN.
        self.few = (
            len(self.values) <= MAX_PAGE_DICTIONARY_VALUES
            if is_coded
            else not self.ascending and not pa.types.is_floating(self.values.type)
        )
        self.by_number = is_coded and pa.types.is_string(self.values.type) and not self.nulls
        self.type = pa.dictionary(pa.int32(), pa.string()) if self.by_number else self.values.type

    def take(self, piece: RowBatch) -> Any:
        import pyarrow as pa

        if isinstance(self.column, BatchColumn):
            return _convert_to_arrow(piece.get_carried_column(self.name))
        if isinstance(self.column, AscendingColumn):
            return convert_to_int32(piece.numbers(self.column))
        if isinstance(self.column, LookupColumn):
            return convert_to_int32(piece.get_carried_column(self.column.beside).to_numpy())
        numbers = convert_to_int32(piece.codes(self.column))
        return pa.DictionaryArray.from_arrays(numbers, self.values) if self.by_number else self.values.take(numbers)

    def look_up_texts(self, numbers: Any) -> Any:
        """Return the texts of a row group's codes."""
        import pyarrow as pa

        assert isinstance(self.column, LookupColumn)
        used_codes, codes = find_used_codes(numbers.combine_chunks())
        texts = _convert_to_arrow(self.column.texts(used_codes))
        return (
            pa.DictionaryArray.from_arrays(convert_to_int32(codes), texts)
            if self.by_number
            else texts.take(convert_to_int32(codes))
        )


def _convert_to_arrow(series: pl.Series) -> Any:
    import pyarrow as pa

    array = series.to_arrow()
    return (
        array.cast(pa.string())
        if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type)
        else array
    )


def _make_example(column: OutputColumn) -> pl.Series:
    """Return the values of a coded column, or an empty series of the column's type."""
    if isinstance(column, CodedColumn):
        return column.values
    if isinstance(column, LookupColumn):
        return pl.Series(dtype=pl.String)
    return pl.Series(dtype=pl.Int32 if isinstance(column, AscendingColumn) else column.dtype)
