"""Data files as tables with the types that a schema states, whole or counted.

A schema names a file's columns in order, each with the data type that its values have in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged, OutOfMemory
from reticent.memory import says_memory
from reticent.release.distinct import distinct_rows
from reticent.release.formulas import quoted_name, unquoted
from reticent.release.sound import RECORD, refuse_no_room
from reticent.table.types import dtype_named, typed

COUNT = "\x00count"
HELD = 1 << 22  # values of a column that are counted at once
Schema = Mapping[str, str]


class Quoted(dict[str, str]):
    """The schema of a CSV in which texts and names that look like formulas are quoted."""


def read_data(path: Path, schema: Schema, only: Collection[str] | None = None) -> pl.DataFrame:
    """The data file with the types of its schema, from CSV too; `only` some of its columns, where not all."""
    wanted = _among(schema, only)
    refuse_no_room(path, wanted)
    lazy = _scanned(path, schema).select(list(wanted))
    return _typed(_collected(lazy, path), wanted, path)


def scan_data(path: Path, schema: Schema, only: Collection[str] | None = None) -> pl.LazyFrame:
    """The same rows, lazily, in their order."""
    wanted, lazy = _among(schema, only), _scanned(path, schema)
    found = lazy.collect_schema()

    def column(name: str, dtype: str) -> pl.Expr:
        kind = dtype_named(dtype)
        if found[name] == kind:
            return pl.col(name)
        if found[name] != pl.String:
            return pl.col(name).cast(kind)
        return pl.col(name).map_batches(partial(_restored, dtype=dtype), return_dtype=kind, is_elementwise=True)

    return lazy.select(column(name, dtype) for name, dtype in wanted.items())


def data_pieces(path: Path, schema: Schema, rows: int) -> Iterator[pl.DataFrame]:
    """The same rows, so many at a time; none are kept."""
    lazy = scan_data(path, schema)
    try:
        yield from lazy.collect_batches(chunk_size=rows, maintain_order=True, lazy=True, engine="streaming")
    except BaseException as error:
        raise _unreadable(error, path) from None


def count_data(path: Path, schema: Schema, only: Collection[str] | None = None) -> tuple[pl.DataFrame, np.ndarray]:
    """The distinct rows of the data file (in `only` some columns), and how often each occurs; rows are read as a stream and not kept."""
    wanted = _among(schema, only)
    names = list(wanted)
    lazy = _scanned(path, schema)
    if path.suffix == ".parquet" and all(_plain(dtype) for dtype in lazy.select(names).collect_schema().dtypes()):
        try:
            frame, times = distinct_rows(path, names)
        except (OSError, ValueError, TypeError, LookupError):
            raise BundleDamaged(f"{path.name} cannot be read.") from None
        return _typed(frame, wanted, path), times
    counted = _collected(lazy.group_by(names).len(name=COUNT), path)
    return _typed(counted.drop(COUNT), wanted, path), counted[COUNT].to_numpy().astype(np.int64)


def count_parts(
    path: Path, schema: Schema, column: str, beside: Collection[str]
) -> Iterator[tuple[pl.DataFrame, np.ndarray]]:
    """The distinct rows in a column and in some beside it, and how often each occurs, in parts that memory holds.

    All rows with one value of the column are in one part.
    """
    wanted = _among(schema, {column, *beside})
    floats = [name for name, dtype in wanted.items() if dtype.startswith("Float")]
    lazy = _scanned(path, schema).select(list(wanted))
    if path.suffix == ".parquet" and floats:
        lazy = lazy.with_columns(pl.col(floats).fill_nan(None))
    key = pl.col(column).hash(7)
    values = _collected(lazy.select(key.approx_n_unique()), path).item()
    parts = values // HELD + 1
    for part in range(parts):
        some = lazy if parts == 1 else lazy.filter(key % parts == part)
        counted = _collected(some.group_by(list(wanted)).len(name=COUNT), path)
        yield _typed(counted.drop(COUNT), wanted, path), counted[COUNT].to_numpy().astype(np.int64)


def read_part(path: Path, schema: Schema, only: Collection[str], part: int, parts: int) -> Iterator[pl.DataFrame]:
    """Some columns of the data file, of every so-manieth row group from the `part`th on; a CSV is one part."""
    wanted = _among(schema, only)
    if path.suffix != ".parquet":
        if part == 0:
            yield read_data(path, schema, only)
        return
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for at in range(part, file.num_row_groups, parts):
            frame = pl.from_arrow(file.read_row_group(at, columns=list(wanted)))
            assert isinstance(frame, pl.DataFrame)
            yield _typed(frame.select(list(wanted)), wanted, path)


def parts_of(path: Path) -> int:
    """How many parts `read_part` can read a file in."""
    if path.suffix != ".parquet":
        return 1
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return max(file.num_row_groups, 1)


def _among(schema: Schema, only: Collection[str] | None) -> Schema:
    return schema if only is None else type(schema)((name, dtype) for name, dtype in schema.items() if name in only)  # type: ignore[call-arg]  # a kind of mapping


def _plain(dtype: pl.DataType) -> bool:
    """Whether Python has these values without loss: it has no nanoseconds."""
    return dtype in (pl.String, pl.Boolean, pl.Date) or dtype.is_integer() or dtype.is_float()


def _scanned(path: Path, schema: Schema) -> pl.LazyFrame:
    try:
        if path.suffix == ".parquet":
            lazy = pl.scan_parquet(path, glob=False)
        else:
            lazy = pl.scan_csv(path, infer_schema=False, empty_string_is_null=True, glob=False)
            if isinstance(schema, Quoted):
                lazy = _unquoted(lazy, schema)
        found = lazy.collect_schema().names()
    except BaseException as error:
        raise _unreadable(error, path) from None
    if found != list(schema):
        raise BundleDamaged(
            f"{path.name} has other columns than its manifest.",
            why=f"{len(found)} instead of {len(schema)}, or other names.",
        )
    return lazy


def _unquoted(lazy: pl.LazyFrame, schema: Quoted) -> pl.LazyFrame:
    """Names and texts without the apostrophe that was put before them; a file with other names is left for its reader to refuse."""
    names = {quoted_name(name): name for name in schema}
    if lazy.collect_schema().names() != list(names):
        return lazy
    return lazy.rename(names).with_columns(
        unquoted(pl.col(name)) for name, dtype in schema.items() if dtype == "String"
    )


def _collected(lazy: pl.LazyFrame, path: Path) -> pl.DataFrame:
    try:
        return lazy.collect(engine="streaming")
    except BaseException as error:
        raise _unreadable(error, path) from None


def _unreadable(error: BaseException, path: Path) -> BaseException:
    """A file that Polars cannot read is damaged; of some it says so in a panic, which is no Exception."""
    if says_memory(error):
        return OutOfMemory()
    ours = isinstance(error, pl.exceptions.PolarsError | OSError) or type(error).__name__ == "PanicException"
    return BundleDamaged(f"{path.name} cannot be read.") if ours else error


def _typed(frame: pl.DataFrame, schema: Schema, path: Path) -> pl.DataFrame:
    _refuse_long(frame, path)
    try:
        return pl.DataFrame({name: _restored(frame[name], dtype) for name, dtype in schema.items()})
    except MemoryError:
        raise
    except Exception:  # the libraries' messages quote values
        raise BundleDamaged(
            f"{path.name} does not hold what its manifest says.", why="A column has values of another type."
        ) from None


def _refuse_long(frame: pl.DataFrame, path: Path) -> None:
    """A text of many megabytes is packed in few bytes, and whoever takes it apart needs many times its size."""
    for name, dtype in frame.schema.items():
        if dtype == pl.String and (frame[name].str.len_bytes() > RECORD).any():
            raise BundleDamaged(f"{path.name} holds a text of more than {RECORD:,} bytes.")


def _restored(series: pl.Series, dtype: str) -> pl.Series:
    wanted = dtype_named(dtype)
    if series.dtype == wanted:
        return series
    return typed(series, dtype).alias(series.name) if series.dtype == pl.String else series.cast(wanted)
