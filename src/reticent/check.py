"""Checks a job before it is published: is the promise reachable, by which methods, at what expected loss.

`check` reads and counts the table, plans the job by its own method (`plan_own_method`), plans the other methods that
could keep the promises as far as a budget of CPU seconds allows (methods that the caller names are planned in full),
and adds the warnings of methods and promises (`collect_warnings`), the advice of stages (`collect_advice`), trials of
skylines (`propose_skylines`), widths of guaranteed bounds (`measure_bound_widths`) and an explanation of the loss. It writes nothing. A method is a candidate of `reticent.evaluation`, and its metric is the
summary of its plan.

The expected loss is AIL of the labels that would be printed (`labels.label_loss`): a release by the same plan has the
same loss by its audit, to the last digit. Columns have equal weights unless the method weights them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import partial
from time import process_time
from typing import Any

import polars as pl

from reticent import catalogue, html_repr, registry
from reticent.bound_widths import measure_bound_widths
from reticent.catalogue.choices import EngineName
from reticent.data.cells import Cells, combine_sensitive
from reticent.data.columns import Column, Role
from reticent.data.label_styles import explain_snapping
from reticent.data.odd_values import SpellingVariants, find_spelling_variants
from reticent.data.passthrough import PassthroughColumn, describe_uncovered
from reticent.data.rare_values import RareSensitiveValues, find_rare_sensitive_values
from reticent.engines.engine import Engine, EngineContext
from reticent.errors import JobError, PromiseUnreachable, RequestError, ReticentError, suggest
from reticent.evaluation import BudgetClock, Candidate, Evaluation, Metric, evaluate, take_cells
from reticent.job.job import Job
from reticent.job_table import load_populations, read_and_count
from reticent.ledger.staging import make_temp_dirs
from reticent.loss_explanation import LossExplanation, PromiseTrials, explain_loss
from reticent.loss_limit import is_within_limit
from reticent.methods.base import Method
from reticent.methods.distribution.method import Distribution
from reticent.methods.recipe_planning import (
    count_lone_people,
    knows_priors,
    select_method_promises,
    settle_promises,
    warn_of_lone_people,
)
from reticent.models.promise import Promises
from reticent.planning import plan_recipe
from reticent.plugins import load_plugin_if_named
from reticent.preconditions import (
    require_loss_limit_supported,
    require_promises_supported,
    require_whole_table_engine,
)
from reticent.progress import ProgressCallback, ProgressEvent
from reticent.randomness import Random
from reticent.recipe.kind import Writer
from reticent.recipe.recipe import Recipe
from reticent.skyline_trials import PlanVariant, has_background_promise, propose_skylines
from reticent.time_limit import TimeLimitReached, run_within
from reticent.validation import integer, is_callable, is_engine, is_job, names, optional, seconds, validate_arguments
from reticent.withholding_costs import (
    WithholdingCosts,
    count_person_rows,
    count_with_limit,
    measure_withholding_costs,
    skip_withholding_trials,
)

BUDGET_FACTOR = 4.0  # times what reading and the job's own plan took: half for comparing, half for explaining
OWN_PLAN_FRACTION = 1 / (1 + BUDGET_FACTOR)  # the part of a run that reading and the job's own plan are
END_FRACTION = 0.95
MIN_CPU_SECONDS = 2.0  # CPU seconds that are always there
MIN_MEASURING_SECONDS = 4.0  # CPU seconds for comparing and explaining that are there without a budget
MIN_LATE_STEP_SECONDS = 0.2  # CPU seconds for each of the last looks, whatever the budget
OWN_PLAN_SECONDS = 30.0
READING_TIME_FACTOR = 10
"""Without a budget the job's own plan has OWN_PLAN_SECONDS, or READING_TIME_FACTOR times what reading took if that is more."""
OWN_PLAN_SHARE = 0.6
MEASURING_SHARE = 0.85
"""With a budget: when these shares of it are used, the job's own plan ends, and comparing and explaining do."""
COMPARING_SHARE = 0.5
"""Other methods may take this share of the time for comparing and explaining; what they leave is for explaining too."""
PROMISE_SHARE = 0.6
"""Other promises may take this share of the time for explaining; the rest, and what they leave, is for withheld rows."""
TRIAL_SECONDS = 20.0
TRIAL_SHARE = 0.7
"""CPU seconds that trials of skylines, or of bounds, have without a budget; with one, their share of the time for explaining."""
SAMPLE_STRIDES = (16, 256)
"""Where the own plan does not end, one cell in so many is planned."""
STOP_SHARE = 0.8  # an anytime method is stopped when this share of its time is used
Watch = Callable[[Any], bool | None] | None
PlannedCells = tuple[Recipe, Writer]


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
    ail_by_column: Mapping[str, float] = field(default_factory=dict)
    within_limit: bool | None = None  # whether the loss is at most `loss_at_most`; None where the job sets no limit
    drawn: Mapping[str, float] | None = (
        None  # of a sample of perturbed rows: p, k, rows, and the error of a count of a tenth
    )


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
    rare: tuple[RareSensitiveValues, ...] = field(default=())
    withholding: WithholdingCosts = field(default=WithholdingCosts())

    @property
    def reachable(self) -> bool | None:
        """Whether the job's own method reaches the promise; None if there was no time to plan by it."""
        return self.methods[0].reachable

    @property
    def within_limit(self) -> bool | None:
        """Whether the loss by the job's own method is within `loss_at_most`; None if it sets no limit, or there is no plan."""
        return self.methods[0].within_limit

    def _repr_html_(self) -> str:
        return html_repr.render_check(self)

    def to_dict(self, *, show_values: bool = False) -> dict[str, Any]:
        """Return the result as plain values; values of the data are included only with `show_values`."""
        advice = [
            {name: value for name, value in proposal.items() if show_values or name != "dominating_values"}
            for proposal in self.advice
        ]
        return {
            "reachable": self.reachable,
            "within_limit": self.within_limit,
            "method": self.methods[0].method,
            **asdict(self),
            "methods": [_list_figures(summary) for summary in self.methods],
            "carried": [column.to_dict() for column in self.carried],
            "advice": advice,
            "spellings": [variants.to_dict(show_values=show_values) for variants in self.spellings],
            "explained": self.explained.to_dict(),
            "rare": [values.to_dict(show_values=show_values) for values in self.rare],
        }


