"""Sweep: the job planned again for every combination of some parameters.

Nothing is published, nothing enters the ledger.

    swept = rt.sweep(job, frame=people, k=[2, 5, 10], beta=[1, 2, 4])
    swept.frame()      a row for each combination: what is reached, lost and measured, and CPU seconds
    swept.chart()      the loss over the first parameter, a line for each value of the second
    swept.left_out     the combinations that a budget left no time for

A parameter belongs to the one promise of the job that has it, or else to the method; `method=["mondrian", "mosaic"]`
sweeps methods. Rows are counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeVar

import polars as pl

from reticent import charts, registry
from reticent.budget import BudgetClock
from reticent.data.cells import Cells
from reticent.errors import ColumnError, JobError, PromiseUnreachable, RequestError, suggest
from reticent.html_repr import render_page, render_table
from reticent.job.job import Job
from reticent.planning import count, measure, plan
from reticent.progress import ProgressEvent
from reticent.time_limit import TimeLimitReached, run_within
from reticent.validation import integer, is_callable, is_job, optional, seconds, text, validate_arguments, value_list

T = TypeVar("T")
MAX_COMBINATIONS = 1_000
"""The most combinations of one sweep: more are hardly intended."""
NOT_PLANNED = "There was no time left to plan it: a greater budget, or fewer values."
NOT_MEASURED = "There was no time left to measure it: a greater budget, or fewer values."


@dataclass(frozen=True, eq=False)
class SweepResult:
    """Result of `sweep`: `parameters` are the swept names in the order given; `rows` one mapping for each combination.

    `reachable` is None in the rows of combinations that a budget left no time for.
    """

    parameters: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def left_out(self) -> tuple[Mapping[str, Any], ...]:
        """The combinations that were not planned, for lack of time."""
        return tuple({name: row[name] for name in self.parameters} for row in self.rows if row["reachable"] is None)

    def frame(self) -> pl.DataFrame:
        """Return a row for each combination; a measure is null where the combination has none."""
        return pl.DataFrame(list(self.rows), infer_schema_length=None)

    @validate_arguments(measure=text)
    def chart(self, measure: str = "loss") -> charts.Chart:
        """Chart a measure over the first parameter, a line for each value of the second, a picture for each of the
        third.
        """
        frame = self.frame()
        numeric = [name for name, dtype in frame.schema.items() if dtype.is_numeric() and name not in self.parameters]
        if measure not in numeric:
            raise ColumnError(f"The sweep measured no {measure!r}.", attempt=suggest(measure, numeric))
        if len(self.parameters) > 3:
            raise RequestError(
                f"A chart shows three parameters, and {len(self.parameters)} were swept.",
                attempt="sweep.frame(), with one of your own.",
            )
        across, apart, rows = (*self.parameters, None, None)[:3]
        title = f"{measure} by {' and '.join(self.parameters)}"
        return charts.draw_lines(frame.drop_nulls(measure), str(across), measure, title, apart, rows)

    def _repr_html_(self) -> str:
        shown = (*self.parameters, "reachable", "groups", "smallest", "withheld", "loss", "seconds")
        rows = [[row[name] for name in shown] for row in self.rows]
        return render_page(f"{self._count_plans()}; nothing was published", render_table(shown, rows))

    def __repr__(self) -> str:
        reached = sum(row["reachable"] is True for row in self.rows)
        return f"<sweep of {self._count_plans()} over {', '.join(self.parameters)}: {reached} reach the promise>"

    def _count_plans(self) -> str:
        left_out = len(self.left_out)
        without = f" ({left_out} more were not made, for want of time)" if left_out else ""
        return f"{len(self.rows) - left_out} plans{without}"


@validate_arguments(job=is_job, seed=optional(integer), budget=optional(seconds), progress=is_callable)
def sweep(
    job: Job,
    *,
    frame: Any = None,
    seed: int | None = None,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    **parameters: Sequence[Any],
) -> SweepResult:
    """Plan the job for every combination of the parameters that are listed, and measure what each reaches, loses and
    costs.

    `budget`: CPU seconds that all of it may take. A plan that has not ended by then is stopped; it and those after it
    are rows whose `reachable` is None and whose `why` gives the reason, and `left_out` lists them.
    """
    if not parameters:
        raise RequestError("No parameter is swept.", attempt="k=[2, 5, 10].")
    values = {name: list_values(given, name) for name, given in parameters.items()}
    tried = list(make_swept_jobs(job, values))
    clock = None if budget is None else BudgetClock(budget)
    progress("reading")
    cells = _count_within(clock, job, frame)
    rows = []
    for at, (chosen, one) in enumerate(tried, 1):
        progress(ProgressEvent(f"planning {at} of {len(tried)}", (at - 1) / len(tried)))
        rows.append({**chosen, **_measure_plan(one, cells, seed, clock)})
    return SweepResult(tuple(values), tuple({**dict.fromkeys(_order_columns(values, rows)), **row} for row in rows))


def list_values(given: Any, name: str) -> list[Any]:
    listed = value_list(given, name)
    if not listed:
        raise JobError(f"{name} lists no value to sweep over.", attempt=f"{name}=[2, 5, 10].")
    return listed


def make_swept_jobs(job: Job, values: Mapping[str, list[Any]]) -> Iterator[tuple[dict[str, Any], Job]]:
    """Yield every combination with its job: all are made, and so checked, before any data is read."""
    combinations = 1
    for listed in values.values():
        combinations *= len(listed)
    if combinations > MAX_COMBINATIONS:
        raise RequestError(
            f"{combinations:,} combinations are more than the {MAX_COMBINATIONS:,} of a sweep.", attempt="fewer values."
        )
    for chosen in product(*values.values()):
        changed = job
        for name, value in sorted(zip(values, chosen, strict=True), key=lambda pair: pair[0] != "method"):
            changed = _replace_parameter(changed, name, value)
        yield {name: _show_parameter(changed, name) for name in values}, changed


def _replace_parameter(job: Job, name: str, value: Any) -> Job:
    """Return the job with one parameter replaced: of the promise that has it, or else of the method."""
    if name == "method":
        return job.at(method=value)
    having = [promise for promise in job.promises if name in _list_parameters(promise)]
    if len(having) > 1:
        raise JobError(
            f"{len(having)} promises of the job have a parameter {name!r}.", attempt="a job with one of them."
        )
    if having:
        changed = [replace(one, **{name: value}) if one is having[0] else one for one in job.promises]  # type: ignore[type-var]  # a promise is a dataclass
        return job.at(promises=changed)
    if name in _list_parameters(job.method):
        return job.at(method=replace(job.method, **{name: value}))
    known = [word for part in (*job.promises, job.method) for word in _list_parameters(part)]
    raise JobError(
        f"Neither a promise of the job nor {job.method.name} has a parameter {name!r}.",
        attempt=suggest(name, ["method", *dict.fromkeys(known)]),
    )


def _list_parameters(part: Any) -> list[str]:
    return [field.name for field in fields(part)]


def _show_parameter(job: Job, name: str) -> Any:
    """Return a parameter as the job keeps it, in a type that a frame holds: an exact number as the nearest one."""
    if name == "method":
        return job.method.name
    part = next(one for one in (*job.promises, job.method) if name in _list_parameters(one))
    value = getattr(part, name)
    if isinstance(value, Fraction):
        return int(value) if value == int(value) else float(value)
    return value if isinstance(value, bool | int | float | str | None) else str(registry.convert_to_plain(value))


def _count_within(clock: BudgetClock | None, job: Job, frame: Any) -> Cells:
    try:
        return _run_within(clock, lambda: count(job, frame=frame))
    except TimeLimitReached:
        raise RequestError(
            "The source was not read within the budget: nothing is known of it.",
            attempt="a greater budget, or a part of the source.",
        ) from None


def _run_within(clock: BudgetClock | None, function: Callable[[], T]) -> T:
    """Return what the function returns, or raise `TimeLimitReached` when the budget is used."""
    return function() if clock is None else run_within(clock.remaining(), function)


def _measure_plan(job: Job, cells: Cells, seed: int | None, clock: BudgetClock | None) -> dict[str, Any]:
    """Measure what a plan reaches and costs.

    What the method's groups do not show, or there was no time to measure, is left out.
    """
    try:
        planned = _run_within(clock, lambda: plan(job, cells=cells, seed=seed))
    except PromiseUnreachable as error:
        return {"reachable": False, "why": error.what}
    except TimeLimitReached:
        return {"reachable": None, "why": NOT_PLANNED}
    sizes = planned.sizes
    reached = {
        "reachable": True,
        "why": "",
        "groups": len(sizes),
        "smallest": int(sizes.min(initial=cells.rows)),
        "withheld": planned.withheld,
        "seconds": planned.seconds,
    }
    try:
        measures = _run_within(clock, lambda: {"loss": planned.loss, **measure(planned)})
    except RequestError as error:
        return {**reached, "why": error.what}
    except TimeLimitReached:
        return {**reached, "why": NOT_MEASURED}
    plain = {name: value for name, value in measures.items() if not isinstance(value, Mapping)}
    return {**reached, **{name: plain[name] for name in plain if name not in reached}}


def _order_columns(parameters: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Order every column of any row: the swept ones, then what people look at first, the reasons last."""
    first = (*parameters, "reachable", "groups", "smallest", "withheld", "loss", "seconds")
    rest = (name for row in rows for name in row if name != "why")
    return list(dict.fromkeys([*first, *rest, "why"]))
