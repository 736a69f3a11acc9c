"""Rows that Spark holds, and what is asked of them without a row coming to the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from reticent.engines.parts import TIMES
from reticent.engines.spark import tasks
from reticent.engines.spark.crossing import numbered, received, spark_types
from reticent.engines.spark.faults import answering
from reticent.engines.spark.parts import SparkParts
from reticent.engines.spark.reading import Reading
from reticent.engines.spark.session import task
from reticent.errors import ColumnError, listed, some
from reticent.table import carried, written
from reticent.table.repeats import Repeats
from reticent.table.roles import Column
from reticent.table.source import is_text


@dataclass(frozen=True, eq=False)
class Distributed:
    """A Spark frame whose columns are called c0, c1, ..., and how a batch of it is read.

    `types` are those of the columns once they are read.  `narrow` makes the frame of some columns, where that costs less than
    choosing from all of them.  `unread` are columns that Spark cannot read from where they are.  `has_types`: the source says
    which of its columns are text, as a CSV does not.
    """

    frame: Any
    reading: Reading
    types: Mapping[str, pl.DataType]
    ship: bool = True
    repeated: tuple[str, ...] = ()
    narrow: Callable[[list[str]], Any] | None = None
    unread: tuple[str, ...] = ()
    has_types: bool = True

    @property
    def session(self) -> Any:
        return self.frame.sparkSession

    @property
    def names(self) -> list[str]:
        """As the source has them, repeated ones repeated."""
        return [*self.types, *self.repeated]

    def collect_schema(self) -> pl.Schema:
        return pl.Schema(dict(self.types))

    def task(self, function: Callable, *arguments: Any, shared: Sequence[Any] = ()) -> Callable:
        return task(self.session, self.ship, function, *arguments, shared=shared)

    def narrowed(self, names: Iterable[str]) -> tuple[Any, Reading]:
        """The Spark frame of some columns, and how it is read."""
        wanted, known = list(names), list(self.reading.schema)
        self._refuse_unread(wanted)
        if self.narrow is not None:
            return self.narrow(wanted), self.reading.only(wanted)
        places = [known.index(name) for name in wanted]
        return self.frame.select([f"c{at}" for at in places]).toDF(*numbered(len(places))), self.reading.only(wanted)

    def _refuse_unread(self, wanted: list[str]) -> None:
        if bad := [name for name in wanted if name in self.unread]:
            raise ColumnError(
                f"{some(len(bad), 'column', 'has', 'have')} a type that Spark does not read from Parquet: {listed(bad)}.",
                why="They are times of day, or numbers of half precision.",
                attempt='a text or a number of seconds instead, undeclared = "drop", or --engine stream.',
            )

    def mapped(
        self, function: Callable, names: Iterable[str], schema: Any, *arguments: Any, shared: Sequence[Any] = ()
    ) -> Any:
        """A Spark frame of what a task makes of some columns."""
        frame, reading = self.narrowed(names)
        return frame.mapInArrow(self.task(function, reading, *arguments, shared=shared), schema)

    def combined(self, keys: list[str]) -> SparkParts:
        """The distinct combinations of some columns, counted by a group-by; the last column says how many rows have each."""
        from pyspark.sql import functions

        types = {name: self.types[name] for name in keys}
        known = numbered(len(keys) + 1)
        parts = self.mapped(tasks.counted, keys, spark_types([*types.values(), pl.Int64()], known))
        summed = parts.groupBy(*known[:-1]).agg(functions.sum(known[-1]).alias(known[-1]))
        return SparkParts(summed, {**types, TIMES: pl.Int64()}, self.ship)

    def combinations(self, keys: list[str]) -> pl.DataFrame:
        """The same on the driver."""
        found = self.combined(keys)
        with answering("Counting the rows", self.session):
            return received(_polars(found.frame.toArrow()), found.schema)

    def cut(self, by: str, value: Any, names: list[str]) -> Distributed:
        """Some columns of the rows with that value, which Spark compares as it holds it."""
        from pyspark.sql import functions as f

        kind = self.types[by]
        if not (is_text(kind) or kind in (pl.Boolean, pl.Date) or (kind.is_integer() and kind != pl.UInt64)):
            raise ColumnError(
                f"The column {by!r} has the type {kind}, by which Spark makes no batches.",
                attempt="a column of texts, whole numbers or dates, or --engine stream.",
            )
        both = list(dict.fromkeys([by, *names]))
        frame, reading = self.narrowed(both)
        types = {name: self.types[name] for name in both}
        frame, reading = Distributed(frame.filter(f.col("c0") == f.lit(value)), reading, types).narrowed(names)
        types = {name: types[name] for name in names}
        return Distributed(frame, reading, types, self.ship, has_types=self.has_types)

    def parts(self, names: list[str]) -> SparkParts:
        """Some columns, as they are read."""
        frame, reading = self.narrowed(names)
        return SparkParts(frame, {name: self.types[name] for name in names}, self.ship, reading)

    def repeats(self, names: list[str]) -> tuple[int, dict[str, Repeats]]:
        """How many rows there are, and how often the values of each column occur."""
        from pyspark.sql import functions as f

        kinds = spark_types([pl.Int32(), pl.Int64(), pl.Int64()], ["column", "hash", tasks.TIMES])
        each = (
            self.mapped(tasks.repeated, names, kinds).groupBy("column", "hash").agg(f.sum(tasks.TIMES).alias("times"))
        )
        held = f.when(f.col("hash").isNotNull(), f.col("times"))
        asked = each.groupBy("column").agg(
            f.sum(f.when(f.col("hash").isNull(), f.col("times"))).alias("missing"), f.count("hash").alias("distinct"),
            f.sum((held == 1).cast("long")).alias("once"), f.max(held).alias("most"), f.sum("times").alias("rows"),
        )  # fmt: skip
        with answering("Counting identifying and carried values", self.session):
            found = {row["column"]: row for row in asked.toArrow().to_pylist()}
        rows = int(found[0]["rows"]) if found else 0
        words = ("missing", "distinct", "once", "most")
        none = dict.fromkeys(words, 0)
        return rows, {
            name: Repeats(*(int(found.get(at, none)[word] or 0) for word in words)) for at, name in enumerate(names)
        }

    def declared(self, columns: Mapping[str, Column]) -> Distributed:
        """With columns as they are declared.  What a whole column decides is asked of its distinct values."""
        read, types = {}, dict(self.types)
        for name, column in columns.items():
            if not (written.concerned(types[name], column) or carried.read_as_declared(types[name], column)):
                continue
            raw = self._distinct(name)
            lazy = raw.rename({"raw": name}).lazy()
            done = carried.as_declared(written.as_declared(lazy, {name: column}), {name: column}).collect()[name]
            if done.dtype != types[name] or not done.equals(raw["raw"]):
                read[name], types[name] = raw.with_columns(done.alias("read")), done.dtype
        steps = {name: column for name, column in columns.items() if column.round_to is not None}
        empty = pl.DataFrame(schema={name: types[name] for name in steps}).lazy()
        types |= dict(carried.rounded(empty, steps).collect_schema()) if steps else {}
        return replace(self, reading=replace(self.reading, read=read, columns=steps), types=types)

    def _distinct(self, name: str) -> pl.DataFrame:
        kinds = [self.reading.schema[name]]
        parts = self.mapped(tasks.distinct, [name], spark_types(kinds))
        with answering(f"Reading column {name!r}", self.session):
            found = received(_polars(parts.distinct().toArrow()), {"raw": kinds[0]})
        return found.with_columns(pl.col("raw").cast(pl.String)) if is_text(kinds[0]) else found


def _polars(table: Any) -> pl.DataFrame:
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found