@validate_arguments(
    job=is_job,
    methods=optional(names),
    budget=optional(seconds),
    progress=is_callable,
    finished=is_callable,
    engine=is_engine,
    seed=optional(integer),
)
def check(
    job: Job,
    *,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    finished: Callable[[PlanSummary, Cells], None] = lambda summary, cells: None,
    engine: EngineName | Engine = catalogue.DEFAULT_ENGINE,
    seed: int | None = None,
) -> CheckResult:
    """Plan the job by its own method and by the others that could keep its promises (or by those named).

    With a `budget` everything together takes at most that many CPU seconds, or MIN_CPU_SECONDS for the job's own plan
    if that is more: what there was no time for is named in `unplanned`, in a summary's `why` or among the warnings.
    Without a budget the job's own plan may take OWN_PLAN_SECONDS or READING_TIME_FACTOR times what reading took,
    whichever is more; comparing and explaining may take BUDGET_FACTOR times what reading and that plan took, of which
    comparing leaves half; and methods that were named are planned however long they take.  `finished` is called with the summary of each method.
    With a `seed` plans are those of `publish` with the same seed.
    """
    require_promises_supported(job)
    worker = require_whole_table_engine(engine, "Checking")
    clock = BudgetClock(budget)
    began = process_time()
    other_methods = find_other_methods(job, methods)
    progress(ProgressEvent("reading", 0))
    with make_temp_dirs(None) as make_temp_dir:
        read_table = partial(read_and_count, worker, job, frame, EngineContext(progress, make_temp_dir))
        rows, profile, counted = (
            read_table() if budget is None else _read_within(max(budget, MIN_CPU_SECONDS), read_table)
        )
    job = load_populations(job, counted.columns, counted.cells)
    columns = counted.columns
    cells = combine_sensitive(counted.cells) if job.jointly else counted.cells
    job = job.at(promises=_settle_within(None if budget is None else clock.remaining(), job.promises, cells))
    progress(ProgressEvent(f"planning by {job.method.name}", OWN_PLAN_FRACTION / 2))
    own, recipe = plan_own_method(job, cells, columns, _allot_own_seconds(clock, began, budget), progress, seed)
    summaries = {job.method.name: own}
    spellings = find_spelling_variants(counted.cells)
    finished(own, counted.cells)
    if budget is None:
        clock.start(BUDGET_FACTOR, MIN_MEASURING_SECONDS)
    measuring_clock = BudgetClock(clock.remaining(1.0 if budget is None else MEASURING_SHARE))
    comparison_clock = measuring_clock.take_share(COMPARING_SHARE)
    reserved_seconds = measuring_clock.remaining() - comparison_clock.remaining()
    limit = None if methods is not None and budget is None else comparison_clock
    for evaluation in evaluate(
        [_make_candidate(job, method) for method in other_methods],
        partial(_plan_other_method, cells=cells, columns=columns, clock=limit, seed=seed),
        [SUMMARY],
        clock=limit,
        refusals=(RequestError,),
        announce=lambda _, candidate: progress(
            ProgressEvent(f"planning by {candidate.method}", _compute_fraction_done(clock))
        ),
    ):
        summary = _get_summary(evaluation)
        if summary is not None:
            summaries[summary.method] = summary
            finished(summary, counted.cells)
    progress(ProgressEvent("explaining", _compute_fraction_done(clock)))
    tries_variants = has_background_promise(job.promises) or isinstance(job.method, Distribution)
    explaining_clock = BudgetClock(max(measuring_clock.remaining(), reserved_seconds if budget is None else 0.0))
    loss_clock = explaining_clock.take_share(1 - TRIAL_SHARE if tries_variants and budget is not None else 1.0)
    explanation = _explain_plan(job, cells, columns, own, loss_clock.take_share(PROMISE_SHARE), seed)
    withholding = _measure_withholding(job, worker, rows, counted.columns, cells, own, loss_clock)
    proposals: tuple[Mapping[str, Any], ...] = ()
    if tries_variants:
        progress(ProgressEvent("trying variants", _compute_fraction_done(clock)))
        plan_variant = _make_variant_planner(cells, columns, seed)
        trial_clock = BudgetClock(max(explaining_clock.remaining(), TRIAL_SECONDS if budget is None else 0.0))
        proposals = (
            *propose_skylines(job, cells, recipe, plan_variant, trial_clock),
            *measure_bound_widths(job, cells, plan_variant, trial_clock),
        )
    progress(ProgressEvent("looking at columns that are not generalized", END_FRACTION))
    late: list[str] = []
    look = partial(describe_uncovered, partial(worker.count_distinct_rows, rows), columns, profile.carried)
    advise = partial(collect_advice, job, cells)
    warn = partial(collect_warnings, job, cells)
    if budget is None:
        carried, uncovered = look()
        promise_warnings = warn()
        advice = _run_or_warn(late, "advice on promises", max(clock.remaining(), MIN_CPU_SECONDS), advise, ())
    else:
        promise_warnings = _run_late_step(late, "warnings of promises", clock, warn, [])
        carried, uncovered = _run_late_step(late, "columns that are not generalized", clock, look, ((), ()))
        advice = _run_late_step(late, "advice on promises", clock, advise, ())
    count_people = partial(_count_values_of_persons, worker, rows, counted.columns)
    values_of_persons = _run_or_warn(
        late, "by how many people values are held", max(clock.remaining(), MIN_LATE_STEP_SECONDS), count_people, {}
    )
    rare = find_rare_sensitive_values(counted.cells, person_rows=values_of_persons)
    lone_people = []
    if recipe is not None and own.alone is not None:
        lone_people = warn_of_lone_people(job.promises, recipe, cells)
    return CheckResult(
        counted.cells.rows,
        len(counted.cells),
        tuple(summaries.values()),
        warnings=(
            *uncovered,
            *profile.notices,
            *map(str, spellings),
            *explain_snapping(counted.cells.quasi),
            *promise_warnings,
            *lone_people,
            *late,
        ),
        carried=carried,
        advice=(*advice, *proposals),
        spellings=spellings,
        explained=explanation,
        unplanned=tuple(method.name for method in other_methods if method.name not in summaries),
        rare=rare,
        withholding=withholding,
    )


