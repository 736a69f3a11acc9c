"""Reads rows from files, databases and frames (pandas, Polars, pyarrow) as one lazy Polars frame.

CSV is read as text and parsed by column declaration, on distinct values only, so that a message can count what does
not parse and never quote it. Errors of the underlying libraries quote values: they are re-raised without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import polars as pl

from reticent.catalogue import JOB_TABLES
from reticent.catalogue.job_fields import SOURCE_FIELDS
from reticent.data import csv
from reticent.data.broken_lines import BrokenLines
from reticent.data.columnar import DEFAULT_SPAN_SIZES, SpanSizes, scan_columnar
from reticent.data.files import (
    ARROW_SUFFIXES,
    CSV_SUFFIXES,
    EXCEL_SUFFIXES,
    PARQUET_SUFFIXES,
    STATISTICS_READERS,
    FileSet,
    find_outer_partition_keys,
    is_file_error,
    make_damaged_file_error,
    require_fits_memory,
    require_same_columns,
    resolve_files,
    scan_parquet,
)
from reticent.data.spellings import Spellings, replace_spellings
from reticent.errors import ReticentError, SourceError, SourceUnreachable, pluralize, quote_list
from reticent.redaction import is_address
from reticent.validation import document_parameters

_NUMBER_PATTERN = r"^[+-]?\d+(\.\d+)?$"
_DAY_PATTERN = r"^\d{4}-\d{2}-\d{2}$"


@document_parameters(JOB_TABLES["source"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file, a folder or a pattern of files and how to read them, or a database's `url` with a `table` or a `query`."""

    path: str | None = None
    url: str | None = None
    table: str | None = None
    query: str | None = None
    delimiter: str | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    empty: str = "missing"
    broken: str = "refuse"

    spellings = cast("Spellings", ())  # the maps of columns, which a `MappedSource` has

    def __post_init__(self) -> None:
        marks = [self.missing] if isinstance(self.missing, str) else self.missing
        if not isinstance(marks, list | tuple) or not all(isinstance(mark, str) for mark in marks):
            missing_field = SOURCE_FIELDS["missing"]
            raise SourceError(missing_field.refusal, attempt=missing_field.attempt)
        object.__setattr__(self, "missing", tuple(marks))
        if isinstance(self.path, Path):
            object.__setattr__(self, "path", str(self.path))
        for name in SOURCE_FIELDS:
            if name != "missing" and not isinstance(getattr(self, name), str | None):
                raise SourceError(f"source.{name} must be a text.")
        if self.path is not None and is_address(self.path):
            raise SourceError(
                f"{self.path} is an address, not a path.", attempt="url = ... in [source], with a table or a query."
            )
        if self.encoding is None or self.quote is None:
            raise SourceError("source.encoding and source.quote must be texts.", attempt='encoding = "utf-8".')
        csv.require_valid_marks(self.delimiter, self.quote, self.encoding)
        for name in ("empty", "broken"):
            field = SOURCE_FIELDS[name]
            if getattr(self, name) not in field.choices:
                raise SourceError(
                    field.refusal.replace("{text}", repr(getattr(self, name))),
                    attempt=field.attempt,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedSource(Source):
    """A source with the maps of its columns: everybody who reads it replaces the spellings of their values."""

    spellings: Spellings = ()


def with_spellings(source: Source, spellings: Spellings) -> Source:
    """Return the same source with these maps of its columns, or without any."""
    if spellings == source.spellings:
        return source
    options: dict[str, Any] = {name: getattr(source, name) for name in SOURCE_FIELDS}
    return MappedSource(**options, spellings=spellings) if spellings else Source(**options)


@dataclass(frozen=True, eq=False)
class TextRows:
    """Rows that were read from a CSV before and are passed on as a frame.

    Their types are guessed, as the file's would be.
    """

    rows: Any


@dataclass(frozen=True, eq=False)
class SourceScan:
    """The rows of a source, lazily, as an engine has them, and the column names of the source, including repeated ones.

    `broken` are the lines of its files that were set aside.
    """

    rows: Any
    names: list[str]
    broken: tuple[BrokenLines, ...] = ()


def open_source(
    source: Source, frame: Any = None, *, by_pieces: bool = False, sizes: SpanSizes = DEFAULT_SPAN_SIZES
) -> SourceScan:
    """Scan the rows lazily, null values replaced by null; with `by_pieces`, of these sizes, they need not fit memory.

    A CSV is sniffed here, once: its header gives the names.
    """
    if isinstance(frame, TextRows):
        frame = frame.rows
    if frame is not None:
        lazy = _scan_frame(frame)
        scan = SourceScan(lazy, _list_frame_columns(frame))
    elif source.url:
        lazy = _scan_database(source)
        scan = SourceScan(lazy, _collect_schema(lazy).names())
    else:
        scan = _scan_files(source, by_pieces, sizes)
    schema = _collect_schema(scan.rows)
    if not len(schema):
        origin = f"Read from {source.path}." if source.path else "Read from a frame."
        raise SourceError("The source has no columns.", why=origin, attempt="a file with a header line.")
    rows = scan.rows
    if source.spellings:
        rows = replace_spellings(rows, schema, source.spellings)
        schema = _collect_schema(rows)
    if source.missing:
        rows = replace_null_values(rows, schema, source.missing)
    return SourceScan(rows, scan.names, scan.broken)


def scan_source(
    source: Source, frame: Any = None, *, by_pieces: bool = False, sizes: SpanSizes = DEFAULT_SPAN_SIZES
) -> pl.LazyFrame:
    """Scan the rows lazily, as `open_source` does, for a caller that needs no more than the rows."""
    return open_source(source, frame, by_pieces=by_pieces, sizes=sizes).rows


def replace_null_values(lazy: pl.LazyFrame, schema: pl.Schema, null_values: tuple[str, ...]) -> pl.LazyFrame:
    """Replace values that mean missing by null: texts, and numbers and dates that are written like them."""
    expressions = []
    for name, dtype in schema.items():
        value = pl.col(name).cast(pl.String) if is_text(dtype) else pl.col(name)
        values = list(null_values) if is_text(dtype) else _cast_null_values(null_values, dtype)
        if values:
            expressions.append(pl.when(value.is_in(values).not_()).then(value))
    return lazy.with_columns(expressions) if expressions else lazy


def is_text(dtype: pl.DataType) -> bool:
    """Tell whether a type is text, or categories of it: these are published as plain text."""
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def list_dialects(files: FileSet, source: Source) -> list[csv.CsvDialect]:
    """Return the dialect of each CSV file of a source; broken lines are refused or set aside, as it declares."""
    set_aside = source.broken == "set-aside"
    return [
        csv.sniff_csv(path, source.delimiter, source.quote, source.encoding, set_aside=set_aside)
        for path in files.paths
    ]


def list_broken_lines(source: Any) -> list[BrokenLines]:
    """Return the broken lines of each file of a source that sets some aside; empty for other sources, None and frames."""
    if not isinstance(source, Source) or source.broken != "set-aside" or source.path is None or source.url is not None:
        return []
    files = resolve_files(source.path)
    if files.suffix not in CSV_SUFFIXES:
        return []
    return [dialect.broken for dialect in list_dialects(files, source) if dialect.broken is not None]


def is_in_memory(frame: Any) -> bool:
    """Tell whether a frame is a table in memory: of Polars, pandas or pyarrow, and not lazy."""
    return isinstance(frame, pl.DataFrame) or type(frame).__module__.split(".")[0] in ("pandas", "pyarrow")


def require_source_fits_memory(source: Source) -> None:
    """Refuse a source of files whose rows cannot fit in memory."""
    if source.url is None and source.path is not None:
        require_fits_memory(resolve_files(source.path).paths)


def require_not_empty(path: Path) -> None:
    """Refuse a file without a byte: it has no header."""
    try:
        with open(path, "rb") as handle:
            empty = not handle.read(1)
    except OSError as error:
        raise SourceUnreachable(f"The file {path.name} cannot be read: {error.strerror}.") from None
    if empty:
        raise SourceError(f"The file {path.name} is empty.", attempt="a file with a header line and rows.")


def collect_frame(lazy: pl.LazyFrame, doing: str, engine: Literal["auto", "streaming"] = "auto") -> pl.DataFrame:
    """Collect a lazy frame; the library's message is withheld, since it may quote a value."""
    try:
        return lazy.collect(engine=engine)
    except BaseException as error:
        raise _translate_error(error, doing, lazy) from None


def iterate_batches(lazy: pl.LazyFrame, doing: str, rows: int) -> Iterator[pl.DataFrame]:
    """Yield the rows in their order, `rows` at a time, keeping none; the library's messages are withheld."""
    batches = lazy.collect_batches(chunk_size=rows, maintain_order=True, lazy=True, engine="streaming")
    try:
        yield from batches
    except GeneratorExit:
        raise
    except BaseException as error:
        raise _translate_error(error, doing, lazy) from None


def _scan_frame(frame: Any) -> pl.LazyFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    kind = type(frame).__module__.split(".")[0]
    try:
        if kind == "pandas" or hasattr(frame, "column_names"):
            _require_different_names(_list_frame_columns(frame))
        if kind == "pandas":
            return pl.from_pandas(frame, include_index=False).lazy()
        if kind == "pyarrow" and hasattr(frame, "column_names"):
            # Another object of pyarrow would be read once, or has no names.
            _require_narrow_decimals(frame)
            return pl.DataFrame(frame).lazy()
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(
            f"The {kind} frame cannot be read: {type(error).__name__}.",
            why="A column probably mixes types.",
            attempt="one type per column.",
        ) from None
    raise SourceError(
        f"A frame of type {type(frame).__name__!r} is not supported.",
        attempt="a pandas or Polars frame, or a pyarrow table.",
    )


def _require_different_names(names: list[str]) -> None:
    repeated = len(names) - len(set(names))
    if repeated:
        raise SourceError(
            f"The frame has {pluralize(repeated, 'column')} of the same name as another.",
            attempt="renaming one of each.",
        )


def _list_frame_columns(frame: Any) -> list[str]:
    """List the column names as the frame has them, including repeated ones."""
    if isinstance(frame, pl.LazyFrame):
        return _collect_schema(frame).names()
    return [str(name) for name in getattr(frame, "column_names", None) or frame.columns]


def _scan_database(source: Source) -> pl.LazyFrame:
    from reticent.data.database import read_database

    return read_database(str(source.url), source.table, source.query).lazy()


def _collect_schema(lazy: pl.LazyFrame) -> pl.Schema:
    """Return the schema of a lazy frame, whose own functions may fail and quote values."""
    try:
        return lazy.collect_schema()
    except ReticentError:
        raise
    except Exception as error:
        raise SourceError(
            f"The frame's columns cannot be told: {type(error).__name__}.", attempt="a frame that collects by itself."
        ) from None


def _scan_files(source: Source, by_pieces: bool, sizes: SpanSizes) -> SourceScan:
    if source.path is None:
        raise SourceError("The job names no source.", attempt="a path in [source], or frame=.")
    files = resolve_files(source.path)
    for path in files.paths:
        require_not_empty(path)
    if not by_pieces:
        require_fits_memory(files.paths)
    try:
        if files.suffix in CSV_SUFFIXES:
            return _scan_csv_files(files, source)
        lazy = _scan_typed_files(files)
        schema = lazy.collect_schema()
        if by_pieces and files.suffix in PARQUET_SUFFIXES | ARROW_SUFFIXES:
            lazy = scan_columnar(files.paths, schema, hive=bool(files.keys), sizes=sizes)
        return SourceScan(lazy, schema.names())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SourceError(
            f"The file {Path(source.path).name} cannot be read as {files.suffix[1:]}: {type(error).__name__}.",
            attempt="the right file type, delimiter and encoding.",
        ) from None


def _cast_null_values(null_values: tuple[str, ...], dtype: pl.DataType) -> Any:
    """Return the texts as values of a typed column, those that are some: 999 of whole numbers, 9999-12-31 of dates."""
    texts = pl.Series(null_values, dtype=pl.String).str.strip_chars()
    if dtype.is_integer() or dtype.is_decimal():
        texts = texts.filter(texts.str.contains(_NUMBER_PATTERN)).str.replace(r"\.0+$", "")
    elif dtype.is_float():
        texts = texts.filter(texts.str.contains(_NUMBER_PATTERN))
    elif dtype == pl.Date:
        texts = texts.filter(texts.str.contains(_DAY_PATTERN))
        return texts.str.to_date("%Y-%m-%d", strict=False).drop_nulls().to_list()
    else:
        return []
    return texts.cast(dtype, strict=False).drop_nulls().to_list() if len(texts) else []


def _translate_error(error: BaseException, doing: str, lazy: pl.LazyFrame) -> BaseException:
    """Turn a library's error into one of ours; our own errors, lack of memory and interrupts stay as they are."""
    is_panic = type(error).__name__ == "PanicException"  # of Polars, and no Exception
    if isinstance(error, ReticentError | MemoryError) or not (is_panic or isinstance(error, Exception)):
        return error
    if is_file_error(error) and _has_scan(lazy, "Parquet SCAN", "Ipc SCAN", "IPC SCAN"):
        return make_damaged_file_error(error)
    message = str(error).lower()
    if "utf-8" in message or "utf8" in message:
        return SourceError("The file is not UTF-8.", attempt='its encoding, e.g. encoding = "latin-1".')
    if not isinstance(error, pl.exceptions.PolarsError) or not _has_scan(lazy, "Csv SCAN", "CSV SCAN", "PYTHON SCAN"):
        return SourceError(
            f"{doing} failed: {type(error).__name__}.",
            why="A step of the lazy frame raised it; its message is withheld, because it may quote a record.",
            attempt="collecting the frame before it is handed over.",
        )
    return SourceError(
        f"{doing} failed: {type(error).__name__}.",
        why="The rows do not have the shape the header says, or a column mixes types.",
        attempt="the delimiter, quoting and encoding of [source].",
    )


def _require_narrow_decimals(table: Any) -> None:
    """Refuse decimals of 256 bits: Polars cannot take them and panics."""
    import pyarrow as pa

    wide = [field.name for field in table.schema if pa.types.is_decimal256(field.type)]
    if wide:
        raise SourceError(
            f"{pluralize(len(wide), 'column', 'holds', 'hold')} decimals of 256 bits: {quote_list(wide)}.",
            attempt="decimals of 128 bits, or text.",
        )


def _scan_csv_files(files: FileSet, source: Source) -> SourceScan:
    dialects = list_dialects(files, source)
    parts = [
        csv.scan_csv(path, dialect, empty_is_missing=source.empty == "missing")
        for path, dialect in zip(files.paths, dialects, strict=True)
    ]
    schemas = [dict(part.collect_schema()) for part in parts]
    require_same_columns(files.paths, schemas)
    broken = tuple(dialect.broken for dialect in dialects if dialect.broken is not None)
    return SourceScan(pl.concat(parts) if len(parts) > 1 else parts[0], list(dialects[0].header), broken)


def _scan_typed_files(files: FileSet) -> pl.LazyFrame:
    """Scan files whose columns have types: Parquet, Arrow, and those of spreadsheets and statistics programs."""
    paths = list(files.paths)
    suffix = files.suffix
    if suffix in PARQUET_SUFFIXES:
        schemas = [dict(pl.scan_parquet(path, glob=False, hive_partitioning=False).collect_schema()) for path in paths]
        require_same_columns(paths, schemas, named=True)
        outer_keys = find_outer_partition_keys(files.root, files.keys, schemas[0]) if files.root and files.keys else []
        return scan_parquet(files, outer_keys).drop(outer_keys)
    if suffix in ARROW_SUFFIXES:
        parts = [pl.scan_ipc(path, glob=False) for path in paths]
        require_same_columns(paths, [dict(part.collect_schema()) for part in parts], named=True)
        return pl.concat(parts)
    if suffix in EXCEL_SUFFIXES or suffix in STATISTICS_READERS:
        return _scan_program_file(paths[0])
    raise SourceError(f"The file type {suffix!r} is not known.", attempt=".csv, .parquet or .arrow.")


def _has_scan(lazy: pl.LazyFrame, *scans: str) -> bool:
    """Tell whether rows come from such files, by the words of Polars for how it reads them."""
    try:
        plan = lazy.explain(optimized=False)
    except BaseException:
        return False
    return any(scan in plan for scan in scans)


def _scan_program_file(path: Path) -> pl.LazyFrame:
    from reticent.data import files

    try:
        return files.read_program_file(path).lazy()
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(
            f"The file {path.name} cannot be read: {type(error).__name__}.", attempt="saving it as CSV."
        ) from None
