"""The protocol of an engine: an object that counts rows into cells and applies a recipe to rows, looked up by its name.

The engine is no part of a job: the same job is the same request everywhere, and engines must agree.  `docs/engines.md`
documents which results of engines are equal.

`Engine` is the protocol of every engine, `EngineContext` the context of its calls; `PassProgress` reports the progress
of a pass over the rows.

`PartitionedEngine` and `Partitions` are for an engine that distributes its work over a table in parts, each of which
fits the memory of the process that works on it.  Functions are sent to the parts, and frames do not come to the caller:
`map_collect` brings back what a function returns for each part, which is to be small.  A part may be worked on twice,
and its rows may come in another order: what is drawn for a row must be a function of the key and of what was persisted
(`persist`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import Column
from reticent.data.passthrough import PassthroughCounts, PassthroughProfile
from reticent.data.source import Source, SourceScan
from reticent.errors import InternalError
from reticent.format.data_writer import RowBatches
from reticent.progress import ProgressCallback as ProgressCallback
from reticent.progress import format_duration
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe

MULTIPLICITY = "\x00times"
PART_NUMBER = "\x00number"
REPORT_SECONDS = 2.0  # seconds between two reports of progress
Frames = Iterator[pl.DataFrame]
Schema = Mapping[str, pl.DataType]


def raise_no_temp_dir() -> Path:
    """Raise the error of an engine that got no factory for temporary folders."""
    raise InternalError("An engine needs a folder for what does not fit memory, and was given none.")


@dataclass(frozen=True, eq=False)
class EngineContext:
    """Context of an engine call: a progress callback and a factory for temporary folders.

    `make_temp_dir` makes an empty folder on the release's disk, another one each time; they are removed with everything
    in them.  `rng` draws the rows of a person that are too many; without one the draw is not repeatable.
    """

    progress: ProgressCallback = lambda stage: None
    make_temp_dir: Callable[[], Path] = raise_no_temp_dir
    rng: Random | None = None


DEFAULT_CONTEXT = EngineContext()


@dataclass(frozen=True, eq=False)
class CountedTable:
    """Cells, and the raw combinations that were counted, with the cell of each and its number of rows (`multiplicity`)."""

    cells: Cells
    columns: Mapping[str, Column]
    combinations: pl.DataFrame
    cell: np.ndarray
    multiplicity: np.ndarray
    passthrough_types: Mapping[str, str]


class Engine(Protocol):
    """The methods of an engine.  Nothing outside `engines/` reads rows."""

    name: ClassVar[str]
    distributed: ClassVar[bool]
    """Whether rows are on other machines, where they cannot be looked at one by one."""

    @property
    def regions(self) -> int | None:
        """The number of regions that are planned separately (`methods/regions`); None: the table is planned whole."""

    def map(self, function: Callable[..., Any], argument_lists: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Call a function with each tuple of arguments, wherever this engine works; the results are in the same order."""

    def scan(self, source: Source, frame: Any = None) -> SourceScan:
        """Scan a source or a frame lazily, with null for texts that mean missing; the rows are a Polars frame on one machine."""

    def cache(self, rows: Any) -> Any:
        """Return rows that are to be read many times, in memory if this engine has them there."""

    def cast(self, rows: Any, columns: Mapping[str, Column]) -> Any:
        """Return the rows with each column as it is declared: dates and numbers parsed, passthrough numbers rounded."""

    def drop_missing(self, rows: Any, names: list[str]) -> tuple[Any, int]:
        """Return the rows that have a value in each of these columns, and the number of the others."""

    def drop_surplus(self, rows: Any, limits: Mapping[str, int], rng: Random) -> tuple[Any, int]:
        """Return the rows without those drawn of persons with more rows than the limit of a column, and the number of the others."""

    def count_passthrough(self, rows: Any, columns: Mapping[str, Column]) -> PassthroughCounts:
        """Count passthrough values in rows as `scan` returns them, before they are rounded."""

    def profile_columns(
        self, rows: Any, columns: Mapping[str, Column], context: EngineContext = DEFAULT_CONTEXT
    ) -> PassthroughProfile:
        """Compute statistics of the columns that are no part of cells (passthrough and identifying); refuse those that tell too much."""

    def count(
        self,
        rows: Any,
        columns: Mapping[str, Column],
        rows_per_person: int = 1,
        context: EngineContext = DEFAULT_CONTEXT,
    ) -> CountedTable:
        """Count rows into cells."""

    def count_distinct_rows(self, rows: Any, names: list[str]) -> pl.DataFrame:
        """Return the distinct combinations of some columns; the last column is the number of rows of each."""

    def filter_equal(self, rows: Any, by: str, value: pl.Series, names: list[str]) -> Any:
        """Return some columns of the rows whose column `by` equals the only value of a series, as a frame that `scan` accepts."""

    def apply(
        self,
        counted: CountedTable,
        recipe: Recipe,
        rng: Random,
        rows: Any,
        place: np.ndarray | None = None,
        context: EngineContext = DEFAULT_CONTEXT,
    ) -> RowBatches:
        """Return the recipe's entry of each published row, with its passthrough columns, in the order in which they are written.

        With a `place` for each entry of the recipe, passthrough rows are sorted by it and then by their passthrough
        values; without one they are shuffled.
        """