def find_other_methods(job: Job, method_names: Sequence[str] | None) -> list[Method]:
    """List the methods other than the job's own (or those of these names) that can keep every promise, with default parameters.

    Those that take what time there is come last.
    """
    for name in method_names or ():
        if not load_plugin_if_named("methods", name) and name not in catalogue.METHODS:
            raise JobError(f"Unknown method {name!r}.", attempt=suggest(name, catalogue.METHODS))
    listed = catalogue.METHODS if method_names is None else method_names
    classes = [registry.load_method_class(name) for name in listed if name != job.method.name]
    promises = select_method_promises(job.prepare, job.promises)
    methods = []
    for method_class in classes:
        keeps_all = all(isinstance(promise, method_class.keeps) for promise in promises)
        if not keeps_all or _has_required_parameters(method_class):
            continue
        method = method_class()
        if job.promises.labels in (None, getattr(method, "labels", None) or job.promises.labels):
            methods.append(method)
    return sorted(methods, key=lambda method: getattr(method, "anytime", False))


def plan_own_method(
    job: Job,
    cells: Cells,
    columns: Mapping[str, Column],
    seconds: float,
    progress: ProgressCallback,
    seed: int | None = None,
) -> tuple[PlanSummary, Recipe | None]:
    """Plan the job by its own method within a number of CPU seconds.

    A method that improves as long as it may is stopped earlier, and the summary notes it. If there is no plan in time,
    one cell in 16 (or 256) is planned instead, in a quarter of that time: the summary reports what that plan found, and
    `reachable` is None.
    """
    began = process_time()
    stopped: list[bool] = []

    def watch(state: Any) -> bool:
        if process_time() - began < STOP_SHARE * seconds:
            progress(ProgressEvent(f"planning: {state.sweep} sweeps", finding=f"search objective {state.loss:.4f}"))
            return False
        stopped.append(True)
        return True

    plan = partial(_plan_candidate, cells=cells, columns=columns, watch=watch, progress=progress, seed=seed)
    own = Candidate(job.method.name, job, job.method.name)
    summary, recipe = _summarize_candidate(own, plan, BudgetClock(seconds))
    if summary is None:
        return _plan_sample(job, cells, columns, seconds, progress), None
    if stopped and summary.reachable:
        cpu_seconds = process_time() - began
        why = f"Stopped after {cpu_seconds:,.0f} CPU s; publishing improves the plan further."
        summary = replace(summary, why=why)
    return summary, recipe


