"""Checks a job before it is published: is the promise reachable, by which methods, at what expected loss.

`check` reads and counts the table, plans the job by its own method in full (`plan_own_method`), plans the other methods
that could keep the promises as far as a budget of CPU seconds allows (`summarize_other_method`; methods that the caller
names are planned in full), and adds the warnings and the advice of stages, methods and promises (`collect_warnings`,
`collect_advice`) and an explanation of the loss. It writes nothing.

The expected loss is AIL (Cao & Karras 2012, equations 2 to 5) over the planned groups; columns have equal weights
unless the method weights them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from reticent import catalogue, html_repr, registry
from reticent.budget import (
    COMPARISON_SHARE,
    END_FRACTION,
    MIN_CPU_SECONDS,
    MIN_LATE_STEP_SECONDS,
    OWN_PLAN_FRACTION,
    OWN_PLAN_SECONDS,
    OWN_PLAN_SHARE,
    READING_TIME_FACTOR,
    SAMPLE_STRIDES,
    BudgetClock,
)
from reticent.data.cells import Cells, combine_sensitive
from reticent.data.columns import Column
from reticent.data.label_styles import explain_snapping
from reticent.data.passthrough import PassthroughColumn, describe_uncovered
from reticent.data.spelling import SpellingVariants, find_spelling_variants
from reticent.engines.engine import Engine, EngineContext
from reticent.errors import JobError, PromiseUnreachable, RequestError, ReticentError, suggest
from reticent.job.job import Job
from reticent.job_table import load_populations, read_and_count
from reticent.ledger.staging import make_temp_dirs
from reticent.loss_explanation import LossExplanation, PromiseTrials, explain_loss
from reticent.methods.base import Method
from reticent.methods.recipe_planning import (
    count_lone_people,
    select_method_promises,
    warn_of_lone_people,
)
from reticent.models.promise import CandidateGroups, Promises
from reticent.planning import plan_recipe
from reticent.preconditions import require_promises_supported, require_whole_table_engine
from reticent.progress import ProgressCallback, ProgressEvent
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.time_limit import TimeLimitReached, run_within
from reticent.validation import is_callable, is_engine, is_job, names, optional, seconds, validate_arguments


def collect_warnings(job: Job, cells: Cells) -> list[str]:
    """Collect the warnings of the method and the promises about these cells."""
    parts = [part for part in (job.method, *job.promises) if hasattr(part, "warnings")]
    return [said for part in parts for said in part.warnings(cells)]


def collect_advice(job: Job, cells: Cells, recipe: Recipe | None) -> tuple[Mapping[str, Any], ...]:
    """Collect what stages and promises propose for these cells."""
    staged = [one for name in catalogue.STAGES for one in registry.load_stage_class(name).advice(cells, job.promises)]
    groups = _group_cells(cells, recipe)
    able = [promise for promise in job.promises if hasattr(promise, "advice")]
    return (*staged, *(one for promise in able for one in promise.advice(groups, recipe is not None)))


def _group_cells(cells: Cells, recipe: Recipe | None) -> CandidateGroups:
    """Return the planned groups; without a plan, one group of all rows."""
    if recipe is not None:
        return replace(recipe, cells=cells).as_groups()
    return CandidateGroups(cells, np.arange(len(cells)), cells.counts, np.array([0, len(cells)]))


STOP_SHARE = 0.8  # an anytime method is stopped when this share of its time is used
Watch = Callable[[Any], bool | None] | None


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """Result of planning the job by one method; `reachable` is None if there was no time to plan, and `why` gives the reason."""

    method: str
    reachable: bool | None
    groups: int | None = None
    smallest: int | None = None
    withheld: int | None = None
    ail: float | None = None
    why: str = ""
    alone: int | None = None  # people whose group has one row; None where rows are in no groups


def find_other_methods(job: Job, asked: Sequence[str] | None) -> list[Method]:
    """List the methods other than the job's own that can keep every promise, with default parameters."""
    for name in asked or ():
        if name not in catalogue.METHODS:
            raise JobError(f"Unknown method {name!r}.", attempt=suggest(name, catalogue.METHODS))
    kinds = [
        registry.load_method_class(name)
        for name in (catalogue.METHODS if asked is None else asked)
        if name != job.method.name
    ]
    able = [
        kind
        for kind in kinds
        if all(isinstance(promise, kind.keeps) for promise in select_method_promises(job.prepare, job.promises))
    ]
    ready = [
        kind() for kind in able if not any(f.default is MISSING and f.default_factory is MISSING for f in fields(kind))
    ]
    fitting = [
        method
        for method in ready
        if job.promises.labels in (None, getattr(method, "labels", None) or job.promises.labels)
    ]
    return sorted(
        fitting, key=lambda method: getattr(method, "anytime", False)
    )  # those that take what time there is, last


