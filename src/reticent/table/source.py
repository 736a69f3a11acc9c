"""Where rows come from: CSV, Parquet and Arrow files, and pandas, Polars and pyarrow frames, as one lazy Polars frame.

CSV is read as text and parsed by column declaration, on distinct values only, so that a message can count what does not
parse and never quote it.  Errors of the libraries below quote values: they are re-raised without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from reticent.errors import ReticentError, SourceError, SourceUnreachable, listed, some
from reticent.redaction import is_address
from reticent.table import separated
from reticent.table.formats import EXCEL, STATISTICS
from reticent.table.several import (
    ARROW,
    CSV,
    PARQUET,
    Files,
    damaged,
    files_of,
    is_fault_of_file,
    refuse_above,
    refuse_unlike,
    scan_parquet,
)
from reticent.table.sized import refuse_large
from reticent.table.spanned import scan_spans

_NUMBER = r"^[+-]?\d+(\.\d+)?$"
_DAY = r"^\d{4}-\d{2}-\d{2}$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file, a folder or a pattern of files and how to read them, or a database's `url` with a `table` or a `query`.

    `missing` lists the texts that mean null, beside the empty field of a CSV; in columns of numbers and days, the numbers and
    days that are written so.
    """

    path: str | None = None
    url: str | None = None
    table: str | None = None
    query: str | None = None
    delimiter: str | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    empty: str = "missing"

    def __post_init__(self) -> None:
        marks = [self.missing] if isinstance(self.missing, str) else self.missing
        if not isinstance(marks, list | tuple) or not all(isinstance(mark, str) for mark in marks):
            raise SourceError("missing must be a list of texts.", attempt='missing = ["?", "NA"].')
        object.__setattr__(self, "missing", tuple(marks))
        if isinstance(self.path, Path):
            object.__setattr__(self, "path", str(self.path))
        for name in ("path", "url", "table", "query", "delimiter", "quote", "encoding", "empty"):
            if not isinstance(getattr(self, name), str | None):
                raise SourceError(f"source.{name} must be a text.")
        if self.path is not None and is_address(self.path):
            raise SourceError(
                f"{self.path} is an address, not a path.", attempt="url = ... in [source], with a table or a query."
            )
        if self.encoding is None or self.quote is None:
            raise SourceError("source.encoding and source.quote must be texts.", attempt='encoding = "utf-8".')
        separated.check_marks(self.delimiter, self.quote, self.encoding)
        if self.empty not in ("missing", "value"):
            raise SourceError(f"empty = {self.empty!r} is not known.", attempt='"missing" or "value".')


@dataclass(frozen=True, eq=False)
class TextRows:
    """Rows that were read from a CSV before and are handed on as a frame: their types are guessed, as the file's would be."""

    rows: Any


def scan(source: Source, frame: Any = None, *, by_pieces: bool = False) -> pl.LazyFrame:
    """The rows, lazily, texts that mean missing as null; `by_pieces`: they need not fit memory."""
    frame = frame.rows if isinstance(frame, TextRows) else frame
    if frame is not None:
        lazy = _of_frame(frame)
    else:
        lazy = _of_database(source) if source.url else _of_file(source, by_pieces)
    schema = _schema(lazy)
    if not len(schema):
        raise SourceError("The source has no columns.", why=_where(source), attempt="a file with a header line.")
    return marked_missing(lazy, schema, source.missing) if source.missing else lazy


def marked_missing(lazy: pl.LazyFrame, schema: pl.Schema, marks: tuple[str, ...]) -> pl.LazyFrame:
    """The rows with values that mean missing as null: texts, and numbers and dates that are written like a mark."""
    kept = []
    for name, dtype in schema.items():
        value = pl.col(name).cast(pl.String) if is_text(dtype) else pl.col(name)
        values = list(marks) if is_text(dtype) else _marks_of_type(marks, dtype)
        if values:
            kept.append(pl.when(value.is_in(values).not_()).then(value))
    return lazy.with_columns(kept) if kept else lazy