def collect_warnings(job: Job, cells: Cells) -> list[str]:
    """Collect the warnings of the method and the promises about these cells."""
    parts = [part for part in (job.method, *job.promises) if hasattr(part, "warnings")]
    return [warning for part in parts for warning in part.warnings(cells)]


def collect_advice(job: Job, cells: Cells) -> tuple[Mapping[str, Any], ...]:
    """Collect what stages propose for these cells."""
    advice: list[Mapping[str, Any]] = []
    for name in catalogue.STAGES:
        advice += registry.load_stage_class(name).advice(cells, job.promises)
    return tuple(advice)


def _read_within(budget: float, read_table: Callable[[], Any]) -> Any:
    try:
        return run_within(budget, read_table)
    except TimeLimitReached:
        raise RequestError(
            f"The source was not read within {budget:,.0f} CPU s: nothing is known of it.",
            attempt="a greater --budget (budget=...), or a part of the source.",
        ) from None


def _settle_within(seconds: float | None, promises: Promises, cells: Cells) -> Promises:
    """Return the promises with what they leave to the table to choose, within so many CPU seconds."""
    settle = partial(settle_promises, promises, cells)
    try:
        return settle() if seconds is None else run_within(max(seconds, MIN_CPU_SECONDS), settle)
    except TimeLimitReached:
        raise RequestError(
            'No bandwidth was chosen within the budget (bandwidth = "auto").',
            attempt="a greater --budget (budget=...), or numbers for the bandwidth.",
        ) from None


def _allot_own_seconds(clock: BudgetClock, began: float, budget: float | None) -> float:
    """Return the CPU seconds for the job's own plan."""
    if budget is not None:
        return max(clock.remaining(OWN_PLAN_SHARE), MIN_CPU_SECONDS)
    return max(OWN_PLAN_SECONDS, READING_TIME_FACTOR * (process_time() - began))


def _make_candidate(job: Job, method: Method) -> Candidate:
    """Make the candidate of a job by another method than its own."""
    return Candidate(method.name, job.at(method=method), method.name, is_alternative=True)


def _plan_other_method(
    candidate: Candidate,
    *,
    cells: Cells,
    columns: Mapping[str, Column],
    clock: BudgetClock | None,
    seed: int | None = None,
) -> PlannedCells:
    """Plan a candidate; raise `TimeLimitReached` if a plan of few cells shows that the clock leaves no time for it."""
    if clock is None:
        return _plan_candidate(candidate, cells=cells, columns=columns, seed=seed)

    def plan_few(sample: Cells) -> None:
        assert candidate.job is not None
        try:
            plan_recipe(candidate.job, sample, columns, Random.secure(), watch=lambda state: True)
        except ReticentError:
            return

    def watch(state: Any) -> bool:
        return not clock.has_time_left(STOP_SHARE)

    clock.require_time_for(cells, plan_few)
    return _plan_candidate(candidate, cells=cells, columns=columns, watch=watch, seed=seed)


