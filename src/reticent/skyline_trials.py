"""Trials of skylines for `check`: what it costs to hold one t against every adversary of a grid of bandwidths.

A skyline whose t is what the planned groups leave anyhow asks for nothing.  So each proposed skyline is planned: one t
at every bandwidth of `BANDWIDTH_GRID`, by the job's own method, beside the job's other promises; its loss is that of
the plan.  A trial `binds` where the plan without that promise leaves more than t at some bandwidth of the grid.

Beside it stands the adversary whom `bandwidth = "auto"` chooses, who predicts the sensitive column best: the risk that the
job's groups leave with them, and what it costs to hold the job's t against them.

What is proposed is the job's own t (the least of a skyline's) if it is reachable and binds; else the next greater t of
the trials that is and does, else the greatest that does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from reticent.data.cells import Cells
from reticent.errors import JobError
from reticent.evaluation import BudgetClock, run_within_budget
from reticent.job.job import Job
from reticent.loss_explanation import format_promise_toml
from reticent.models.background_knowledge.bt_privacy import (
    BANDWIDTH_GRID,
    BTPrivacy,
    Skyline,
    compute_worst_risks,
    list_prior_routes,
    to_json_bandwidth,
)
from reticent.models.promise import CandidateGroups, Promise, Promises
from reticent.recipe.recipe import Recipe
from reticent.time_limit import TimeLimitReached

TRIAL_THRESHOLDS = tuple(map(Fraction, ("0.2", "0.3", "0.1", "0.5", "0.05")))
"""Each t that is tried beside the job's own, in the order of trial."""
SMALL_RISK = Fraction(1, 20)
"""If the plan without the promise leaves less than this, shares of what it leaves are tried too."""
SHARED_OPTIONS = ("smoothing", "posterior", "kernel", "base", "distances", "column")
"""Options that (B,t)-privacy and its skyline share, beside bandwidth and t."""
SHARES_OF_SMALL_RISK = (Fraction(3, 4), Fraction(1, 2), Fraction(1, 4))
T = TypeVar("T")


class PlanFigures(Protocol):
    """What a trial reads of the summary of a plan."""

    @property
    def reachable(self) -> bool | None: ...

    @property
    def groups(self) -> int | None: ...

    @property
    def withheld(self) -> int | None: ...

    @property
    def ail(self) -> float | None: ...

    @property
    def why(self) -> str: ...


PlanVariant = Callable[[Job, BudgetClock], tuple[PlanFigures | None, Recipe | None]]
PlanPromises = Callable[[Promises, BudgetClock], tuple[PlanFigures | None, Recipe | None]]


@dataclass(frozen=True, slots=True)
class SkylineTrial:
    """The plan of one t at every bandwidth; `reachable` is None if there was no time for it.

    `binds` is False if the plan without the promise leaves at most t everywhere, so that it asks for nothing; None if
    that plan is not known.
    """

    t: Fraction
    reachable: bool | None
    ail: float | None = None
    groups: int | None = None
    withheld: int | None = None
    binds: bool | None = None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "t": float(self.t)}


def propose_skylines(
    job: Job, cells: Cells, recipe: Recipe | None, plan: PlanVariant, clock: BudgetClock
) -> tuple[dict[str, Any], ...]:
    """Propose a skyline for each promise about background knowledge, with the loss of each t that was tried.

    `recipe` is the job's own plan, None if there is none. `plan` plans a variant of the job within a clock. What there
    is no time for is None in the result.
    """

    def plan_promises(promises: Promises, clock: BudgetClock) -> tuple[PlanFigures | None, Recipe | None]:
        return plan(job.at(promises=promises), clock)

    proposals = []
    for position, promise in enumerate(job.promises):
        if isinstance(promise, BTPrivacy | Skyline):
            rest = tuple(other for number, other in enumerate(job.promises) if number != position)
            proposals.append(_propose_skyline(promise, rest, cells, recipe, plan_promises, clock))
    return tuple(proposals)


def has_background_promise(promises: Promises) -> bool:
    """Tell whether a promise is about background knowledge, so that skylines are tried."""
    return any(isinstance(promise, BTPrivacy | Skyline) for promise in promises)


def make_grid_skyline(promise: BTPrivacy | Skyline, t: Fraction) -> Skyline:
    """Make the skyline that holds one t at every bandwidth of the grid, otherwise as the promise."""
    points = [{"bandwidth": bandwidth, "t": t} for bandwidth in BANDWIDTH_GRID]
    return Skyline(points=points, **{name: getattr(promise, name) for name in SHARED_OPTIONS})


