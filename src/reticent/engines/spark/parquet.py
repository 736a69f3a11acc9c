"""Parquet files as Spark reads them: those files that `local` reads, with the columns and types that it finds in them.

Times of day and numbers of half precision keep Spark from opening a file at all.  So where there are some, Spark is told which
columns it reads, and the others are refused by their names if anybody asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from reticent.engines.spark.crossing import crosses, numbered, stored
from reticent.engines.spark.faults import answering
from reticent.engines.spark.places import AS_NAMED, address
from reticent.engines.spark.reading import Reading
from reticent.engines.spark.rows import Distributed
from reticent.table import source as sources
from reticent.table.several import Files
from reticent.table.source import Source, is_text

_UNREAD = (pl.Time, pl.Float16)


def rows_of(session: Any, source: Source, files: Files, ship: bool) -> Distributed:
    """The rows, none of them read yet."""
    known = dict(sources.scan(Source(path=source.path), by_pieces=True).collect_schema())
    unread = tuple(name for name, kind in known.items() if isinstance(kind, _UNREAD))
    reader = session.read.options(**AS_NAMED)
    if files.root is not None and files.keys:
        reader = reader.option("basePath", address(files.root))
    if unread:
        reader = reader.schema(_schema(files, known))
    with answering("Opening the files"):
        held = reader.parquet(*map(address, files.paths))
    types = {name: pl.String() if is_text(kind) else kind for name, kind in known.items()}
    return Distributed(_chosen(held, list(known)), Reading(types, source.missing), types, ship, unread=unread)


def _chosen(held: Any, names: list[str]) -> Any:
    """The columns that are known, in their order; nothing in those that Spark does not read."""
    from pyspark.sql import functions as f

    place = {name: f"c{at}" for at, name in enumerate(held.columns)}
    found = held.toDF(*numbered(len(place)))
    nothing = f.lit(None).cast("string")
    return found.select([f.col(place[name]) if name in place else nothing for name in names]).toDF(
        *numbered(len(names))
    )


def _schema(files: Files, known: Mapping[str, pl.DataType]) -> Any:
    """What Spark is to read of the files: columns that it can, and that somebody may ask for."""
    from pyspark.sql import types

    held = pl.scan_parquet(files.paths[0], glob=False, hive_partitioning=False).collect_schema()
    wanted = {name: known[name] for name in held if not isinstance(known[name], (*_UNREAD, pl.Null))}
    old = _old_moments(files)
    return types.StructType(
        [types.StructField(name, _spark_type(kind, name in old)) for name, kind in wanted.items() if crosses(kind)]
    )


def _spark_type(kind: pl.DataType, old: bool) -> Any:
    from pyspark.sql import types

    from reticent.engines.spark.crossing import spark_types

    if not isinstance(kind, pl.Datetime):
        return spark_types([stored(kind)]).fields[0].dataType
    if kind.time_unit == "ns" and not old:
        return types.LongType()
    return types.TimestampType() if kind.time_zone or old else types.TimestampNTZType()


def _old_moments(files: Files) -> set[str]:
    """Columns of moments in 96 bits, which Spark takes for moments of a zone."""
    from pyarrow import parquet

    schema = parquet.read_schema(files.paths[0])
    found = parquet.ParquetFile(files.paths[0]).schema
    return {found.column(at).name for at in range(len(schema)) if found.column(at).physical_type == "INT96"}