def _marks_of_type(marks: tuple[str, ...], dtype: pl.DataType) -> Any:
    """Those of the marks that are values of a typed column: 999 of whole numbers, 9999-12-31 of dates."""
    texts = pl.Series(marks, dtype=pl.String).str.strip_chars()
    if dtype.is_integer() or dtype.is_decimal():
        texts = texts.filter(texts.str.contains(_NUMBER)).str.replace(r"\.0+$", "")
    elif dtype.is_float():
        texts = texts.filter(texts.str.contains(_NUMBER))
    elif dtype == pl.Date:
        texts = texts.filter(texts.str.contains(_DAY))
        return texts.str.to_date("%Y-%m-%d", strict=False).drop_nulls().to_list()
    else:
        return []
    return texts.cast(dtype, strict=False).drop_nulls().to_list() if len(texts) else []


def _schema(lazy: pl.LazyFrame) -> pl.Schema:
    """The columns of a lazy frame, whose own functions may fail and quote what they saw."""
    try:
        return lazy.collect_schema()
    except ReticentError:
        raise
    except Exception as error:
        raise SourceError(
            f"The frame's columns cannot be told: {type(error).__name__}.", attempt="a frame that collects by itself."
        ) from None


def is_text(dtype: pl.DataType) -> bool:
    """Text, or categories of it: these are published as plain text."""
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def columns(source: Source, frame: Any = None, lazy: pl.LazyFrame | None = None) -> list[str]:
    """The column names as the source has them, repeated ones repeated."""
    if (held := getattr(lazy, "names", None)) is not None:  # rows that an engine holds elsewhere
        return held
    frame = frame.rows if isinstance(frame, TextRows) else frame
    if isinstance(frame, pl.LazyFrame):
        return _schema(frame).names()
    if frame is not None:
        return [str(name) for name in getattr(frame, "column_names", None) or frame.columns]
    if source.url is None and source.path is not None and (files := files_of(source.path)).suffix in CSV:
        _of_file(source, by_pieces=True)
        return separated.header(str(files.paths[0]), source.delimiter, source.quote, source.encoding)
    return (scan(source) if lazy is None else lazy).collect_schema().names()


def _where(source: Source) -> str:
    return f"Read from {source.path}." if source.path else "Read from a frame."


def _of_frame(frame: Any) -> pl.LazyFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    kind = type(frame).__module__.split(".")[0]
    try:
        if kind == "pandas":
            return pl.from_pandas(frame, include_index=False).lazy()
        if kind == "pyarrow" and hasattr(
            frame, "column_names"
        ):  # a reader would be read once, and an array has no names
            _refuse_wide_decimals(frame)
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


def _refuse_wide_decimals(table: Any) -> None:
    """Polars cannot take decimals of 256 bits, and says so by ending its thread."""
    import pyarrow as pa

    wide = [field.name for field in table.schema if pa.types.is_decimal256(field.type)]
    if wide:
        raise SourceError(
            f"{some(len(wide), 'column', 'holds', 'hold')} decimals of 256 bits: {listed(wide)}.",
            attempt="decimals of 128 bits, or text.",
        )


def _of_database(source: Source) -> pl.LazyFrame:
    from reticent.table.database import read

    return read(str(source.url), source.table, source.query).lazy()


def _of_file(source: Source, by_pieces: bool) -> pl.LazyFrame:
    if source.path is None:
        raise SourceError("The job names no source.", attempt="a path in [source], or frame=.")
    files = files_of(source.path)
    for path in files.paths:
        refuse_empty(path)
    if not by_pieces:
        refuse_large(files.paths)
    suffix, name = files.suffix, Path(source.path).name
    try:
        lazy = _scanned(files, source)
        schema = lazy.collect_schema()
        if by_pieces and suffix in PARQUET | ARROW:
            lazy = scan_spans(files.paths, schema, hive=bool(files.keys))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SourceError(
            f"The file {name} cannot be read as {suffix[1:]}: {type(error).__name__}.",
            attempt="the right file type, delimiter and encoding.",
        ) from None
    return lazy