class PartitionedEngine(Protocol):
    """An engine that keeps a table in parts."""

    def map(self, function: Callable[..., Any], argument_lists: Iterable[tuple[Any, ...]]) -> list[Any]: ...

    def count_combinations(self, rows: Any, names: list[str], folder: Path) -> Partitions:
        """Count the distinct combinations of some columns (`MULTIPLICITY`) and persist them in a folder."""

    def read_rows(self, rows: Any, names: list[str]) -> Partitions:
        """Return some columns of the rows, as they are read."""

    def number_partitions(self, count: int) -> Partitions:
        """Make parts of one row each, which holds the part's number (`PART_NUMBER`)."""


class Partitions(Protocol):
    """A table in parts; nothing is computed until the parts are collected or persisted."""

    def map_collect(self, function: Callable[..., Any], *arguments: Any, doing: str) -> list[Any]:
        """Return what `function(frames, *arguments)` returns for each part that has rows."""

    def map_partitions(self, function: Callable[..., Iterable[pl.DataFrame]], schema: Schema, *arguments: Any) -> Self:
        """Return the parts made of the frames of `function(frames, number, *arguments)`; `number` is the part's."""

    def repartition(self, by: str, parts: int) -> Self:
        """Move the rows into this many parts: column `by`, of 32-bit integers, is the part of each row."""

    def persist(self, folder: Path, doing: str) -> Self:
        """Write the parts once; they are read from there afterwards."""

    def iterate_partitions(self) -> Frames:
        """Iterate over persisted parts, one after another; each is removed once it is read."""


class PassProgress:
    """Reports a pass over `rows` rows to `progress`, at most every REPORT_SECONDS: the rows so far and the time left at this pace.

    `rows` is None if the rows were not counted yet.
    """

    def __init__(
        self, doing: str, rows: int | None, progress: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ):
        self.doing = doing
        self.rows = rows
        self.progress = progress
        self.clock = clock
        self.done = 0
        self.started = clock()
        self.last_report = self.started

    def add(self, rows: int) -> None:
        self.done += rows
        now = self.clock()
        if now - self.last_report >= REPORT_SECONDS and self.done:
            self.last_report = now
            self.progress(f"{self.doing}: {self._format_progress(now - self.started)}")

    def _format_progress(self, seconds: float) -> str:
        if self.rows is None:
            return f"{self.done:,} rows"
        seconds_left = seconds / self.done * max(self.rows - self.done, 0)
        return f"{self.done:,} of {self.rows:,} rows, about {format_duration(seconds_left)} left"
