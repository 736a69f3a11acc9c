"""What an engine is: an object that counts rows into cells and applies a recipe to rows, looked up by its name.

The engine is no part of a job: the same job is the same request everywhere, and engines must agree.  `docs/engines.md` says
what each promises about sameness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl

from reticent.errors import InternalError
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.release.rows import Pieces
from reticent.step import Progress as Progress
from reticent.table.beside import Beside
from reticent.table.carried import CarriedCounts
from reticent.table.cells import Cells
from reticent.table.roles import Column
from reticent.table.source import Source


@dataclass(frozen=True, eq=False)
class Counted:
    """Cells, and the raw combinations that were counted, with the cell of each and how many `times` it occurs."""

    cells: Cells
    columns: Mapping[str, Column]
    combinations: pl.DataFrame
    cell: np.ndarray
    times: np.ndarray
    carried_types: Mapping[str, str]


def no_room() -> Path:
    """For an engine that was given no folder."""
    raise InternalError("An engine needs a folder for what does not fit memory, and was given none.")


@dataclass(frozen=True, eq=False)
class Working:
    """What every verb is told: whom to tell how far it is, and where to put what does not fit memory.

    `room` makes an empty folder on the release's disk, another one each time; they are removed with everything in them.
    """

    progress: Progress = lambda stage: None
    room: Callable[[], Path] = no_room


PLAINLY = Working()


class Engine(Protocol):
    """The verbs of an engine.  Nothing outside `engines/` reads rows."""

    name: ClassVar[str]
    distributed: ClassVar[bool]
    """Whether rows are on other machines, where they cannot be looked at one by one."""

    @property
    def regions(self) -> int | None:
        """How many regions are planned by themselves (`methods/regions`); None: the table is planned whole."""

    def each(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]:
        """What a function makes of each of some arguments, wherever this engine works; the results in the same order."""

    def scan(self, source: Source, frame: Any = None) -> Any:
        """The rows of a source or a frame, lazily, texts that mean missing as null: a Polars frame for one machine."""

    def held(self, rows: Any) -> Any:
        """Rows that are to be read many times, in memory if that is where this engine has them."""

    def typed(self, rows: Any, columns: Mapping[str, Column]) -> Any:
        """The rows with each column as it is declared: dates and numbers read, carried numbers rounded."""

    def count_carried(self, rows: Any, columns: Mapping[str, Column]) -> CarriedCounts:
        """What is counted of carried values in rows as `scan` gives them, before they are rounded."""

    def look(self, rows: Any, columns: Mapping[str, Column], how: Working = PLAINLY) -> Beside:
        """What stands beside the cells: carried and identifying columns; refused where they tell too much."""

    def count(
        self, rows: Any, columns: Mapping[str, Column], rows_per_person: int = 1, how: Working = PLAINLY
    ) -> Counted:
        """Rows -> cells."""

    def tallied(self, rows: Any, names: list[str]) -> pl.DataFrame:
        """The distinct combinations of some columns; the last column says how many rows have each."""

    def cut(self, rows: Any, by: str, value: pl.Series, names: list[str]) -> Any:
        """Some columns of the rows that have that value, the only one of a series, in a column: what `scan` takes for a frame."""

    def apply(
        self,
        counted: Counted,
        recipe: Recipe,
        rng: Random,
        rows: Any,
        place: np.ndarray | None = None,
        how: Working = PLAINLY,
    ) -> Pieces:
        """The recipe's entry of each published row, and the carried columns beside it, in the order that they are written.

        With a `place` for each entry of the recipe, carried rows are sorted by it and then by what they carry; without one
        they are shuffled.
        """
