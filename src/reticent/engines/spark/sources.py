"""Where Spark finds rows: Parquet and CSV (a file, a folder, a pattern), tables behind JDBC and of a catalogue, and frames."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from reticent.engines.spark import parquet, texts
from reticent.engines.spark.crossing import crosses, numbered, schema_of, sent
from reticent.engines.spark.faults import answering
from reticent.engines.spark.reading import Reading
from reticent.engines.spark.rows import Distributed
from reticent.errors import SourceError
from reticent.table import source as sources
from reticent.table.database import with_environment
from reticent.table.several import CSV, PARQUET, files_of
from reticent.table.source import Source

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
        return _files(session, source, ship)
    if not schema:
        raise SourceError("The source has no columns.", attempt="a file with a header line.")
    types = {name: pl.String() if sources.is_text(kind) else kind for name, kind in schema}
    if len(types) < len(schema):
        unique = {name: f"c{at}" for at, (name, _) in enumerate(schema)}
        found = found.select([unique[name] for name in types]).toDF(*numbered(len(types)))
    again = Counter(name for name, _ in schema) - Counter(list(types))
    marks = () if frame is not None and not type(frame).__module__.startswith("pyspark.") else source.missing
    return Distributed(found, Reading(types, marks), types, ship, tuple(again.elements()))


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


def _files(session: Any, source: Source, ship: bool) -> Distributed:
    """The files that `local` would read; whatever is there is read as it reads it."""
    if source.path is None:
        raise SourceError("The job names no source.", attempt="a path or a table in [source], or frame=.")
    files = files_of(source.path)
    if files.suffix in CSV:
        return texts.rows_of(session, source, files, ship)
    if files.suffix in PARQUET:
        return parquet.rows_of(session, source, files, ship)
    raise SourceError(
        f"{source.path} is of a kind that Spark does not read here.",
        attempt="Parquet files, or CSV files, or --engine stream.",
    )