def summarize_plan(
    job: Job,
    method: Method,
    cells: Cells,
    columns: Mapping[str, Column],
    *,
    own: bool,
    watch: Watch = None,
    progress: ProgressCallback = lambda step: None,
) -> tuple[PlanSummary, Recipe | None]:
    """Plan the job by a method; return the summary of the plan, and the recipe (None if there is none)."""
    try:
        planned = plan_recipe(job.at(method=method), cells, columns, Random.secure(), progress=progress, watch=watch)
        writer = planned.writer
    except PromiseUnreachable as error:
        return PlanSummary(method.name, False, why=str(error)), None
    except RequestError as error:
        if own:
            raise
        return PlanSummary(method.name, False, why=error.what), None
    said = writer.summarize_plan(getattr(method, "weights", None))
    alone = count_lone_people(writer.recipe) if writer.generalizes else None
    return PlanSummary(method.name, True, withheld=writer.recipe.withheld, alone=alone, **said), planned.recipe


def summarize_other_method(
    job: Job, method: Method, cells: Cells, columns: Mapping[str, Column], clock: BudgetClock | None
) -> PlanSummary | None:
    """Plan the job by another method and summarize the plan; None if the clock leaves no time for it."""
    if clock is None:
        return summarize_plan(job, method, cells, columns, own=False)[0]

    def attempt() -> PlanSummary | None:
        if not clock.suffices(len(cells), partial(_plan_for_timing, job, method, cells)):
            return None
        return summarize_plan(
            job, method, cells, columns, own=False, watch=lambda now: not clock.has_time_left(STOP_SHARE)
        )[0]

    try:
        return run_within(clock.remaining(), attempt)
    except TimeLimitReached:
        return None


def plan_own_method(
    job: Job, cells: Cells, columns: Mapping[str, Column], seconds: float, progress: ProgressCallback
) -> tuple[PlanSummary, Recipe | None]:
    """Plan the job by its own method within a number of CPU seconds.

    A method that improves as long as it may is stopped earlier, and the summary notes it. If there is no plan in time,
    one cell in 16 (or 256) is planned instead, in a quarter of that time: the summary reports what that plan found, and
    `reachable` is None.
    """
    method = job.method
    began = process_time()
    stopped: list[bool] = []

    def watch(now: Any) -> bool:
        if process_time() - began < STOP_SHARE * seconds:
            progress(ProgressEvent(f"planning: {now.sweep} sweeps", finding=f"loss {now.loss:.4f}"))
            return False
        stopped.append(True)
        return True

    plan_all = partial(summarize_plan, job, method, cells, columns, own=True, watch=watch, progress=progress)
    try:
        own, recipe = run_within(seconds, plan_all)
    except TimeLimitReached:
        return _plan_sample(job, cells, columns, seconds, progress), None
    if stopped and own.reachable:
        more = f"Stopped after {process_time() - began:,.0f} CPU s; publishing improves the plan further."
        own = replace(own, why=more)
    return own, recipe


def _plan_sample(
    job: Job, cells: Cells, columns: Mapping[str, Column], seconds: float, progress: ProgressCallback
) -> PlanSummary:
    """Summarize a plan of a sample of the cells, for a plan that did not end in time."""
    method = job.method
    why = f"No plan of all {cells.rows:,} rows within {seconds:,.0f} CPU s: nothing shows whether the promise is reachable."
    for step in SAMPLE_STRIDES:
        few = _take_cells(cells, slice(None, None, step))
        progress(ProgressEvent(f"planning one cell in {step}"))
        plan_few = partial(summarize_plan, job, method, few, columns, own=False, watch=lambda now: True)
        try:
            found = run_within(seconds / 8, plan_few)[0]
        except TimeLimitReached:
            continue
        loss = "" if found.ail is None else f" with a loss of {found.ail:.4f}"
        said = f"is reachable{loss}" if found.reachable else "is not reachable"
        return PlanSummary(method.name, None, why=f"{why} On one cell in {step}, {few.rows:,} rows, it {said}.")
    return PlanSummary(method.name, None, why=why)


