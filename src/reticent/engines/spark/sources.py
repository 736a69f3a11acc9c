"""Finds rows for Spark: Parquet and CSV (a file, a folder, a pattern), tables behind JDBC and of a catalogue, and frames.

Parquet: Spark reads the files that the local engine reads, with the columns and types that it finds in them. Times of
day and numbers of half precision keep Spark from opening a file at all.  So if there are some, Spark gets a schema of
the columns that it reads, and the others are refused by their names if they are needed.

CSV: executors read the files with the same functions as the local engine; one task reads one file. Spark's own reader
treats blank lines, damaged bytes and line ends within quotes differently, knows other encodings and guesses other null
values: the same file would be another table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from reticent.data import csv
from reticent.data import files as data_files
from reticent.data import source as sources
from reticent.data.database import expand_environment
from reticent.data.files import CSV_SUFFIXES, PARQUET_SUFFIXES, FileSet, resolve_files
from reticent.data.source import Source, is_text
from reticent.data.spellings import Spellings, replace_spellings
from reticent.engines.cell_lookup import make_source_changed_error
from reticent.engines.spark.conversion import (
    BatchReader,
    build_spark_schema,
    can_cross,
    encode_frame,
    number_columns,
    read_polars_schema,
    to_crossing_type,
    to_record_batches,
)
from reticent.engines.spark.error_translation import translate_spark_errors
from reticent.engines.spark.rows import SparkRows
from reticent.engines.spark.session import LITERAL_PATH_OPTIONS, build_task, to_file_url
from reticent.errors import SourceError, SourceUnreachable

SENT_ROWS = 1 << 16  # rows that are sent at once
JDBC_PREFIX = "jdbc:"
ColumnTypes = list[tuple[str, pl.DataType]]
_UNREADABLE_TYPES = (pl.Time, pl.Float16)
_MAX_TASK_BYTES = 1 << 27  # bytes that a task reads at most, if files are small
_MIN_TASK_BYTES = 1 << 22  # bytes that opening a file costs as much as


def scan_rows(session: Any, source: Source, frame: Any, ship: bool) -> SparkRows:
    """Return the rows of a source or a frame; none is read yet."""
    if isinstance(frame, SparkRows):
        return frame
    is_spark_frame = type(frame).__module__.startswith("pyspark.")
    if is_spark_frame:
        spark_frame, schema = _number_frame_columns(frame)
    elif frame is not None:
        spark_frame, schema = _send_frame(session, sources.scan_source(source, frame))
    elif source.url is not None:
        spark_frame, schema = _number_frame_columns(_open_jdbc(session, source))
    elif source.path is None and source.table is not None:
        with translate_spark_errors("Opening the table"):
            spark_frame, schema = _number_frame_columns(session.table(source.table))
    else:
        return _scan_files(session, source, ship)
    if not schema:
        raise SourceError("The source has no columns.", attempt="a file with a header line.")
    types = {name: pl.String() if sources.is_text(kind) else kind for name, kind in schema}
    if len(types) < len(schema):
        unique = {name: f"c{position}" for position, (name, _) in enumerate(schema)}
        spark_frame = spark_frame.select([unique[name] for name in types]).toDF(*number_columns(len(types)))
    repeated = Counter(name for name, _ in schema) - Counter(list(types))
    null_values = source.missing if frame is None or is_spark_frame else ()  # `scan_source` replaced those of others
    spellings = source.spellings if frame is None or is_spark_frame else ()
    reader = _make_reader(types, null_values, spellings)
    return SparkRows(spark_frame, reader, types, ship, tuple(repeated.elements()))


def scan_parquet_files(session: Any, source: Source, files: FileSet, ship: bool) -> SparkRows:
    """Return the rows; none is read yet."""
    schema = dict(sources.scan_source(Source(path=source.path), by_pieces=True).collect_schema())
    unreadable = tuple(name for name, kind in schema.items() if isinstance(kind, _UNREADABLE_TYPES))
    reader = session.read.options(**LITERAL_PATH_OPTIONS)
    if files.root is not None and files.keys:
        reader = reader.option("basePath", to_file_url(files.root))
    if unreadable:
        reader = reader.schema(_build_read_schema(files, schema))
    with translate_spark_errors("Opening the files"):
        frame = reader.parquet(*map(to_file_url, files.paths))
    types = {name: pl.String() if is_text(kind) else kind for name, kind in schema.items()}
    reader = _make_reader(types, source.missing, source.spellings)
    return SparkRows(_select_known(frame, list(schema)), reader, types, ship, unreadable=unreadable)


def scan_csv_files(session: Any, source: Source, files: data_files.FileSet, ship: bool) -> SparkRows:
    """Return the rows, each field a text; none is read yet."""
    paths = [path.resolve() for path in files.paths]
    for path in paths:
        sources.require_not_empty(path)
    dialects = [
        csv.sniff_csv(path, source.delimiter, source.quote, source.encoding, check_rows=False) for path in paths
    ]
    data_files.require_same_columns(paths, [dict.fromkeys(dialect.header, pl.String()) for dialect in dialects])
    groups = _group_files(paths, session.sparkContext.defaultParallelism)
    names = list(dialects[0].header)

    def narrow(selected: list[str]) -> Any:
        places = [names.index(name) for name in selected]
        run = build_task(session, ship, read_csv_groups, groups, source, names, places)
        frame = session.range(0, len(groups), 1, len(groups)).mapInArrow(
            run, build_spark_schema([pl.String()] * len(selected))
        )
        return frame.toDF(*number_columns(len(selected)))

    types = dict.fromkeys(names, pl.String())
    repeated = Counter(names) - Counter(list(types))
    return SparkRows(
        session.range(0), BatchReader(types), types, ship, tuple(repeated.elements()), narrow, has_types=False
    )


def read_csv_groups(
    batches: Iterable[Any], groups: list[list[str]], source: Source, names: list[str], places: list[int]
) -> Iterator[Any]:
    """Read the wanted columns of the files in the groups whose numbers are in the batches."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            for path in groups[number]:
                for frame in _read_frames(replace(source, path=path), names, places):
                    yield from to_record_batches(encode_frame(frame))


