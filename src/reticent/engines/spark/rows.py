"""Rows that Spark holds, and questions about them that bring no row to the driver.

`SparkRows` are the rows of a source.  `SparkPartitions` is a table in parts on Spark: partitions, whose frames are made
by functions that are sent to the executors.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from reticent.data import passthrough, text_formats
from reticent.data.columns import Column
from reticent.data.passthrough import ValueFrequencies
from reticent.data.source import is_text
from reticent.data.spellings import select_spellings
from reticent.engines.engine import MULTIPLICITY, Frames, Schema
from reticent.engines.spark import tasks
from reticent.engines.spark.conversion import (
    READ_ROWS,
    BatchReader,
    build_spark_schema,
    decode_frame,
    encode_frame,
    gather_frames,
    number_columns,
    to_record_batches,
)
from reticent.engines.spark.error_translation import translate_spark_errors
from reticent.engines.spark.session import LITERAL_PATH_OPTIONS, build_task, to_file_url
from reticent.errors import ColumnError, pluralize, quote_list

# Java's lz4 cuts a page of more than 256 KB into blocks, which Polars does not read.
WRITE_OPTIONS = {"mapreduce.fileoutputcommitter.algorithm.version": "1", "compression": "snappy"}


@dataclass(frozen=True, eq=False)
class SparkPartitions:
    """A Spark frame with columns c0, c1, ..., and their schema; `reading` is set if they are the source's own columns."""

    frame: Any
    schema: Schema
    ship: bool
    reading: BatchReader | None = None
    folder: Path | None = None

    @property
    def session(self) -> Any:
        return self.frame.sparkSession

    def map_collect(self, function: Callable[..., Any], *arguments: Any, doing: str) -> list[Any]:
        from pyspark.sql.types import BinaryType, StructField, StructType

        run = build_task(self.session, self.ship, _run_collect, self._get_reader(), function, arguments)
        collected = self.frame.mapInArrow(run, StructType([StructField("result", BinaryType())]))
        with translate_spark_errors(doing, self.session):
            results = collected.toArrow().column(0).to_pylist()
        return [pickle.loads(result) for result in results]

    def map_partitions(
        self, function: Callable[..., Iterable[pl.DataFrame]], schema: Schema, *arguments: Any
    ) -> SparkPartitions:
        run = build_task(self.session, self.ship, _run_map, self._get_reader(), function, arguments)
        return SparkPartitions(self.frame.mapInArrow(run, build_spark_schema(schema.values())), schema, self.ship)

    def repartition(self, by: str, parts: int) -> SparkPartitions:
        column = f"c{list(self.schema).index(by)}"
        return SparkPartitions(self.frame.repartitionById(parts, column), self.schema, self.ship)

    def persist(self, folder: Path, doing: str) -> SparkPartitions:
        with translate_spark_errors(doing, self.session):
            self.frame.write.options(**WRITE_OPTIONS).parquet(to_file_url(folder))
            kinds = build_spark_schema(self.schema.values())
            frame = self.session.read.options(**LITERAL_PATH_OPTIONS).schema(kinds).parquet(to_file_url(folder))
        return SparkPartitions(frame, self.schema, self.ship, folder=folder)

    def iterate_partitions(self) -> Frames:
        assert self.folder is not None, "nothing was kept"
        for path in sorted(self.folder.glob("part-*")):
            frame = pl.read_parquet(path, memory_map=False, glob=False)
            path.unlink()
            yield decode_frame(frame, self.schema)

    def _get_reader(self) -> BatchReader | dict[str, pl.DataType]:
        return self.reading if self.reading is not None else dict(self.schema)


