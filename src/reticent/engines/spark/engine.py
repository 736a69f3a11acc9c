"""The spark engine: tables larger than a machine, read, counted and written by executors.

Counting is a group-by; the driver holds the cells and plans as on one machine.  If there are no passthrough columns,
the release is expanded from the cells; otherwise rows get their outcomes on the executors (`passthrough.py`).  The
published quasi-identifiers and sensitive values are those of the local engine with the same seed; which of equal rows
is chosen is drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from reticent.data import passthrough
from reticent.data.cells import COUNT_COLUMN
from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.data.declared_withholding import has_values, require_complete_rows
from reticent.data.passthrough import PassthroughCounts, count_passthrough, select_counted_columns
from reticent.data.source import Source, SourceScan
from reticent.engines import local
from reticent.engines.engine import DEFAULT_CONTEXT, MULTIPLICITY, PART_NUMBER, CountedTable, EngineContext, Frames
from reticent.engines.expansion import expand_rows
from reticent.engines.stream import StreamedRows
from reticent.errors import JobError
from reticent.format.data_writer import BatchColumn
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.validation import flag, integer, mapping, optional, text

if TYPE_CHECKING:
    from reticent.engines.spark.rows import SparkPartitions

MAX_REGIONS = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """`master` is Spark's address; without one, that of RETICENT_SPARK_MASTER, the active session's, or this machine.

    `config` are further settings of a session that is started.  `ship`: the package is sent to the executors; without it,
    they have it installed.  `regions` is the number of regions that are planned separately, on the executors.
    """

    master: str | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    ship: bool = True
    regions: int | None = None
    name: ClassVar[str] = "spark"
    distributed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        optional(text)(self.master, "master")
        flag(self.ship, "ship")
        for name, value in mapping(self.config, "config").items():
            text(value, text(name, "config"))
        optional(integer)(self.regions, "regions")
        if self.regions is not None and not 2 <= self.regions <= MAX_REGIONS:
            raise JobError(f"regions must be from 2 to {MAX_REGIONS:,}.", attempt="regions = 64.")

    def map(self, function: Callable[..., Any], argument_lists: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Call a function with each tuple of arguments on the executors; the results are in the same order."""
        from reticent.engines.spark.session import map_on_executors, open_session

        return map_on_executors(open_session(self.master, self.config), self.ship, function, argument_lists)

    def count_combinations(self, rows: Any, names: list[str], folder: Path) -> SparkPartitions:
        """Count the distinct combinations of some columns by a group-by and persist them in a folder."""
        return rows.group_combinations(names).persist(folder, "Counting the rows")

    def read_rows(self, rows: Any, names: list[str]) -> SparkPartitions:
        """Return some columns of the rows, as they are read."""
        return rows.to_partitions(names)

    def number_partitions(self, count: int) -> SparkPartitions:
        """Make parts of one row each, which holds the part's number."""
        from reticent.engines.spark.rows import SparkPartitions
        from reticent.engines.spark.session import open_session

        frame = open_session(self.master, self.config).range(0, count, 1, count).toDF("c0")
        return SparkPartitions(frame, {PART_NUMBER: pl.Int64()}, self.ship)

    def scan(self, source: Source, frame: Any = None) -> SourceScan:
        from reticent.engines.spark.session import open_session
        from reticent.engines.spark.sources import scan_rows

        rows = scan_rows(open_session(self.master, self.config), source, frame, self.ship)
        return SourceScan(rows, rows.names)

    def cache(self, rows: Any) -> Any:
        return rows

    def cast(self, rows: Any, columns: Mapping[str, Column]) -> Any:
        return rows.cast(columns)

    def drop_missing(self, rows: Any, names: list[str]) -> tuple[Any, int]:
        counts = rows.to_partitions(names).map_collect(_count_part_missing, names, doing="Counting missing values")
        missing = sum(part_missing for _, part_missing in counts)
        require_complete_rows(sum(part_rows for part_rows, _ in counts), missing, names)
        return rows.drop_missing(names), missing

    def drop_surplus(self, rows: Any, limits: Mapping[str, int], rng: Random) -> tuple[Any, int]:
        raise JobError(
            'beyond = "withhold" is not known to the spark engine.',
            why="Spark reads rows in no order of their own, so that the rows drawn in one pass could not be told in the next.",
            attempt='--engine stream (engine="stream"), or rows_per_person as high as anybody has rows.',
        )

    def count_passthrough(self, rows: Any, columns: Mapping[str, Column]) -> PassthroughCounts:
        counted_columns = select_counted_columns(rows.types, columns)
        if not counted_columns:
            return PassthroughCounts()
        parts = rows.to_partitions(list(counted_columns)).map_collect(
            _count_part_passthrough, counted_columns, doing="Reading carried numbers"
        )
        return PassthroughCounts.add_up(parts)

    def profile_columns(
        self, rows: Any, columns: Mapping[str, Column], context: EngineContext = DEFAULT_CONTEXT
    ) -> passthrough.PassthroughProfile:
        names = passthrough.list_profiled_columns(columns)
        if not names:
            return passthrough.PassthroughProfile()
        total, frequencies = rows.count_frequencies(names)
        return passthrough.build_profile(columns, total, frequencies)

    def count(
        self,
        rows: Any,
        columns: Mapping[str, Column],
        rows_per_person: int = 1,
        context: EngineContext = DEFAULT_CONTEXT,
    ) -> CountedTable:
        keys = [*find_columns_with_role(columns, Role.QUASI), *find_columns_with_role(columns, Role.SENSITIVE)]
        combinations = rows.collect_combinations(keys).rename({MULTIPLICITY: COUNT_COLUMN})
        combinations = local.cast_texts_to_categories(combinations.lazy(), keys).collect()
        return local.build_counted_table(combinations, rows.collect_schema(), columns, rows_per_person)

    def count_distinct_rows(self, rows: Any, names: list[str]) -> pl.DataFrame:
        return rows.collect_combinations(names).rename({MULTIPLICITY: COUNT_COLUMN})

    def filter_equal(self, rows: Any, by: str, value: pl.Series, names: list[str]) -> Any:
        return rows.filter_equal(by, value.item(), names)

    def apply(
        self,
        counted: CountedTable,
        recipe: Recipe,
        rng: Random,
        rows: Any,
        place: np.ndarray | None = None,
        context: EngineContext = DEFAULT_CONTEXT,
    ) -> StreamedRows:
        published = int(recipe.quota[recipe.published_entries].sum())
        names = find_columns_with_role(counted.columns, Role.INSENSITIVE)
        if not names:
            return StreamedRows(published, {}, lambda: expand_rows(recipe, rng))
        from reticent.engines.spark.passthrough import SparkPassthroughWriter

        types = {name: BatchColumn(rows.types[name]) for name in names}
        writer = SparkPassthroughWriter(counted, recipe, rng, place, context)
        return StreamedRows(published, types, lambda: writer.iterate_batches(rows, names))


def _count_part_missing(frames: Frames, names: list[str]) -> tuple[int, int]:
    """Count the rows of one part, and those that lack a value in one of these columns."""
    rows = 0
    missing = 0
    for frame in frames:
        rows += len(frame)
        missing += len(frame) - frame.select(has_values(frame.schema, names).sum()).item()
    return rows, missing


def _count_part_passthrough(frames: Frames, columns: Mapping[str, Column]) -> PassthroughCounts:
    """Count the passthrough values of one part."""
    return PassthroughCounts.add_up(count_passthrough(frame.lazy(), columns) for frame in frames)
