"""Sweep: the job planned again for every combination of some parameters.

Nothing is published, nothing enters the ledger.

    swept = rt.sweep(job, frame=people, k=[2, 5, 10], beta=[1, 2, 4])
    swept.frame()      a row for each combination: what is reached, lost and measured, and CPU seconds
    swept.chart()      the loss over the first parameter, a line for each value of the second
    swept.left_out     the combinations that a budget left no time for

A parameter belongs to the one promise of the job that has it, or else to the method; `method=["mondrian", "mosaic"]`
sweeps methods. Rows are counted once. A combination is a candidate of `reticent.evaluation`, and its metrics are the
measures of its plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from reticent import charts
from reticent.compare.candidates import list_swept_values, make_swept_candidates
from reticent.data.cells import Cells
from reticent.errors import ColumnError, RequestError, suggest
from reticent.evaluation import BudgetClock, Candidate, Evaluation, Metric, evaluate, run_within_budget
from reticent.html_repr import render_page, render_table
from reticent.job.job import Job
from reticent.planning import Plan, count, measure, plan
from reticent.progress import ProgressEvent
from reticent.time_limit import TimeLimitReached
from reticent.validation import integer, is_callable, is_job, optional, seconds, text, validate_arguments

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
        across, line_by, rows = (*self.parameters, None, None)[:3]
        title = f"{measure} by {' and '.join(self.parameters)}"
        return charts.draw_lines(frame.drop_nulls(measure), str(across), measure, title, line_by, rows)

    def _repr_html_(self) -> str:
        names = (*self.parameters, "reachable", "groups", "smallest", "withheld", "loss", "seconds")
        rows = [[row[name] for name in names] for row in self.rows]
        return render_page(f"{self._count_plans()}; nothing was published", render_table(names, rows))

    def __repr__(self) -> str:
        reached = sum(row["reachable"] is True for row in self.rows)
        return f"<sweep of {self._count_plans()} over {', '.join(self.parameters)}: {reached} reach the promise>"

    def _count_plans(self) -> str:
        left_out = len(self.left_out)
        suffix = f" ({left_out} more were not made, for want of time)" if left_out else ""
        return f"{len(self.rows) - left_out} plans{suffix}"


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
    values = list_swept_values(parameters)
    candidates = make_swept_candidates(job, values)
    clock = None if budget is None else BudgetClock(budget)
    progress("reading")
    cells = _count_within(clock, job, frame)

    def announce(number: int, candidate: Candidate) -> None:
        progress(ProgressEvent(f"planning {number + 1} of {len(candidates)}", number / len(candidates)))

    def plan_candidate(candidate: Candidate) -> Plan:
        assert candidate.job is not None
        return plan(candidate.job, cells=cells, seed=seed)

    evaluations = evaluate(candidates, plan_candidate, [MEASURES], clock=clock, announce=announce)
    rows = [{**evaluation.candidate.parameters, **_make_row(evaluation)} for evaluation in evaluations]
    return SweepResult(tuple(values), tuple({**dict.fromkeys(_order_columns(values, rows)), **row} for row in rows))


def _count_within(clock: BudgetClock | None, job: Job, frame: Any) -> Cells:
    try:
        return run_within_budget(clock, lambda: count(job, frame=frame))
    except TimeLimitReached:
        raise RequestError(
            "The source was not read within the budget: nothing is known of it.",
            attempt="a greater budget, or a part of the source.",
        ) from None


def _make_row(evaluation: Evaluation[Plan]) -> dict[str, Any]:
    """Make the row of a combination: what its plan reaches, loses and costs, as far as it was measured."""
    planned = evaluation.subject
    if evaluation.refusal is not None:
        return {"reachable": False, "why": evaluation.refusal.what}
    if planned is None:
        return {"reachable": None, "why": NOT_PLANNED}
    sizes = planned.sizes
    row = {
        "reachable": True,
        "why": NOT_MEASURED if evaluation.unmeasured else "",
        "groups": len(sizes),
        "smallest": int(sizes.min(initial=planned.cells.rows)),
        "withheld": planned.withheld,
        "seconds": planned.seconds,
    }
    measures = evaluation.figures.get(MEASURES.name, {})
    return {**row, **{name: value for name, value in measures.items() if name == "why" or name not in row}}


def _order_columns(parameters: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Order every column of any row: the swept ones, then what people look at first, the reasons last."""
    first = (*parameters, "reachable", "groups", "smallest", "withheld", "loss", "seconds")
    rest = (name for row in rows for name in row if name != "why")
    return list(dict.fromkeys([*first, *rest, "why"]))


def _measure_plan(candidate: Candidate, planned: Plan) -> dict[str, Any]:
    """Measure what a plan loses and reaches; `why` is the reason if the method's groups do not show it."""
    try:
        measures = {"loss": planned.loss, **measure(planned)}
    except RequestError as error:
        return {"why": error.what}
    return {name: value for name, value in measures.items() if not isinstance(value, Mapping)}


MEASURES: Metric[Plan] = Metric("measures", _measure_plan)