def _take_cells(cells: Cells, some: slice) -> Cells:
    codes, values, counts = (part[some].copy() for part in (cells.codes, cells.values, cells.counts))
    return replace(cells, codes=codes, values=values, counts=counts)


def _plan_for_timing(job: Job, method: Method, cells: Cells, some: slice) -> None:
    """Plan a few cells, to measure the time that planning takes."""
    try:
        plan_recipe(job.at(method=method), _take_cells(cells, some), {}, Random.secure(), watch=lambda now: True)
    except ReticentError:
        return


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`methods` has the job's own method first; `reachable` is about that method, the one that publishing would use.

    `unplanned` are methods that could keep the promises and for which there was no time.
    """

    rows: int
    cells: int
    methods: tuple[PlanSummary, ...]
    warnings: tuple[str, ...] = field(default=())
    carried: tuple[PassthroughColumn, ...] = field(default=())
    advice: tuple[Mapping[str, Any], ...] = field(default=())
    spellings: tuple[SpellingVariants, ...] = field(default=())
    explained: LossExplanation = field(default=LossExplanation())
    unplanned: tuple[str, ...] = field(default=())

    @property
    def reachable(self) -> bool | None:
        """Whether the job's own method reaches the promise; None if there was no time to plan by it."""
        return self.methods[0].reachable

    def _repr_html_(self) -> str:
        return html_repr.render_check(self)

    def to_dict(self, *, show_values: bool = False) -> dict[str, Any]:
        """Return the result as plain values; values of the data are included only with `show_values`."""
        found = {"reachable": self.reachable, "method": self.methods[0].method, **asdict(self)}
        advice = [
            {name: said for name, said in one.items() if show_values or name != "dominating_values"}
            for one in self.advice
        ]
        spellings = [one.to_dict(show_values=show_values) for one in self.spellings]
        carried = [one.to_dict() for one in self.carried]
        more = {"carried": carried, "advice": advice, "spellings": spellings, "explained": self.explained.to_dict()}
        return {**found, **more}


@validate_arguments(
    job=is_job,
    methods=optional(names),
    budget=optional(seconds),
    progress=is_callable,
    finished=is_callable,
    engine=is_engine,
)
def check(
    job: Job,
    *,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    finished: Callable[[PlanSummary, Cells], None] = lambda outlook, cells: None,
    engine: str | Engine = catalogue.DEFAULT_ENGINE,
) -> CheckResult:
    """Plan the job by its own method and by the others that could keep its promises (or by those named).

    With a `budget` everything together takes at most that many CPU seconds, or MIN_CPU_SECONDS for the job's own plan
    if that is more: what there was no time for is named in `unplanned`, in a summary's `why` or among the warnings.
    Without a budget the job's own plan may take OWN_PLAN_SECONDS or READING_TIME_FACTOR times what reading took,
    whichever is more; comparing and explaining may take BUDGET_FACTOR times what reading and that plan took; and
    methods that were named are planned however long they take.  `finished` is called with the summary of each method.
    """
    require_promises_supported(job)
    worker = require_whole_table_engine(engine, "Checking")
    clock = BudgetClock(budget)
    began = process_time()
    others = find_other_methods(job, methods)
    progress(ProgressEvent("reading", 0))
    with make_temp_dirs(None) as room:
        reading = partial(read_and_count, worker, job, frame, EngineContext(progress, room))
        rows, looked, counted = reading() if budget is None else _read_within(max(budget, MIN_CPU_SECONDS), reading)
    job = load_populations(job, counted.columns, counted.cells)
    columns = counted.columns
    cells = combine_sensitive(counted.cells) if job.jointly else counted.cells
    progress(ProgressEvent(f"planning by {job.method.name}", OWN_PLAN_FRACTION / 2))
    own, recipe = plan_own_method(job, cells, columns, _allot_own_seconds(clock, began, budget), progress)
    found = {job.method.name: own}
    spellings = find_spelling_variants(counted.cells)
    finished(own, counted.cells)
    if budget is None:
        clock.start()
    compared_by = BudgetClock.starting_now(clock.remaining(1.0 if budget is None else COMPARISON_SHARE))
    for method in others:
        progress(clock.step(f"planning by {method.name}"))
        unlimited = methods is not None and budget is None
        if one := summarize_other_method(job, method, cells, columns, None if unlimited else compared_by):
            found[method.name] = one
            finished(one, counted.cells)
    progress(clock.step("explaining"))
    explained = _explain_plan(job, cells, columns, own, recipe, compared_by)
    progress(ProgressEvent("looking at columns that are not generalized", END_FRACTION))
    late: list[str] = []
    look = partial(describe_uncovered, partial(worker.count_distinct_rows, rows), columns, looked.carried)
    advise = partial(collect_advice, job, cells, recipe)
    warn = partial(collect_warnings, job, cells)
    if budget is None:
        carried, said = look()
        warned_of = warn()
        advice = _run_or_warn(late, "advice on promises", max(clock.remaining(), MIN_CPU_SECONDS), advise, ())
    else:
        warned_of = _run_or_warn(late, "warnings of promises", max(clock.remaining(), MIN_LATE_STEP_SECONDS), warn, [])
        carried, said = _run_or_warn(
            late, "columns that are not generalized", max(clock.remaining(), MIN_LATE_STEP_SECONDS), look, ((), ())
        )
        advice = _run_or_warn(late, "advice on promises", max(clock.remaining(), MIN_LATE_STEP_SECONDS), advise, ())
    lone = warn_of_lone_people(job.promises, recipe, cells) if recipe is not None and own.alone is not None else []
    chosen = explain_snapping(counted.cells.quasi)
    warnings = (*said, *looked.notices, *map(str, spellings), *chosen, *warned_of, *lone, *late)
    unplanned = tuple(one.name for one in others if one.name not in found)
    return CheckResult(
        counted.cells.rows,
        len(counted.cells),
        tuple(found.values()),
        warnings,
        carried,
        advice,
        spellings,
        explained,
        unplanned,
    )


