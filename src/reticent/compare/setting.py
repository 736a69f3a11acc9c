"""What all candidates of a comparison share: the rows, the people held back to be asked about, and how often is repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import polars as pl

from reticent.budget import Clock
from reticent.errors import RequestError
from reticent.job import Job
from reticent.publish import read
from reticent.table import beside
from reticent.table.cells import Cells
from reticent.table.codec import COUNT, encode_cells
from reticent.table.roles import Role, with_role
from reticent.table.source import TextRows, collect
from reticent.time_limit import run_within
from reticent.utility.classification import Exam

T = TypeVar("T")
HELD_BACK = 0.2
"""The share of people that no release is made of when classification is measured: they are asked about."""


@dataclass(frozen=True, eq=False)
class Setting:
    """`frame` are the rows as the source gives them; a run is a seed of publishing, of questions and of whom to hold back."""

    frame: pl.DataFrame
    runs: int
    seed: int
    attacks: tuple[str, ...]
    learning: bool
    progress: Callable[[str], None]
    of: int  # the rows of the source, of which `frame` may be a part
    has_types: bool = True  # as a CSV has not
    clock: Clock | None = None  # where all of it has a budget

    def handed(self, rows: pl.DataFrame) -> Any:
        """Rows as `publish` takes them for a frame: those of a CSV are marked as such."""
        return rows if self.has_types else TextRows(rows)

    def seconds_left(self) -> float | None:
        """CPU seconds of the budget that are left; None where there is none."""
        return None if self.clock is None else self.clock.remaining()

    def run(self, function: Callable[[], T]) -> T:
        """What the function returns, or `TimeLimitReached` when the budget is used."""
        return function() if self.clock is None else run_within(self.clock.remaining(), function)

    def limited(self, share: float) -> Setting:
        """The same with this share of what is left of the budget."""
        if self.clock is None:
            return self
        return replace(self, clock=Clock.ending(share * self.clock.remaining()))

    def suffices(self, seconds: float) -> bool:
        """Whether there is time for something that takes so many CPU seconds, and as much again for measuring it."""
        return self.clock is None or 2 * seconds < self.clock.remaining()

    def seeds(self) -> list[int]:
        return [self.seed + run for run in range(self.runs)]

    def held_back(self, seed: int) -> np.ndarray:
        """Which rows are asked about: the same of every candidate."""
        rng = np.random.default_rng([seed, 18])
        return rng.permutation(len(self.frame)) < max(int(len(self.frame) * HELD_BACK), 1)

    def part(self, share: int) -> Setting:
        """The same with one in `share` of its rows, drawn at random."""
        return replace(self, frame=self.frame.sample(max(len(self.frame) // share, 1), seed=self.seed))

    def coded(self, job: Job) -> tuple[pl.DataFrame, Cells, np.ndarray]:
        """The rows as a job reads them, their cells, and the cell of each row."""
        lazy, columns = read(job, self.handed(self.frame))
        keys = [*with_role(columns, Role.QUASI), *with_role(columns, Role.SENSITIVE)]
        if len(with_role(columns, Role.SENSITIVE)) != 1:
            raise RequestError(
                f"A comparison is of jobs with one sensitive column; {len(with_role(columns, Role.SENSITIVE))} are declared.",
                attempt="rt.sweep, which plans any job, or a job with one sensitive column.",
            )
        rows = collect(lazy.select(keys), "Reading the rows")
        cells, cell = encode_cells(rows.with_columns(pl.lit(1, pl.Int64).alias(COUNT)), columns)
        return rows, replace(cells, rows_per_person=beside.look(lazy, columns).rows_per_person), cell

    def exam(self, job: Job, seed: int) -> Exam:
        """People apart in those that releases are made of and those asked about, in the codes of all together."""
        asked = self.held_back(seed)
        rows, cells, cell = self.coded(job)
        return Exam(_only(cells, cell[~asked]), _only(cells, cell[asked]), rows.filter(pl.Series(asked)))

    def taught(self, seed: int) -> pl.DataFrame:
        return self.frame.filter(pl.Series(~self.held_back(seed)))


def _only(cells: Cells, chosen: np.ndarray) -> Cells:
    counts = np.bincount(chosen, minlength=len(cells)).astype(np.int64)
    keep = np.flatnonzero(counts)
    return replace(cells, codes=cells.codes[keep], values=cells.values[keep], counts=counts[keep])


def spread(values: Sequence[float | None]) -> dict[str, Any] | None:
    """The mean of several runs, the least and the greatest, and what each gave; None where no run has one."""
    known = [float(value) for value in values if value is not None and not np.isnan(value)]
    if not known:
        return None
    return {"value": float(np.mean(known)), "low": min(known), "high": max(known), "runs": len(known), "each": known}
