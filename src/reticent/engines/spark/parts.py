"""Parts of a table on Spark: partitions, whose frames are made by functions that are sent to the executors."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from reticent.engines.parts import Frames, Schema
from reticent.engines.spark.crossing import received, sent, spark_types, to_batches
from reticent.engines.spark.faults import answering
from reticent.engines.spark.places import AS_NAMED, address
from reticent.engines.spark.reading import ROWS, Reading, gathered
from reticent.engines.spark.session import task

# Java's lz4 cuts a page of more than 256 KB into blocks, which Polars does not read.
ONE_ATTEMPT = {"mapreduce.fileoutputcommitter.algorithm.version": "1", "compression": "snappy"}


@dataclass(frozen=True, eq=False)
class SparkParts:
    """A Spark frame whose columns are called c0, c1, ..., and what they are; `reading` where they are the source's own."""

    frame: Any
    schema: Schema
    ship: bool
    reading: Reading | None = None
    folder: Path | None = None

    @property
    def session(self) -> Any:
        return self.frame.sparkSession

    def told(self, function: Callable[..., Any], *arguments: Any, doing: str) -> list[Any]:
        from pyspark.sql.types import BinaryType, StructField, StructType

        run = task(self.session, self.ship, _telling, self._read(), function, arguments)
        said = self.frame.mapInArrow(run, StructType([StructField("said", BinaryType())]))
        with answering(doing, self.session):
            found = said.toArrow().column(0).to_pylist()
        return [pickle.loads(one) for one in found]

    def made(self, function: Callable[..., Iterable[pl.DataFrame]], schema: Schema, *arguments: Any) -> SparkParts:
        run = task(self.session, self.ship, _making, self._read(), function, arguments)
        return SparkParts(self.frame.mapInArrow(run, spark_types(schema.values())), schema, self.ship)

    def moved(self, by: str, parts: int) -> SparkParts:
        column = f"c{list(self.schema).index(by)}"
        return SparkParts(self.frame.repartitionById(parts, column), self.schema, self.ship)

    def kept(self, folder: Path, doing: str) -> SparkParts:
        with answering(doing, self.session):
            self.frame.write.options(**ONE_ATTEMPT).parquet(address(folder))
            kinds = spark_types(self.schema.values())
            found = self.session.read.options(**AS_NAMED).schema(kinds).parquet(address(folder))
        return SparkParts(found, self.schema, self.ship, folder=folder)

    def read(self) -> Frames:
        assert self.folder is not None, "nothing was kept"
        for path in sorted(self.folder.glob("part-*")):
            frame = pl.read_parquet(path, memory_map=False, glob=False)
            path.unlink()
            yield received(frame, self.schema)

    def _read(self) -> Reading | dict[str, pl.DataType]:
        return self.reading if self.reading is not None else dict(self.schema)


def _frames(batches: Iterable[Any], read: Reading | dict[str, pl.DataType]) -> Frames:
    if isinstance(read, Reading):
        yield from read.frames(batches)
    else:
        for rows in gathered(batches):
            yield received(rows, read)


def _telling(batches: Iterable[Any], read: Any, function: Callable, arguments: tuple[Any, ...]) -> Iterator[Any]:
    import pyarrow as pa

    frames = _frames(batches, read)
    if (first := next(frames, None)) is not None:
        said = pickle.dumps(function(chain([first], frames), *arguments), protocol=5)
        yield pa.RecordBatch.from_arrays([pa.array([said], pa.binary())], ["said"])


def _making(batches: Iterable[Any], read: Any, function: Callable, arguments: tuple[Any, ...]) -> Iterator[Any]:
    from pyspark import TaskContext

    for frame in function(_frames(batches, read), TaskContext.get().partitionId(), *arguments):
        for start in range(0, len(frame), ROWS):
            yield from to_batches(sent(frame[start : start + ROWS]))