@dataclass(frozen=True, eq=False)
class SparkRows:
    """A Spark frame with columns c0, c1, ..., and how a batch of it is read.

    `types` are those of the columns once they are read.  `make_narrow_frame` makes the frame of some columns, if that
    costs less than choosing from all of them.  `unreadable` are columns that Spark cannot read from their source.
    `has_types`: the source knows which of its columns are text, as a CSV does not.
    """

    frame: Any
    reading: BatchReader
    types: Mapping[str, pl.DataType]
    ship: bool = True
    repeated: tuple[str, ...] = ()
    make_narrow_frame: Callable[[list[str]], Any] | None = None
    unreadable: tuple[str, ...] = ()
    has_types: bool = True

    @property
    def session(self) -> Any:
        return self.frame.sparkSession

    @property
    def names(self) -> list[str]:
        """The names as the source has them, repeated ones repeated."""
        return [*self.types, *self.repeated]

    def collect_schema(self) -> pl.Schema:
        return pl.Schema(dict(self.types))

    def task(self, function: Callable, *arguments: Any, shared: Sequence[Any] = ()) -> Callable:
        return build_task(self.session, self.ship, function, *arguments, shared=shared)

    def select_columns(self, names: Iterable[str]) -> tuple[Any, BatchReader]:
        """Return the Spark frame of some columns, and its reader."""
        selected = list(names)
        all_names = list(self.reading.schema)
        self._require_readable(selected)
        if self.make_narrow_frame is not None:
            return self.make_narrow_frame(selected), self.reading.select_columns(selected)
        places = [all_names.index(name) for name in selected]
        frame = self.frame.select([f"c{position}" for position in places]).toDF(*number_columns(len(places)))
        return frame, self.reading.select_columns(selected)

    def _require_readable(self, selected: list[str]) -> None:
        if unreadable := [name for name in selected if name in self.unreadable]:
            raise ColumnError(
                f"{pluralize(len(unreadable), 'column', 'has', 'have')} a type that Spark does not read from Parquet: {quote_list(unreadable)}.",
                why="They are times of day, or numbers of half precision.",
                attempt='a text or a number of seconds instead, undeclared = "drop", or --engine stream.',
            )

    def map_task(
        self, function: Callable, names: Iterable[str], schema: Any, *arguments: Any, shared: Sequence[Any] = ()
    ) -> Any:
        """Return a Spark frame of what a task makes of some columns."""
        frame, reading = self.select_columns(names)
        return frame.mapInArrow(self.task(function, reading, *arguments, shared=shared), schema)

    def group_combinations(self, keys: list[str]) -> SparkPartitions:
        """Count the distinct combinations of some columns by a group-by; the last column is the number of rows of each."""
        from pyspark.sql import functions

        types = {name: self.types[name] for name in keys}
        field_names = number_columns(len(keys) + 1)
        parts = self.map_task(
            tasks.count_combinations, keys, build_spark_schema([*types.values(), pl.Int64()], field_names)
        )
        summed = parts.groupBy(*field_names[:-1]).agg(functions.sum(field_names[-1]).alias(field_names[-1]))
        return SparkPartitions(summed, {**types, MULTIPLICITY: pl.Int64()}, self.ship)

    def collect_combinations(self, keys: list[str]) -> pl.DataFrame:
        """Count the same, and collect the result on the driver."""
        combinations = self.group_combinations(keys)
        with translate_spark_errors("Counting the rows", self.session):
            return decode_frame(_to_polars(combinations.frame.toArrow()), combinations.schema)

    def filter_equal(self, by: str, value: Any, names: list[str]) -> SparkRows:
        """Return some columns of the rows with that value, as Spark compares it."""
        from pyspark.sql import functions as f

        kind = self.types[by]
        is_integer = kind.is_integer() and kind != pl.UInt64
        if not is_text(kind) and kind not in (pl.Boolean, pl.Date) and not is_integer:
            raise ColumnError(
                f"The column {by!r} has the type {kind}, by which Spark makes no batches.",
                attempt="a column of texts, whole numbers or dates, or --engine stream.",
            )
        if by in select_spellings([by], self.reading.spellings):
            raise ColumnError(
                f"The column {by!r} has a map, and Spark makes no batches by such a column.",
                why="Spark compares the values that the source has, not those that replace them.",
                attempt="--engine stream, or leaving map out.",
            )
        selected = list(dict.fromkeys([by, *names]))
        frame, reading = self.select_columns(selected)
        types = {name: self.types[name] for name in selected}
        frame, reading = SparkRows(frame.filter(f.col("c0") == f.lit(value)), reading, types).select_columns(names)
        types = {name: types[name] for name in names}
        return SparkRows(frame, reading, types, self.ship, has_types=self.has_types)

    def drop_missing(self, names: list[str]) -> SparkRows:
        """Return the rows that have a value in each of these columns, once they are read."""

        def make_narrow_frame(selected: list[str]) -> Any:
            needed = [*selected, *(name for name in names if name not in selected)]
            schema = build_spark_schema([self.types[name] for name in selected])
            return self.map_task(tasks.select_complete_rows, needed, schema, selected, names)

        return replace(self, reading=BatchReader(dict(self.types)), make_narrow_frame=make_narrow_frame)

    def to_partitions(self, names: list[str]) -> SparkPartitions:
        """Return some columns, as they are read."""
        frame, reading = self.select_columns(names)
        return SparkPartitions(frame, {name: self.types[name] for name in names}, self.ship, reading)

    def count_frequencies(self, names: list[str]) -> tuple[int, dict[str, ValueFrequencies]]:
        """Count the rows, and how often the values of each column occur."""
        from pyspark.sql import functions as f

        kinds = build_spark_schema([pl.Int32(), pl.Int64(), pl.Int64()], ["column", "hash", tasks.ROW_COUNT])
        value_counts = (
            self.map_task(tasks.count_values, names, kinds)
            .groupBy("column", "hash")
            .agg(f.sum(tasks.ROW_COUNT).alias("times"))
        )
        count = f.when(f.col("hash").isNotNull(), f.col("times"))
        frequencies = value_counts.groupBy("column").agg(
            f.sum(f.when(f.col("hash").isNull(), f.col("times"))).alias("missing"),
            f.count("hash").alias("distinct"),
            f.sum((count == 1).cast("long")).alias("once"),
            f.max(count).alias("max_count"),
            f.sum("times").alias("rows"),
        )
        with translate_spark_errors("Counting identifying and carried values", self.session):
            row_of_column = {row["column"]: row for row in frequencies.toArrow().to_pylist()}
        rows = int(row_of_column[0]["rows"]) if row_of_column else 0
        measures = ("missing", "distinct", "once", "max_count")
        none = dict.fromkeys(measures, 0)
        return rows, {
            name: ValueFrequencies(*(int(row_of_column.get(position, none)[measure] or 0) for measure in measures))
            for position, name in enumerate(names)
        }

    def cast(self, columns: Mapping[str, Column]) -> SparkRows:
        """Return the rows with columns as they are declared; what depends on a column's values is decided from its distinct ones."""
        value_maps = {}
        types = dict(self.types)
        for name, column in columns.items():
            is_parsed = text_formats.needs_parsing(types[name], column)
            if not is_parsed and not passthrough.is_typed_by_declaration(types[name], column):
                continue
            raw = self._collect_distinct(name)
            lazy = raw.rename({"raw": name}).lazy()
            parsed = passthrough.cast_passthrough(
                text_formats.parse_declared(lazy, {name: column}), {name: column}
            ).collect()[name]
            if parsed.dtype != types[name] or not parsed.equals(raw["raw"]):
                value_maps[name] = raw.with_columns(parsed.alias("read"))
                types[name] = parsed.dtype
        recoded = {name: column for name, column in columns.items() if passthrough.is_recoded(column)}
        empty = pl.DataFrame(schema={name: types[name] for name in recoded}).lazy()
        types |= dict(passthrough.recode_passthrough(empty, recoded).collect_schema()) if recoded else {}
        return replace(self, reading=replace(self.reading, read=value_maps, columns=recoded), types=types)

    def _collect_distinct(self, name: str) -> pl.DataFrame:
        kinds = [self.reading.schema[name]]
        parts = self.map_task(tasks.list_distinct, [name], build_spark_schema(kinds))
        with translate_spark_errors(f"Reading column {name!r}", self.session):
            distinct = decode_frame(_to_polars(parts.distinct().toArrow()), {"raw": kinds[0]})
        return distinct.with_columns(pl.col("raw").cast(pl.String)) if is_text(kinds[0]) else distinct


def _run_collect(batches: Iterable[Any], reading: Any, function: Callable, arguments: tuple[Any, ...]) -> Iterator[Any]:
    import pyarrow as pa

    frames = _iterate_frames(batches, reading)
    if (first := next(frames, None)) is not None:
        result = pickle.dumps(function(chain([first], frames), *arguments), protocol=5)
        yield pa.RecordBatch.from_arrays([pa.array([result], pa.binary())], ["result"])


def _run_map(batches: Iterable[Any], reading: Any, function: Callable, arguments: tuple[Any, ...]) -> Iterator[Any]:
    from pyspark import TaskContext

    for frame in function(_iterate_frames(batches, reading), TaskContext.get().partitionId(), *arguments):
        for start in range(0, len(frame), READ_ROWS):
            yield from to_record_batches(encode_frame(frame[start : start + READ_ROWS]))


def _to_polars(table: Any) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _iterate_frames(batches: Iterable[Any], reading: BatchReader | dict[str, pl.DataType]) -> Frames:
    if isinstance(reading, BatchReader):
        yield from reading.read_frames(batches)
    else:
        for rows in gather_frames(batches):
            yield decode_frame(rows, reading)
