"""Where Spark finds rows: Parquet and CSV (a file, a folder, a pattern), tables behind JDBC and of a catalogue, and frames."""

from __future__ import annotations

import glob
import secrets
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from reticent.engines.spark.crossing import crosses, numbered, schema_of, sent
from reticent.engines.spark.faults import answering
from reticent.engines.spark.reading import Reading
from reticent.engines.spark.rows import Distributed
from reticent.errors import SourceError, SourceUnreachable, listed
from reticent.table import separated
from reticent.table import source as sources
from reticent.table.database import with_environment
from reticent.table.source import CSV, PARQUET, Source

JDBC = "jdbc:"
Schema = list[tuple[str, pl.DataType]]


def rows_of(session: Any, source: Source, frame: Any, ship: bool) -> Distributed:
    """The rows of a source or a frame, none of them read yet."""
    if isinstance(frame, Distributed):
        return frame
    if frame is not None:
        kind = type(frame).__module__
        found, schema = _held(frame) if kind.startswith("pyspark.") else _sent(session, sources.scan(source, frame))
    elif source.url is not None:
        found, schema = _held(_jdbc(session, source))
    elif source.path is None and source.table is not None:
        with answering("Opening the table"):
            found, schema = _held(session.table(source.table))
    else:
        found, schema = _files(session, source)
    if not schema:
        raise SourceError("The source has no columns.", attempt="a file with a header line.")
    types = {name: pl.String() if sources.is_text(kind) else kind for name, kind in schema}
    if len(types) < len(schema):
        unique = {name: f"c{at}" for at, (name, _) in enumerate(schema)}
        found = found.select([unique[name] for name in types]).toDF(*numbered(len(types)))
    again = Counter(name for name, _ in schema) - Counter(list(types))
    marks = () if frame is not None and not type(frame).__module__.startswith("pyspark.") else source.missing
    separate = frame is None and source.path is not None and _listed(source.path)[0].suffix.lower() in CSV
    filled = separate and source.empty == "value"
    return Distributed(found, Reading(types, marks, filled=filled), types, ship, tuple(again.elements()))


def _held(frame: Any) -> tuple[Any, Schema]:
    """A Spark frame; names that repeat are refused by who asks for them."""
    return frame.toDF(*numbered(len(frame.columns))), [*zip(frame.columns, schema_of(frame).values(), strict=True)]


def _sent(session: Any, lazy: pl.LazyFrame) -> tuple[Any, Schema]:
    """A frame of this process, handed to Spark."""
    rows = sources.collect(lazy, "Reading the frame")
    schema = dict(rows.schema)
    plain = rows.with_columns(pl.lit(None, pl.String).alias(name) for name, kind in schema.items() if not crosses(kind))
    with answering("Handing the frame to Spark"):
        crossed = sent(plain).to_arrow(compat_level=pl.CompatLevel.oldest())
        return session.createDataFrame(_small(crossed)), [*schema.items()]


def _small(table: Any) -> Any:
    import pyarrow as pa

    fields = [field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field for field in table.schema]
    return table.cast(pa.schema(fields))


def _jdbc(session: Any, source: Source) -> Any:
    url = with_environment(str(source.url))
    if not url.startswith(JDBC):
        raise SourceError(
            "The engine spark reads databases by JDBC.",
            attempt=f'url = "{JDBC}postgresql://host/name" with a driver in spark.jars, or --engine stream.',
        )
    asked = {"query": source.query} if source.query is not None else {"dbtable": source.table}
    if None in asked.values():
        raise SourceError("The source names a database, and neither a table nor a query.", attempt='table = "people".')
    with answering("Opening the database"):
        return session.read.format("jdbc").options(url=url, **asked).load()


def _files(session: Any, source: Source) -> tuple[Any, Schema]:
    if source.path is None:
        raise SourceError("The job names no source.", attempt="a path or a table in [source], or frame=.")
    paths = _listed(source.path)
    suffix = paths[0].suffix.lower()
    if {path.suffix.lower() for path in paths} - (PARQUET if suffix in PARQUET else CSV):
        raise SourceError(
            f"{source.path} is of a kind that Spark does not read here, or of several.",
            attempt="Parquet files, or CSV files, or --engine stream.",
        )
    if suffix in CSV:
        return _separated(session, source, paths)
    known = _alike(paths)
    with answering("Opening the files"):
        places = [Path(source.path)] if Path(source.path).is_dir() else paths  # a folder's name may hold a value
        frame = session.read.parquet(*map(_plain, places))
    found, schema = _held(frame)
    return found, [(name, known.get(name, kind)) for name, kind in schema]


def _alike(paths: list[Path]) -> dict[str, pl.DataType]:
    """The columns of Parquet files, which must be the same in all of them: Spark would take a missing one for nulls."""
    first = dict(sources.scan(Source(path=str(paths[0]))).collect_schema())
    for path in paths[1:]:
        other = dict(sources.scan(Source(path=str(path))).collect_schema())
        if other != first:
            differ = [name for name in {**first, **other} if first.get(name) != other.get(name)]
            raise SourceError(
                f"{path.name} and {paths[0].name} have different columns or types: {listed(differ)}.",
                why="A column that a part lacks would be read as missing in all of its rows.",
                attempt="parts with the same columns and types.",
            )
    return first


def _listed(path: str) -> list[Path]:
    """The files of a path: itself, those in a folder, or those of a pattern."""
    place = Path(path)
    if place.is_dir():
        found = [file for file in sorted(place.rglob("*")) if file.is_file() and file.name[0] not in "._"]
    else:
        found = [place] if place.exists() else [Path(name) for name in sorted(glob.glob(path))]
    if not found:
        raise SourceUnreachable(
            f"There is no file {path}.", attempt="a path that this machine and every executor see alike."
        )
    return found


def _separated(session: Any, source: Source, paths: list[Path]) -> tuple[Any, Schema]:
    """CSV as text; a row with more or fewer fields than the header fails the job, and so does another header."""
    names = separated.header(str(paths[0]), source.delimiter, source.quote, source.encoding)
    for path in paths:
        if separated.header(str(path), source.delimiter, source.quote, source.encoding) != names:
            raise SourceError(
                f"{path.name} has another header than {paths[0].name}.", attempt="files with the same columns."
            )
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(name, StringType()) for name in numbered(len(names))])
    mark = source.delimiter or separated.likeliest_delimiter(paths[0])
    how = {"sep": mark, "quote": source.quote, "escape": source.quote or "\\", "encoding": source.encoding}
    # A quoted empty field is a text, one without quotes is missing: Spark's own mark for both would be the same.
    empty = {"emptyValue": "", "nullValue": secrets.token_hex(16)}
    with answering("Opening the files"):
        frame = session.read.schema(schema).options(
            header="true", multiLine="true", mode="FAILFAST", enforceSchema="true", **how, **empty
        ).csv([_plain(path) for path in paths])  # fmt: skip
    return frame, [(name, pl.String()) for name in names]


def _plain(path: Path) -> str:
    """A path that Spark takes for no pattern."""
    return path.resolve().as_uri()
