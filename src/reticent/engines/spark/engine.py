"""The spark engine: tables larger than a machine, read, counted and written by executors.

Counting is a group-by; the driver holds the cells and plans as on one machine.  Where no other column is carried, the release
is expanded from the cells; otherwise rows get their outcomes on the executors (`carrying.py`).  The quasi-identifiers and
sensitive values that are published are those of `local` with the same seed; which of equal rows is chosen is drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from reticent.door import flag, optional, table, text, whole
from reticent.engines import local
from reticent.engines.engine import PLAINLY, Counted, Working
from reticent.engines.expanded import expanded
from reticent.engines.parts import NUMBER, TIMES, Frames
from reticent.engines.stream import Streamed
from reticent.errors import JobError
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.release.rows import Beside
from reticent.table import beside
from reticent.table.carried import CarriedCounts, count_carried, counted_columns
from reticent.table.codec import COUNT
from reticent.table.roles import Column, Role, with_role
from reticent.table.source import Source

if TYPE_CHECKING:
    from reticent.engines.spark.parts import SparkParts

MOST_REGIONS = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """`master` is Spark's address; without one, that of RETICENT_SPARK_MASTER, the active session's, or this machine.

    `config` are further settings of a session that is started.  `ship`: the package is sent to the executors; without it,
    they have it installed.  `regions`: so many regions are planned by themselves, on the executors.
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
        for name, value in table(self.config, "config").items():
            text(value, text(name, "config"))
        optional(whole)(self.regions, "regions")
        if self.regions is not None and not 2 <= self.regions <= MOST_REGIONS:
            raise JobError(f"regions must be from 2 to {MOST_REGIONS:,}.", attempt="regions = 64.")

    def each(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]:
        """What a function makes of each of some arguments, on the executors; the results in the same order."""
        from reticent.engines.spark.session import each, session_of

        return each(session_of(self.master, self.config), self.ship, function, asked)

    def combined(self, rows: Any, names: list[str], folder: Path) -> SparkParts:
        """The distinct combinations of some columns, counted by a group-by and kept in a folder."""
        return rows.combined(names).kept(folder, "Counting the rows")

    def rows(self, rows: Any, names: list[str]) -> SparkParts:
        """Some columns of the rows, as they are read."""
        return rows.parts(names)

    def numbers(self, many: int) -> SparkParts:
        """So many parts of one row each, which holds the part's number."""
        from reticent.engines.spark.parts import SparkParts
        from reticent.engines.spark.session import session_of

        frame = session_of(self.master, self.config).range(0, many, 1, many).toDF("c0")
        return SparkParts(frame, {NUMBER: pl.Int64()}, self.ship)

    def scan(self, source: Source, frame: Any = None) -> Any:
        from reticent.engines.spark.session import session_of
        from reticent.engines.spark.sources import rows_of

        return rows_of(session_of(self.master, self.config), source, frame, self.ship)

    def held(self, rows: Any) -> Any:
        return rows

    def typed(self, rows: Any, columns: Mapping[str, Column]) -> Any:
        return rows.declared(columns)

    def count_carried(self, rows: Any, columns: Mapping[str, Column]) -> CarriedCounts:
        wanted = counted_columns(rows.types, columns)
        if not wanted:
            return CarriedCounts()
        parts = rows.parts(list(wanted)).told(_carried_counts, wanted, doing="Reading carried numbers")
        return CarriedCounts.added(parts)

    def look(self, rows: Any, columns: Mapping[str, Column], how: Working = PLAINLY) -> beside.Beside:
        names = beside.asked(columns)
        if not names:
            return beside.Beside()
        total, found = rows.repeats(names)
        return beside.answered(columns, total, found)

    def count(
        self, rows: Any, columns: Mapping[str, Column], rows_per_person: int = 1, how: Working = PLAINLY
    ) -> Counted:
        keys = [*with_role(columns, Role.QUASI), *with_role(columns, Role.SENSITIVE)]
        found = rows.combinations(keys).rename({TIMES: COUNT})
        found = local.keyed(found.lazy(), keys).collect()
        return local.counted_of(found, rows.collect_schema(), columns, rows_per_person)

    def tallied(self, rows: Any, names: list[str]) -> pl.DataFrame:
        return rows.combinations(names).rename({TIMES: COUNT})

    def cut(self, rows: Any, by: str, value: pl.Series, names: list[str]) -> Any:
        return rows.cut(by, value.item(), names)

    def apply(
        self,
        counted: Counted,
        recipe: Recipe,
        rng: Random,
        rows: Any,
        place: np.ndarray | None = None,
        how: Working = PLAINLY,
    ) -> Streamed:
        published = int(recipe.quota[recipe.shown].sum())
        names = with_role(counted.columns, Role.INSENSITIVE)
        if not names:
            return Streamed(published, {}, lambda: expanded(recipe, rng))
        from reticent.engines.spark.carrying import Carrying

        types = {name: Beside(rows.types[name]) for name in names}
        carrying = Carrying(counted, recipe, rng, place, how)
        return Streamed(published, types, lambda: carrying.pieces(rows, names))


def _carried_counts(frames: Frames, columns: Mapping[str, Column]) -> CarriedCounts:
    """The counts of one part."""
    return CarriedCounts.added(count_carried(frame.lazy(), columns) for frame in frames)