def _compute_fraction_done(clock: BudgetClock) -> float:
    """Compute how much of the check is done; comparing and explaining end with the budget, by the share used of it."""
    return OWN_PLAN_FRACTION + (END_FRACTION - OWN_PLAN_FRACTION) * clock.compute_used_share()


def _get_summary(evaluation: Evaluation[PlannedCells]) -> PlanSummary | None:
    """Return the summary of a candidate's plan; None if there was no time for it."""
    refusal = evaluation.refusal
    if refusal is not None:
        why = str(refusal) if isinstance(refusal, PromiseUnreachable) else refusal.what
        return PlanSummary(evaluation.candidate.method, False, why=why)
    return evaluation.figures.get(SUMMARY.name)


def _explain_plan(
    job: Job, cells: Cells, columns: Mapping[str, Column], own: PlanSummary, clock: BudgetClock, seed: int | None
) -> LossExplanation:
    """Explain the loss of the plan.

    Other promises are measured by mondrian, which is quick and keeps any promise; so they are compared with mondrian's
    loss, and only if the job's method is mondrian, or mosaic, which starts from it.
    """
    if not registry.load_writer(job.method.kind).generalizes:
        return LossExplanation()
    if job.method.name not in ("mondrian", "mosaic"):
        return explain_loss(cells, job.promises, own.ail_by_column)
    method = job.method if job.method.name == "mondrian" else registry.load_method_class("mondrian")()

    def measure(changed_cells: Cells, promises: Promises) -> float | None:
        candidate = _make_candidate(job.at(promises=promises), method)
        assert candidate.job is not None
        try:
            require_promises_supported(candidate.job)
        except RequestError:
            return None
        plan = partial(_plan_candidate, cells=changed_cells, columns=columns, seed=seed)
        summary, _ = _summarize_candidate(candidate, plan, clock)
        if summary is None:
            raise TimeLimitReached
        return summary.ail

    base = own.ail
    if method is not job.method:
        try:
            base = measure(cells, job.promises)
        except TimeLimitReached:
            base = None
    trials = PromiseTrials(measure, clock.has_time_left, base, columns)
    return explain_loss(cells, job.promises, own.ail_by_column, trials)


def _make_variant_planner(cells: Cells, columns: Mapping[str, Column], seed: int | None) -> PlanVariant:
    """Make a function that plans a variant of the job within a clock."""

    def plan_variant(variant: Job, clock: BudgetClock) -> tuple[PlanSummary | None, Recipe | None]:
        plan = partial(_plan_candidate, cells=cells, columns=columns, seed=seed)
        return _summarize_candidate(_make_candidate(variant, variant.method), plan, clock)

    return plan_variant


def _measure_withholding(
    job: Job,
    engine: Engine,
    rows: Any,
    columns: Mapping[str, Column],
    cells: Cells,
    own: PlanSummary,
    clock: BudgetClock,
) -> WithholdingCosts:
    """Measure what missing values and people with many rows cost, where a plan has a loss.

    A method that searches as long as it may is measured by mondrian, as other promises are.
    """
    if not registry.load_writer(job.method.kind).generalizes:
        return WithholdingCosts()
    draws_rows = not engine.distributed and not any(getattr(promise, "whole_table", False) for promise in job.promises)
    searches = getattr(job.method, "anytime", False)
    method = registry.load_method_class("mondrian")() if searches else job.method

    def measure(changed_cells: Cells) -> float | None:
        plan = partial(_plan_candidate, cells=changed_cells, columns=columns)
        summary, _ = _summarize_candidate(_make_candidate(job, method), plan, clock)
        if summary is None:
            raise TimeLimitReached
        return summary.ail

    try:
        base = measure(cells) if searches else own.ail
        person_rows = {}
        if draws_rows:
            person_rows = run_within(clock.remaining(), partial(count_person_rows, engine, rows, columns))
    except TimeLimitReached:
        return skip_withholding_trials(job, cells, columns if draws_rows else {})
    return measure_withholding_costs(
        job,
        cells,
        base,
        measure,
        clock.has_time_left,
        partial(count_with_limit, engine, rows, columns, cells) if draws_rows else None,
        person_rows,
    )


