"""What an engine is: an object that counts rows into cells and applies a recipe to rows, looked up by its name.

The engine is no part of a job: the same job is the same request everywhere, and engines must agree.  `docs/engines.md` says
what each promises about sameness.
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
from reticent.data.source import Source
from reticent.errors import InternalError
from reticent.format.rows import RowBatches
from reticent.progress import ProgressCallback as ProgressCallback
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe


@dataclass(frozen=True, eq=False)
class CountedTable:
    """Cells, and the raw combinations that were counted, with the cell of each and how many `times` it occurs."""

    cells: Cells
    columns: Mapping[str, Column]
    combinations: pl.DataFrame
    cell: np.ndarray
    multiplicity: np.ndarray
    passthrough_types: Mapping[str, str]


def raise_no_temp_dir() -> Path:
    """For an engine that was given no folder."""
    raise InternalError("An engine needs a folder for what does not fit memory, and was given none.")


@dataclass(frozen=True, eq=False)
class EngineContext:
    """What every verb is told: whom to tell how far it is, and where to put what does not fit memory.

    `room` makes an empty folder on the release's disk, another one each time; they are removed with everything in them.
    """

    progress: ProgressCallback = lambda stage: None
    make_temp_dir: Callable[[], Path] = raise_no_temp_dir


DEFAULT_CONTEXT = EngineContext()


class Engine(Protocol):
    """The verbs of an engine.  Nothing outside `engines/` reads rows."""

    name: ClassVar[str]
    distributed: ClassVar[bool]
    """Whether rows are on other machines, where they cannot be looked at one by one."""

    @property
    def regions(self) -> int | None:
        """How many regions are planned by themselves (`methods/regions`); None: the table is planned whole."""

    def map(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]:
        """What a function makes of each of some arguments, wherever this engine works; the results in the same order."""

    def scan(self, source: Source, frame: Any = None) -> Any:
        """The rows of a source or a frame, lazily, texts that mean missing as null: a Polars frame for one machine."""

    def cache(self, rows: Any) -> Any:
        """Rows that are to be read many times, in memory if that is where this engine has them."""

    def cast(self, rows: Any, columns: Mapping[str, Column]) -> Any:
        """The rows with each column as it is declared: dates and numbers read, carried numbers rounded."""

    def count_passthrough(self, rows: Any, columns: Mapping[str, Column]) -> PassthroughCounts:
        """What is counted of carried values in rows as `scan` gives them, before they are rounded."""

    def profile_columns(
        self, rows: Any, columns: Mapping[str, Column], how: EngineContext = DEFAULT_CONTEXT
    ) -> PassthroughProfile:
        """What stands beside the cells: carried and identifying columns; refused where they tell too much."""

    def count(
        self, rows: Any, columns: Mapping[str, Column], rows_per_person: int = 1, how: EngineContext = DEFAULT_CONTEXT
    ) -> CountedTable:
        """Rows -> cells."""

    def count_distinct_rows(self, rows: Any, names: list[str]) -> pl.DataFrame:
        """The distinct combinations of some columns; the last column says how many rows have each."""

    def filter_equal(self, rows: Any, by: str, value: pl.Series, names: list[str]) -> Any:
        """Some columns of the rows that have that value, the only one of a series, in a column: what `scan` takes for a frame."""

    def apply(
        self,
        counted: CountedTable,
        recipe: Recipe,
        rng: Random,
        rows: Any,
        place: np.ndarray | None = None,
        how: EngineContext = DEFAULT_CONTEXT,
    ) -> RowBatches:
        """The recipe's entry of each published row, and the carried columns beside it, in the order that they are written.

        With a `place` for each entry of the recipe, carried rows are sorted by it and then by what they carry; without one
        they are shuffled.
        """


# MERGED: reticent.engines.pace: How far a pass over the rows is, in words: rows, and the time that is left if it goes on like this.


REPORT_SECONDS = 2.0  # seconds between two words


class PassProgress:
    """Tells `progress` of a pass over `rows` rows, not more often than every two seconds; None: nobody counted them yet."""

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

    def _format_progress(self, took: float) -> str:
        if self.rows is None:
            return f"{self.done:,} rows"
        left = took / self.done * max(self.rows - self.done, 0)
        return f"{self.done:,} of {self.rows:,} rows, about {format_duration(left)} left"


def format_duration(seconds: float) -> str:
    """A time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


# MERGED: reticent.engines.parts: A table in parts, each of which fits the memory of whoever works on it: what an engine that spreads its work can do with one.
#
# Functions go to the parts and frames do not come to whoever asks: `told` brings back what a function says of each part, which is
# to be small.  A part may be worked on twice, and its rows may come in another order: what is drawn for a row must be a function of
# the key and of what was `kept`.


Frames = Iterator[pl.DataFrame]
Schema = Mapping[str, pl.DataType]


class Partitions(Protocol):
    """Rows in parts; nothing is done until they are told of or kept."""

    def map_collect(self, function: Callable[..., Any], *arguments: Any, doing: str) -> list[Any]:
        """What `function(frames, *arguments)` says of each part that has rows."""

    def map_partitions(self, function: Callable[..., Iterable[pl.DataFrame]], schema: Schema, *arguments: Any) -> Self:
        """The frames that `function(frames, number, *arguments)` makes of each part; `number` is the part's."""

    def repartition(self, by: str, parts: int) -> Self:
        """The rows in so many parts: a column of 32-bit numbers says the part of each."""

    def persist(self, folder: Path, doing: str) -> Self:
        """Written once, and read from there ever after."""

    def iterate_partitions(self) -> Frames:
        """Of parts that were kept, one after another; each is removed once it is read."""


class PartitionedEngine(Protocol):
    """An engine that keeps a table in parts."""

    def map(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]: ...

    def count_combinations(self, rows: Any, names: list[str], folder: Path) -> Partitions:
        """The distinct combinations of some columns, counted (`MULTIPLICITY`) and kept in a folder."""

    def read_rows(self, rows: Any, names: list[str]) -> Partitions:
        """Some columns of the rows, as they are read."""

    def number_partitions(self, many: int) -> Partitions:
        """So many parts of one row each, which holds the part's number (`PART_NUMBER`)."""


MULTIPLICITY = "\x00times"
PART_NUMBER = "\x00number"