def refuse_empty(path: Path) -> None:
    """A file without a byte has no header."""
    try:
        with open(path, "rb") as handle:
            empty = not handle.read(1)
    except OSError as error:
        raise SourceUnreachable(f"The file {path.name} cannot be read: {error.strerror}.") from None
    if empty:
        raise SourceError(f"The file {path.name} is empty.", attempt="a file with a header line and rows.")


def _scanned(files: Files, source: Source) -> pl.LazyFrame:
    paths, suffix = list(files.paths), files.suffix
    if suffix in PARQUET:
        schemas = [dict(pl.scan_parquet(path, glob=False, hive_partitioning=False).collect_schema()) for path in paths]
        refuse_unlike(paths, schemas, named=True)
        above = refuse_above(files.root, files.keys, schemas[0]) if files.root and files.keys else []
        return scan_parquet(files, above).drop(above)
    if suffix in ARROW:
        held = [pl.scan_ipc(path, glob=False) for path in paths]
        refuse_unlike(paths, [dict(one.collect_schema()) for one in held], named=True)
        return pl.concat(held)
    if suffix in CSV:
        how: Any = (source.delimiter, source.quote, source.encoding)
        parts = [separated.scan(path, *how, empty_is_missing=source.empty == "missing") for path in paths]
        if len(paths) > 1:
            refuse_unlike(paths, [dict(part.collect_schema()) for part in parts])
        return pl.concat(parts) if len(parts) > 1 else parts[0]
    if suffix in EXCEL or suffix in STATISTICS:
        return _of_program(paths[0])
    raise SourceError(f"The file type {suffix!r} is not known.", attempt=".csv, .parquet or .arrow.")


def _of_program(path: Path) -> pl.LazyFrame:
    from reticent.table import formats

    try:
        return formats.read(path).lazy()
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(
            f"The file {path.name} cannot be read: {type(error).__name__}.", attempt="saving it as CSV."
        ) from None


def collect(lazy: pl.LazyFrame, doing: str, engine: Literal["auto", "streaming"] = "auto") -> pl.DataFrame:
    """Collect with the library's message withheld: it may quote a value."""
    try:
        return lazy.collect(engine=engine)
    except BaseException as error:
        raise _withheld(error, doing, lazy) from None


def batches(lazy: pl.LazyFrame, doing: str, rows: int) -> Iterator[pl.DataFrame]:
    """The rows in their order, so many at a time, none of them kept; messages of the library withheld."""
    found = lazy.collect_batches(chunk_size=rows, maintain_order=True, lazy=True, engine="streaming")
    try:
        yield from found
    except GeneratorExit:
        raise
    except BaseException as error:
        raise _withheld(error, doing, lazy) from None


def _reads_columns(lazy: pl.LazyFrame) -> bool:
    """Whether rows come from Parquet or Arrow files, which have types and no delimiters."""
    try:
        plan = lazy.explain(optimized=False)
    except BaseException:
        return False
    return any(scanned in plan for scanned in ("Parquet SCAN", "Ipc SCAN", "IPC SCAN"))


def _withheld(error: BaseException, doing: str, lazy: pl.LazyFrame) -> BaseException:
    """An error of a library as one of ours; ours, memory that ran out and interrupts, as they are."""
    is_panic = type(error).__name__ == "PanicException"  # of Polars, and no Exception
    if isinstance(error, ReticentError | MemoryError) or not (is_panic or isinstance(error, Exception)):
        return error
    if is_fault_of_file(error) and _reads_columns(lazy):
        return damaged(error)
    said = str(error).lower()
    if "utf-8" in said or "utf8" in said:
        return SourceError("The file is not UTF-8.", attempt='its encoding, e.g. encoding = "latin-1".')
    if not isinstance(error, pl.exceptions.PolarsError):
        return SourceError(
            f"{doing} failed: {type(error).__name__}.",
            why="A function of the lazy frame raised it; its message is withheld, because it may quote a record.",
            attempt="collecting the frame before it is handed over.",
        )
    return SourceError(
        f"{doing} failed: {type(error).__name__}.",
        why="The rows do not have the shape the header says, or a column mixes types.",
        attempt="the delimiter, quoting and encoding of [source].",
    )