def _make_reader(types: Mapping[str, pl.DataType], null_values: tuple[str, ...], spellings: Spellings) -> BatchReader:
    """Make the reader of a source's batches; a map of a column that is no text is refused here, before a task runs."""
    replace_spellings(pl.LazyFrame(schema=dict(types)), types, spellings)
    return BatchReader(types, null_values, spellings=spellings)


def _number_frame_columns(frame: Any) -> tuple[Any, ColumnTypes]:
    """Rename a Spark frame's columns to numbers; repeated names are refused where they are used."""
    return frame.toDF(*number_columns(len(frame.columns))), [
        *zip(frame.columns, read_polars_schema(frame).values(), strict=True)
    ]


def _send_frame(session: Any, lazy: pl.LazyFrame) -> tuple[Any, ColumnTypes]:
    """Send a frame of this process to Spark."""
    rows = sources.collect_frame(lazy, "Reading the frame")
    schema = dict(rows.schema)
    plain = rows.with_columns(
        pl.lit(None, pl.String).alias(name) for name, kind in schema.items() if not can_cross(kind)
    )
    with translate_spark_errors("Handing the frame to Spark"):
        crossed = encode_frame(plain).to_arrow(compat_level=pl.CompatLevel.oldest())
        return session.createDataFrame(_to_small_strings(crossed)), [*schema.items()]


def _open_jdbc(session: Any, source: Source) -> Any:
    url = expand_environment(str(source.url))
    if not url.startswith(JDBC_PREFIX):
        raise SourceError(
            "The engine spark reads databases by JDBC.",
            attempt=f'url = "{JDBC_PREFIX}postgresql://host/name" with a driver in spark.jars, or --engine stream.',
        )
    request = {"query": source.query} if source.query is not None else {"dbtable": source.table}
    if None in request.values():
        raise SourceError("The source names a database, and neither a table nor a query.", attempt='table = "people".')
    with translate_spark_errors("Opening the database"):
        return session.read.format("jdbc").options(url=url, **request).load()


