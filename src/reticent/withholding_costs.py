"""What missing values and people with many rows cost a plan, and what withholding rows would cost instead.

A null is grouped with others and makes their labels `*`; `missing = "withhold"` withholds its row. The most rows of one
person multiply the size of every group; `rows_per_person` lower than that, with `beyond = "withhold"`, withholds the
rows that are too many. In both cases few rows may cost everybody. `check` plans what is left by the same method, with
each withheld row counted as lost, so that the losses can be compared, and gives a line to paste (`WithholdingTrial`).

Missing values are tried for each column alone, those that most rows lack first, and for all of these together. Lower
limits of rows per person are tried on a draw of the rows themselves, for the limits at which few rows are withheld.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from reticent.data.cells import Cells, combine_sensitive
from reticent.data.columns import Column, Role, find_columns_with_role, resolve_columns
from reticent.data.declared_withholding import EarlyWithholding
from reticent.engines.engine import Engine
from reticent.errors import ReticentError, pluralize, quote_list
from reticent.job.job import Job, format_column
from reticent.randomness import Random
from reticent.time_limit import TimeLimitReached

MAX_COLUMNS = 3  # columns with missing values that are tried alone
SURPLUS_SHARES = (0.005, 0.02, 0.1)  # for each, the lowest limit at which at most this share of the rows is withheld

Measure = Callable[[Cells], float | None]
"""Plans cells and returns the loss, None if the promise is not reachable; raises `TimeLimitReached`."""


@dataclass(frozen=True, slots=True)
class WithholdingTrial:
    """A plan with rows withheld: `about` is "missing" or "rows_per_person", `withheld` how many more rows than now.

    `ail` is the loss with these rows counted as lost, None if there is no such plan; `paste` the lines for [columns].
    """

    about: str
    columns: tuple[str, ...]
    withheld: int
    ail: float | None
    paste: tuple[str, ...]
    rows_per_person: int | None = None

    def __str__(self) -> str:
        names = quote_list(self.columns)
        rows = pluralize(self.withheld, "more row")
        if self.about == "missing":
            return f'missing = "withhold" for {names}: withholds {rows}'
        return f'rows_per_person = {self.rows_per_person}, beyond = "withhold" for {names}: withholds {rows}'


@dataclass(frozen=True, slots=True)
class WithholdingCosts:
    """`base` is the loss as it is, by the same method as that of the trials; `skipped` counts trials without time."""

    base: float | None = None
    trials: tuple[WithholdingTrial, ...] = ()
    skipped: int = 0

    @property
    def best(self) -> tuple[WithholdingTrial, ...]:
        """The trial of each sort that loses least, if it loses less than the job as it is, or than no plan at all."""
        best_trials: dict[str, tuple[float, WithholdingTrial]] = {}
        for trial in self.trials:
            if trial.ail is None or (self.base is not None and trial.ail >= self.base):
                continue
            if trial.about not in best_trials or trial.ail < best_trials[trial.about][0]:
                best_trials[trial.about] = (trial.ail, trial)
        return tuple(trial for _, trial in best_trials.values())


def measure_withholding_costs(
    job: Job,
    cells: Cells,
    base: float | None,
    measure: Measure,
    has_time_left: Callable[[], bool],
    count_limited: Callable[[str, int], Cells] | None,
    person_rows: Mapping[str, np.ndarray],
) -> WithholdingCosts:
    """Try what withholding rows would do to the loss.

    `person_rows` has the number of rows of each person by identifying column, and `count_limited(column, limit)`
    counts the cells of a draw with at most so many rows of each; it is None where an engine draws no rows.
    """
    proposals: list[tuple[WithholdingTrial, Callable[[], Cells]]] = [*_propose_missing(job, cells)]
    if count_limited is not None:
        proposals += _propose_limits(job, person_rows, count_limited)
    trials: list[WithholdingTrial] = []
    for number, (trial, make_cells) in enumerate(proposals):
        if not has_time_left():
            return WithholdingCosts(base, tuple(trials), len(proposals) - number)
        try:
            trials.append(replace(trial, ail=measure(make_cells())))
        except TimeLimitReached:
            return WithholdingCosts(base, tuple(trials), len(proposals) - number)
        except ReticentError:
            trials.append(trial)
    return WithholdingCosts(base, tuple(trials))


def skip_withholding_trials(job: Job, cells: Cells, columns: Mapping[str, Column]) -> WithholdingCosts:
    """Return that there was no time for any trial: those of missing values, and one for each column that limits rows."""
    limits = sum((column.rows_per_person or 1) > 1 for column in columns.values())
    return WithholdingCosts(skipped=len(list(_propose_missing(job, cells))) + limits)


def count_person_rows(engine: Engine, rows: Any, columns: Mapping[str, Column]) -> dict[str, np.ndarray]:
    """Count the rows of each person, by each identifying column that declares how many these may be."""
    names = [name for name in find_columns_with_role(columns, Role.IDENTIFYING) if columns[name].rows_per_person]
    return {name: engine.count_distinct_rows(rows, [name]).to_series(-1).to_numpy().astype(np.int64) for name in names}


def count_with_limit(
    engine: Engine, rows: Any, columns: Mapping[str, Column], cells: Cells, name: str, limit: int
) -> Cells:
    """Count the cells of a draw of the rows, at most `limit` of each person that a column names."""
    drawn, surplus = engine.drop_surplus(rows, {name: limit}, Random.secure())
    counted = engine.count(drawn, columns, limit).cells
    before = cells.withheld_before
    counted = replace(counted, withheld_before=EarlyWithholding(before.missing, before.surplus + surplus))
    return combine_sensitive(counted) if cells.joint >= 0 else counted


def _propose_missing(job: Job, cells: Cells) -> Iterable[tuple[WithholdingTrial, Callable[[], Cells]]]:
    """Propose to withhold the rows without a value of each column, and of all of them."""
    lacking = _find_lacking_cells(cells)
    row_counts = {name: int(cells.counts[is_lacking].sum()) for name, is_lacking in lacking.items()}
    names = sorted(lacking, key=lambda name: -row_counts[name])
    proposals: list[tuple[str, ...]] = [(name,) for name in names[:MAX_COLUMNS]]
    if len(names) > 1:
        proposals.append(tuple(names))
    for proposed in proposals:
        is_lacking = np.logical_or.reduce([lacking[name] for name in proposed])
        withheld = int(cells.counts[is_lacking].sum())
        if withheld == cells.rows:
            continue
        paste = tuple(_format_declaration(job, name, missing="withhold") for name in proposed)
        trial = WithholdingTrial("missing", proposed, withheld, None, paste)
        yield trial, partial(_drop_cells, cells, is_lacking, withheld)


def _propose_limits(
    job: Job, person_rows: Mapping[str, np.ndarray], count_limited: Callable[[str, int], Cells]
) -> Iterable[tuple[WithholdingTrial, Callable[[], Cells]]]:
    """Propose lower limits of rows per person, each the lowest at which few rows are withheld."""
    for name, rows in person_rows.items():
        most = int(rows.max(initial=1))
        total = int(rows.sum())
        limits = []
        for share in SURPLUS_SHARES:
            limit = next(limit for limit in range(1, most + 1) if _count_surplus(rows, limit) <= share * total)
            if limit < most and limit not in limits:
                limits.append(limit)
        for limit in limits:
            paste = (_format_declaration(job, name, rows_per_person=limit, beyond="withhold"),)
            trial = WithholdingTrial("rows_per_person", (name,), _count_surplus(rows, limit), None, paste, limit)
            yield trial, partial(count_limited, name, limit)


def _count_surplus(rows: np.ndarray, limit: int) -> int:
    return int(np.maximum(rows - limit, 0).sum())


def _find_lacking_cells(cells: Cells) -> dict[str, np.ndarray]:
    """Find, for each column of which rows lack a value, the cells of these rows."""
    coded = [
        *((domain, cells.codes[:, at]) for at, domain in enumerate(cells.quasi)),
        *((domain, cells.values[:, at]) for at, domain in enumerate(cells.sensitive) if at != cells.joint),
    ]
    lacking = {domain.name: codes == domain.null_code for domain, codes in coded if domain.null}
    return {name: is_lacking for name, is_lacking in lacking.items() if is_lacking.any()}


def _drop_cells(cells: Cells, is_lacking: np.ndarray, withheld: int) -> Cells:
    before = cells.withheld_before
    return replace(
        cells,
        codes=np.ascontiguousarray(cells.codes[~is_lacking]),
        values=np.ascontiguousarray(cells.values[~is_lacking]),
        counts=cells.counts[~is_lacking],
        withheld_before=EarlyWithholding(before.missing + withheld, before.surplus),
    )


def _format_declaration(job: Job, name: str, **changes: Any) -> str:
    """Format the line of a column in [columns], as the job declares it and with these changes."""
    patterns = {pattern: column for pattern, column in job.columns.items() if any(mark in pattern for mark in "*?[")}
    declared = {name: job.columns[name]} if name in job.columns else patterns
    return format_column(name, replace(resolve_columns(declared, [name], "drop")[name], **changes))