def _read_within(budget: float, reading: Callable[[], Any]) -> Any:
    try:
        return run_within(budget, reading)
    except TimeLimitReached:
        raise RequestError(
            f"The source was not read within {budget:,.0f} CPU s: nothing is known of it.",
            attempt="a greater --budget (budget=...), or a part of the source.",
        ) from None


def _allot_own_seconds(clock: BudgetClock, began: float, budget: float | None) -> float:
    """Return the CPU seconds for the job's own plan."""
    if budget is not None:
        return max(clock.remaining(OWN_PLAN_SHARE), MIN_CPU_SECONDS)
    return max(OWN_PLAN_SECONDS, READING_TIME_FACTOR * (process_time() - began))


def _run_or_warn(late: list[str], what: str, seconds: float, function: Callable[[], Any], otherwise: Any) -> Any:
    """Return what the function returns; if there is no time, return `otherwise` and add a warning that names what is missing."""
    try:
        return run_within(seconds, function)
    except TimeLimitReached:
        late.append(f"Not measured, for want of time: {what}. A greater --budget measures it.")
        return otherwise


def _explain_plan(
    job: Job, cells: Cells, columns: Mapping[str, Column], own: PlanSummary, recipe: Recipe | None, clock: BudgetClock
) -> LossExplanation:
    """Explain the loss of the plan.

    Other promises are measured by mondrian, which is quick and keeps any promise; so they are compared with mondrian's
    loss, and only if the job's method is mondrian, or mosaic, which starts from it.
    """
    if not registry.load_writer(job.method.kind).generalizes:
        return LossExplanation()
    if job.method.name not in ("mondrian", "mosaic"):
        return explain_loss(cells, job.promises, recipe)
    method = job.method if job.method.name == "mondrian" else registry.load_method_class("mondrian")()

    def measure(seen: Cells, promises: Promises) -> float | None:
        changed = job.at(promises=promises, method=method)
        try:
            require_promises_supported(changed)
        except RequestError:
            return None
        return run_within(clock.remaining(), partial(summarize_plan, changed, method, seen, columns, own=False))[0].ail

    base = own.ail
    if method is not job.method:
        try:
            base = measure(cells, job.promises)
        except TimeLimitReached:
            base = None
    return explain_loss(cells, job.promises, recipe, PromiseTrials(measure, clock.has_time_left, base))