def choose_trial(trials: Sequence[SkylineTrial], own_t: Fraction) -> SkylineTrial | None:
    """Choose the trial to propose: that of the own t, else of the next greater, else of the greatest that binds."""
    binding = sorted((trial for trial in trials if trial.reachable and trial.binds), key=lambda trial: trial.t)
    at_least_own = [trial for trial in binding if trial.t >= own_t]
    if at_least_own:
        return at_least_own[0]
    return binding[-1] if binding else None


def _propose_skyline(
    promise: BTPrivacy | Skyline,
    rest: tuple[Promise, ...],
    cells: Cells,
    recipe: Recipe | None,
    plan: PlanPromises,
    clock: BudgetClock,
) -> dict[str, Any]:
    own_t = min(t for _, t in promise.skyline)
    grid = make_grid_skyline(promise, own_t)
    planned_groups = _list_groups(cells, recipe)
    risks = _run_or_none(clock, partial(compute_worst_risks, grid, cells, planned_groups))
    risks_without = _measure_without(grid, rest, cells, plan, clock)
    trials = []
    for t in _list_thresholds(own_t, risks_without):
        summary, _ = plan(Promises((*rest, make_grid_skyline(promise, t))), clock)
        trials.append(_summarize_trial(t, summary, risks_without))
    predictor = _try_best_predictor(promise, own_t, rest, cells, planned_groups, plan, clock)
    chosen = choose_trial(trials, own_t)
    chosen_skyline = None if chosen is None else make_grid_skyline(promise, chosen.t)
    return {
        "about": "skyline",
        "column": cells.sensitive[cells.find_sensitive(promise.column)].name,
        "promise": promise.name,
        "planned": recipe is not None,
        "routes": _run_or_none(clock, partial(list_prior_routes, promise, cells)) or [],
        "grid": _list_grid(risks, risks_without),
        "own_t": float(own_t),
        "trials": [trial.to_dict() for trial in sorted(trials, key=lambda trial: trial.t)],
        "predictor": predictor,
        "t": None if chosen is None else float(chosen.t),
        "points": [] if chosen_skyline is None else _list_points(chosen_skyline),
        "paste": "" if chosen_skyline is None else _format_skyline_toml(chosen_skyline),
        "why": _explain_choice(trials, chosen, own_t, promise),
    }


def _try_best_predictor(
    promise: BTPrivacy | Skyline,
    t: Fraction,
    rest: tuple[Promise, ...],
    cells: Cells,
    planned_groups: CandidateGroups,
    plan: PlanPromises,
    clock: BudgetClock,
) -> dict[str, Any]:
    """Try the adversary who predicts the sensitive column best: the risk of the planned groups, and the plan that holds t."""
    asked = BTPrivacy("auto", t, **{name: getattr(promise, name) for name in SHARED_OPTIONS})
    try:
        settled = _run_or_none(clock, partial(asked.settle, cells))
    except JobError as refusal:
        return {"bandwidth": None, "why": str(refusal)}
    if settled is None:
        return {"bandwidth": None, "why": "There was no time to choose bandwidths."}
    choice = asked.choose_bandwidths(cells)
    risks = _run_or_none(clock, partial(compute_worst_risks, settled, cells, planned_groups))
    summary, _ = plan(Promises((*rest, settled)), clock)
    trial = _summarize_trial(t, summary, None)
    return {
        "bandwidth": to_json_bandwidth(settled.bandwidth),
        "bits": choice.bits,
        "bits_without": choice.bits_without,
        "risk": None if risks is None else risks[0],
        **{name: value for name, value in trial.to_dict().items() if name != "binds"},
        "is_own": isinstance(promise, BTPrivacy) and promise.bandwidth == settled.bandwidth,
        "paste": format_promise_toml(asked),
    }


def _measure_without(
    grid: Skyline, rest: tuple[Promise, ...], cells: Cells, plan: PlanPromises, clock: BudgetClock
) -> list[float] | None:
    """Measure the risk at each bandwidth of what would be published without the promise; None if there is no time or plan.

    Without any other promise that is the table as it is: a group for each combination of quasi-identifiers.
    """
    if not rest:
        return _run_or_none(clock, partial(compute_worst_risks, grid, cells, _group_equal_people(cells)))
    _, recipe = plan(Promises(rest), clock)
    if recipe is None:
        return None
    return _run_or_none(clock, partial(compute_worst_risks, grid, cells, _list_groups(cells, recipe)))