def _scan_files(session: Any, source: Source, ship: bool) -> SparkRows:
    """Scan the files that the local engine would read, in the way that it reads them."""
    if source.path is None:
        raise SourceError("The job names no source.", attempt="a path or a table in [source], or frame=.")
    files = resolve_files(source.path)
    if files.suffix in CSV_SUFFIXES:
        return scan_csv_files(session, source, files, ship)
    if files.suffix in PARQUET_SUFFIXES:
        return scan_parquet_files(session, source, files, ship)
    raise SourceError(
        f"{source.path} is of a kind that Spark does not read here.",
        attempt="Parquet files, or CSV files, or --engine stream.",
    )


def _build_read_schema(files: FileSet, schema: Mapping[str, pl.DataType]) -> Any:
    """Build the schema that Spark reads: columns that it can read and that may be needed."""
    from pyspark.sql import types

    file_schema = pl.scan_parquet(files.paths[0], glob=False, hive_partitioning=False).collect_schema()
    readable = {
        name: schema[name] for name in file_schema if not isinstance(schema[name], (*_UNREADABLE_TYPES, pl.Null))
    }
    int96_columns = _find_int96_columns(files)
    return types.StructType(
        [
            types.StructField(name, _to_spark_type(kind, name in int96_columns))
            for name, kind in readable.items()
            if can_cross(kind)
        ]
    )


def _select_known(frame: Any, names: list[str]) -> Any:
    """Select the known columns in their order; those that Spark does not read are null."""
    from pyspark.sql import functions as f

    number_of_name = {name: f"c{position}" for position, name in enumerate(frame.columns)}
    numbered = frame.toDF(*number_columns(len(number_of_name)))
    nothing = f.lit(None).cast("string")
    return numbered.select([f.col(number_of_name[name]) if name in number_of_name else nothing for name in names]).toDF(
        *number_columns(len(names))
    )


def _group_files(paths: list[Path], tasks: int) -> list[list[str]]:
    """Group files that a task reads one after the other: small ones together, so that all cores have work."""
    sizes = [path.stat().st_size + _MIN_TASK_BYTES for path in paths]
    max_bytes = min(_MAX_TASK_BYTES, max(_MIN_TASK_BYTES, sum(sizes) // max(tasks, 1)))
    group_bytes = 0
    groups = [[str(paths[0])]]
    for path, size, before in zip(paths[1:], sizes[1:], sizes, strict=False):
        group_bytes += before
        if group_bytes + size > max_bytes:
            groups.append([])
            group_bytes = 0
        groups[-1].append(str(path))
    return groups


def _read_frames(source: Source, names: list[str], places: list[int]) -> Iterator[pl.DataFrame]:
    try:
        scan = sources.open_source(source, by_pieces=True)
    except SourceUnreachable:
        raise SourceUnreachable(
            f"An executor does not find the file {Path(str(source.path)).name}.",
            attempt="a path that this machine and every executor see alike, and a file that nobody removes meanwhile.",
        ) from None
    if scan.names != names:
        raise make_source_changed_error()
    unique_names = scan.rows.collect_schema().names()
    selected = scan.rows.select(unique_names[place] for place in places)
    return sources.iterate_batches(selected, "Reading the rows", SENT_ROWS)


def _to_small_strings(table: Any) -> Any:
    import pyarrow as pa

    fields = [field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field for field in table.schema]
    return table.cast(pa.schema(fields))


def _find_int96_columns(files: FileSet) -> set[str]:
    """Find columns of moments in 96 bits, which Spark takes for moments of a zone."""
    from pyarrow import parquet

    schema = parquet.read_schema(files.paths[0])
    parquet_schema = parquet.ParquetFile(files.paths[0]).schema
    return {
        parquet_schema.column(position).name
        for position in range(len(schema))
        if parquet_schema.column(position).physical_type == "INT96"
    }


def _to_spark_type(kind: pl.DataType, is_int96: bool) -> Any:
    from pyspark.sql import types

    from reticent.engines.spark.conversion import build_spark_schema

    if not isinstance(kind, pl.Datetime):
        return build_spark_schema([to_crossing_type(kind)]).fields[0].dataType
    if kind.time_unit == "ns" and not is_int96:
        return types.LongType()
    return types.TimestampType() if kind.time_zone or is_int96 else types.TimestampNTZType()
