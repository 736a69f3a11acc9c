"""Data files as tables with the types that a schema states, whole or counted.

A schema names a file's columns in order, each with the data type that its values have in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged, OutOfMemory
from reticent.memory import says_memory
from reticent.release.distinct import TooManyDistinct, distinct_rows
from reticent.release.formulas import quoted_name, unquoted
from reticent.release.parts import DataFile
from reticent.release.sound import RECORD, refuse_no_room
from reticent.table.types import dtype_named, typed

COUNT = "\x00count"
HELD = 1 << 22  # values of a column that are counted at once
Schema = Mapping[str, str]


class Quoted(dict[str, str]):
    """The schema of a CSV in which texts and names that look like formulas are quoted."""


def read_data(file: DataFile, schema: Schema, only: Collection[str] | None = None) -> pl.DataFrame:
    """The data file with the types of its schema, from CSV too; `only` some of its columns, where not all."""
    wanted = _among(schema, only)
    refuse_no_room(file, wanted)
    lazy = _scanned(file, schema).select(list(wanted))
    return _typed(_collected(lazy, file), wanted, file)


def scan_data(file: DataFile, schema: Schema, only: Collection[str] | None = None) -> pl.LazyFrame:
    """The same rows, lazily, in their order."""
    wanted, lazy = _among(schema, only), _scanned(file, schema)
    found = lazy.collect_schema()

    def column(name: str, dtype: str) -> pl.Expr:
        kind = dtype_named(dtype)
        if found[name] == kind:
            return pl.col(name)
        if found[name] != pl.String:
            return pl.col(name).cast(kind)
        return pl.col(name).map_batches(partial(_restored, dtype=dtype), return_dtype=kind, is_elementwise=True)

    return lazy.select(column(name, dtype) for name, dtype in wanted.items())


def data_pieces(file: DataFile, schema: Schema, rows: int) -> Iterator[pl.DataFrame]:
    """The same rows, so many at a time; none are kept."""
    lazy = scan_data(file, schema)
    pieces = lazy.collect_batches(chunk_size=rows, maintain_order=True, lazy=True, engine="streaming")
    while True:
        try:
            piece = next(pieces, None)
        except BaseException as error:
            raise _unreadable(error, file) from None
        if piece is None:
            return
        _refuse_long(piece, file)
        yield piece


def stored_pieces(file: DataFile, schema: Schema, rows: int) -> Iterator[pl.DataFrame]:
    """The same rows, so many at a time or fewer, and none read ahead: for whoever is slower than the disk that they are on."""
    _scanned(file, schema)  # refuses other columns
    pieces = _batches if file.suffix == ".parquet" else data_pieces
    for one in file.each():
        yield from pieces(one, schema, rows)


def _batches(file: DataFile, schema: Schema, rows: int) -> Iterator[pl.DataFrame]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.paths[0]) as opened:
        batches = opened.iter_batches(batch_size=rows, columns=list(schema), use_threads=False)
        while True:
            try:
                batch = next(batches, None)
            except (OSError, ValueError, pa.ArrowException) as error:
                raise _refused(error, file) from None
            if batch is None:
                return
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield _typed(frame.select(list(schema)), schema, file)


def count_data(
    file: DataFile, schema: Schema, only: Collection[str] | None = None, limits: tuple[int, int] | None = None
) -> tuple[pl.DataFrame, np.ndarray]:
    """The distinct rows of the data file (in `only` some columns), and how often each occurs; rows are read as a stream and not kept.

    `limits`: how many distinct values of a column and how many distinct rows are counted; of more, `TooManyDistinct` is raised.
    """
    wanted = _among(schema, only)
    names = list(wanted)
    lazy = _scanned(file, schema)
    if file.suffix == ".parquet" and all(_plain(dtype) for dtype in lazy.select(names).collect_schema().dtypes()):
        try:
            frame, times = distinct_rows(file.paths, names, limits)
        except (OSError, ValueError, TypeError, LookupError) as error:
            raise _refused(error, file) from None
        return _typed(frame, wanted, file), times
    if limits is not None and _estimate_distinct(lazy.select(names), file) > limits[1]:
        raise TooManyDistinct
    counted = _collected(lazy.group_by(names).len(name=COUNT), file)
    return _typed(counted.drop(COUNT), wanted, file), counted[COUNT].to_numpy().astype(np.int64)


def _estimate_distinct(lazy: pl.LazyFrame, file: DataFile) -> int:
    """About how many distinct rows there are."""
    found: int = _collected(lazy.select(pl.struct(pl.all()).hash(7).approx_n_unique()), file).item()
    return found


def count_parts(
    file: DataFile, schema: Schema, column: str, beside: Collection[str]
) -> Iterator[tuple[pl.DataFrame, np.ndarray]]:
    """The distinct rows in a column and in some beside it, and how often each occurs, in parts that memory holds.

    All rows with one value of the column are in one part.
    """
    wanted = _among(schema, {column, *beside})
    floats = [name for name, dtype in wanted.items() if dtype.startswith("Float")]
    lazy = _scanned(file, schema).select(list(wanted))
    if file.suffix == ".parquet" and floats:
        lazy = lazy.with_columns(pl.col(floats).fill_nan(None))
    key = pl.col(column).hash(7)
    values = _collected(lazy.select(key.approx_n_unique()), file).item()
    parts = values // HELD + 1
    for part in range(parts):
        some = lazy if parts == 1 else lazy.filter(key % parts == part)
        counted = _collected(some.group_by(list(wanted)).len(name=COUNT), file)
        yield _typed(counted.drop(COUNT), wanted, file), counted[COUNT].to_numpy().astype(np.int64)


def read_part(file: DataFile, schema: Schema, only: Collection[str], part: int, parts: int) -> Iterator[pl.DataFrame]:
    """Some columns of the data file, of every so-manieth row group from the `part`th on; of CSV, of every so-manieth file."""
    wanted = _among(schema, only)
    if file.suffix != ".parquet":
        for one in list(file.each())[part::parts]:
            yield read_data(one, schema, only)
        return
    import pyarrow.parquet as pq

    for path, places in groupby(_row_groups(file)[part::parts], key=lambda place: place[0]):
        with pq.ParquetFile(path) as opened:
            for _, at in places:
                frame = pl.from_arrow(opened.read_row_group(at, columns=list(wanted)))
                assert isinstance(frame, pl.DataFrame)
                yield _typed(frame.select(list(wanted)), wanted, file)


def parts_of(file: DataFile) -> int:
    """How many parts `read_part` can read a file in."""
    return max(len(_row_groups(file)), 1) if file.suffix == ".parquet" else len(file.paths)


def _row_groups(file: DataFile) -> list[tuple[Path, int]]:
    import pyarrow.parquet as pq

    counts = [(path, pq.read_metadata(path).num_row_groups) for path in file.paths]
    return [(path, at) for path, groups in counts for at in range(groups)]


def _among(schema: Schema, only: Collection[str] | None) -> Schema:
    return schema if only is None else type(schema)((name, dtype) for name, dtype in schema.items() if name in only)  # type: ignore[call-arg]  # a kind of mapping


def _plain(dtype: pl.DataType) -> bool:
    """Whether Python has these values without loss: it has no nanoseconds."""
    return dtype in (pl.String, pl.Boolean, pl.Date) or dtype.is_integer() or dtype.is_float()


def _scanned(file: DataFile, schema: Schema) -> pl.LazyFrame:
    try:
        if file.suffix == ".parquet":
            lazy = pl.scan_parquet(list(file.paths), glob=False)
        else:
            lazy = pl.scan_csv(list(file.paths), infer_schema=False, empty_string_is_null=True, glob=False)
            if isinstance(schema, Quoted):
                lazy = _unquoted(lazy, schema)
        found = lazy.collect_schema().names()
    except BaseException as error:
        raise _unreadable(error, file) from None
    if found != list(schema):
        raise BundleDamaged(
            f"{file.shown} has other columns than its manifest.",
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


def _collected(lazy: pl.LazyFrame, file: DataFile) -> pl.DataFrame:
    try:
        return lazy.collect(engine="streaming")
    except BaseException as error:
        raise _unreadable(error, file) from None


def _unreadable(error: BaseException, file: DataFile) -> BaseException:
    """A file that Polars cannot read is damaged; of some it says so in a panic, which is no Exception."""
    ours = isinstance(error, pl.exceptions.PolarsError | OSError) or type(error).__name__ == "PanicException"
    return _refused(error, file) if ours or says_memory(error) else error


def _refused(error: BaseException, file: DataFile) -> BundleDamaged | OutOfMemory:
    """What an error of whoever reads the file means."""
    return OutOfMemory() if says_memory(error) else BundleDamaged(f"{file.shown} cannot be read.")


def _typed(frame: pl.DataFrame, schema: Schema, file: DataFile) -> pl.DataFrame:
    _refuse_long(frame, file)
    try:
        return pl.DataFrame({name: _restored(frame[name], dtype) for name, dtype in schema.items()})
    except MemoryError:
        raise
    except Exception:  # the libraries' messages quote values
        raise BundleDamaged(
            f"{file.shown} does not hold what its manifest says.", why="A column has values of another type."
        ) from None


def _refuse_long(frame: pl.DataFrame, file: DataFile) -> None:
    """A text of many megabytes is packed in few bytes, and whoever takes it apart needs many times its size."""
    for name, dtype in frame.schema.items():
        if dtype == pl.String and (frame[name].str.len_bytes() > RECORD).any():
            raise BundleDamaged(f"{file.shown} holds a text of more than {RECORD:,} bytes.")


def _restored(series: pl.Series, dtype: str) -> pl.Series:
    wanted = dtype_named(dtype)
    if series.dtype == wanted:
        return series
    return typed(series, dtype).alias(series.name) if series.dtype == pl.String else series.cast(wanted)