def _list_thresholds(own_t: Fraction, risks_without: Sequence[float] | None) -> list[Fraction]:
    """List each t to try, once, the job's own first."""
    thresholds = [own_t, *TRIAL_THRESHOLDS]
    greatest = max(risks_without or (), default=0.0)
    if 0 < greatest <= SMALL_RISK:
        thresholds += [Fraction(f"{greatest * float(share):.2g}") for share in SHARES_OF_SMALL_RISK]
    return list(dict.fromkeys(t for t in thresholds if 0 < t <= 1))


def _summarize_trial(t: Fraction, summary: PlanFigures | None, risks_without: Sequence[float] | None) -> SkylineTrial:
    binds = None if risks_without is None else max(risks_without) > t
    if summary is None:
        return SkylineTrial(t, None, binds=binds)
    why = "" if summary.reachable else summary.why
    return SkylineTrial(t, summary.reachable, summary.ail, summary.groups, summary.withheld, binds, why)


def _explain_choice(
    trials: Sequence[SkylineTrial], chosen: SkylineTrial | None, own_t: Fraction, promise: BTPrivacy | Skyline
) -> str:
    """Explain which t is proposed, or why none is."""
    own = next(trial for trial in trials if trial.t == own_t)
    if own.reachable is None or own.binds is None:
        own_finding = "there was no time to try the job's own t"
    elif not own.reachable:
        own_finding = f"the job's own t = {float(own_t):g} is not reachable at every bandwidth"
    elif not own.binds:
        own_finding = f"the job's own t = {float(own_t):g} asks for nothing: without it no bandwidth is left more"
    else:
        own_finding = f"t = {float(own_t):g} is the job's own"
    if chosen is None:
        return (
            f"No skyline is proposed: {own_finding}, and no other t that was tried is reachable and asks for anything."
        )
    if chosen.t == own_t and promise.name == Skyline.name and set(promise.skyline) == set(_list_pairs(promise, own_t)):
        return "The job holds this skyline already."
    if chosen.t == own_t:
        return f"Proposed: {own_finding}, held against every adversary of the grid."
    return f"Proposed: t = {float(chosen.t):g}, because {own_finding}."


def _list_grid(risks: Sequence[float] | None, risks_without: Sequence[float] | None) -> list[dict[str, Any]]:
    """List the greatest risk at each bandwidth, by the job's plan and without the promise."""
    return [
        {
            "bandwidth": to_json_bandwidth(bandwidth),
            "risk": None if risks is None else risks[number],
            "risk_without": None if risks_without is None else risks_without[number],
        }
        for number, bandwidth in enumerate(BANDWIDTH_GRID)
    ]


def _list_points(skyline: Skyline) -> list[dict[str, Any]]:
    return [{"bandwidth": to_json_bandwidth(bandwidth), "t": float(t)} for bandwidth, t in skyline.skyline]


def _list_pairs(promise: BTPrivacy | Skyline, t: Fraction) -> list[tuple[Any, Fraction]]:
    return make_grid_skyline(promise, t).skyline


def _format_skyline_toml(skyline: Skyline) -> str:
    """Format a skyline as a job file has it, a point a line."""
    lines = []
    for line in format_promise_toml(skyline).splitlines():
        points = line.removeprefix("points = [")
        if points == line:
            lines.append(line)
        else:
            entries = points.removesuffix("]").replace("}, {", "},\n  {")
            lines += ["points = [", *f"  {entries},".splitlines(), "]"]
    return "\n".join(lines)


def _list_groups(cells: Cells, recipe: Recipe | None) -> CandidateGroups:
    """Return the planned groups; without a plan, one group of all rows."""
    if recipe is not None:
        return replace(recipe, cells=cells).as_groups()
    return CandidateGroups(cells, np.arange(len(cells)), cells.counts, np.array([0, len(cells)]))


def _group_equal_people(cells: Cells) -> CandidateGroups:
    """Return a group for each combination of quasi-identifiers."""
    combinations = int(cells.point[-1]) + 1 if len(cells) else 0
    offsets = np.searchsorted(cells.point, np.arange(combinations + 1))
    return CandidateGroups(cells, np.arange(len(cells)), cells.counts, offsets)


def _run_or_none(clock: BudgetClock, function: Callable[[], T]) -> T | None:
    try:
        return run_within_budget(clock, function)
    except TimeLimitReached:
        return None