def _count_values_of_persons(engine: Engine, rows: Any, columns: Mapping[str, Column]) -> dict[str, pl.DataFrame]:
    """Count the rows of each person with each sensitive value, where a column names persons with several rows."""
    persons = [name for name, column in columns.items() if (column.rows_per_person or 1) > 1]
    if not persons or engine.distributed:
        return {}
    sensitive = [name for name, column in columns.items() if column.role == Role.SENSITIVE]
    return {name: engine.count_distinct_rows(rows, [persons[0], name]) for name in sensitive}


def _run_or_warn(late: list[str], subject: str, seconds: float, function: Callable[[], Any], otherwise: Any) -> Any:
    """Return what the function returns; if there is no time, return `otherwise` and add a warning that names what is missing."""
    try:
        return run_within(seconds, function)
    except TimeLimitReached:
        late.append(f"Not measured, for want of time: {subject}. A greater --budget measures it.")
        return otherwise


def _run_late_step(
    late: list[str], subject: str, clock: BudgetClock, function: Callable[[], Any], otherwise: Any
) -> Any:
    """Run one of the last steps in what is left of the budget, or in MIN_LATE_STEP_SECONDS."""
    return _run_or_warn(late, subject, max(clock.remaining(), MIN_LATE_STEP_SECONDS), function, otherwise)


def _has_required_parameters(method_class: type[Any]) -> bool:
    return any(
        parameter.default is MISSING and parameter.default_factory is MISSING for parameter in fields(method_class)
    )


def _plan_candidate(
    candidate: Candidate,
    *,
    cells: Cells,
    columns: Mapping[str, Column],
    watch: Watch = None,
    progress: ProgressCallback = lambda step: None,
    seed: int | None = None,
) -> PlannedCells:
    """Plan a candidate on cells; return the recipe and its writer."""
    assert candidate.job is not None
    require_loss_limit_supported(candidate.job)
    planned = plan_recipe(
        candidate.job, cells, columns, Random.from_optional_seed(seed), progress=progress, watch=watch
    )
    return planned.recipe, planned.writer


def _summarize_candidate(
    candidate: Candidate, plan: Callable[[Candidate], PlannedCells], clock: BudgetClock
) -> tuple[PlanSummary | None, Recipe | None]:
    """Plan one candidate; return its summary (None if there was no time) and its recipe (None if there is none)."""
    (evaluation,) = evaluate([candidate], plan, [SUMMARY], clock=clock, refusals=(RequestError,))
    recipe = None if evaluation.subject is None else evaluation.subject[0]
    return _get_summary(evaluation), recipe


def _plan_sample(
    job: Job, cells: Cells, columns: Mapping[str, Column], seconds: float, progress: ProgressCallback
) -> PlanSummary:
    """Summarize a plan of a sample of the cells, for a plan that did not end in time."""
    why = f"No plan of all {cells.rows:,} rows within {seconds:,.0f} CPU s: nothing shows whether the promise is reachable."
    for stride in SAMPLE_STRIDES:
        sample = take_cells(cells, stride)
        progress(ProgressEvent(f"planning one cell in {stride}"))
        plan = partial(_plan_candidate, cells=sample, columns=columns, watch=lambda state: True)
        summary, _ = _summarize_candidate(_make_candidate(job, job.method), plan, BudgetClock(seconds / 8))
        if summary is not None:
            loss = "" if summary.ail is None else f" with a loss of {summary.ail:.4f}"
            finding = f"is reachable{loss}" if summary.reachable else "is not reachable"
            why = f"{why} On one cell in {stride}, {sample.rows:,} rows, it {finding}."
            break
    return PlanSummary(job.method.name, None, why=why)


def _list_figures(summary: PlanSummary) -> dict[str, Any]:
    """List the figures of a summary; those of a draw only where rows are drawn."""
    figures = asdict(summary)
    if summary.drawn is None:
        figures.pop("drawn")
    return figures


def _summarize_plan(candidate: Candidate, planned: PlannedCells) -> PlanSummary:
    """Summarize a plan: groups, loss and lone people."""
    assert candidate.job is not None
    _, writer = planned
    figures = writer.summarize_plan(getattr(candidate.job.method, "weights", None))
    counts_alone = writer.generalizes or knows_priors(candidate.job.promises)
    alone = count_lone_people(writer.recipe) if counts_alone else None
    within_limit = is_within_limit(candidate.job, figures.get("ail"))
    withheld = writer.recipe.all_withheld
    return PlanSummary(candidate.method, True, withheld=withheld, alone=alone, within_limit=within_limit, **figures)


SUMMARY: Metric[PlannedCells] = Metric("summary", _summarize_plan)
