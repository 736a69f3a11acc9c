"""What each method would make of a job: planned in full for the job's own and for those named, within a budget for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from functools import partial
from time import process_time
from typing import Any

from reticent import registry
from reticent.budget import SAMPLE_STEPS, Clock
from reticent.errors import JobError, PromiseUnreachable, RequestError, ReticentError, suggest
from reticent.job import Job
from reticent.methods.compose import left_to_method, plan
from reticent.methods.lone_people import count_lone_people
from reticent.methods.protocols import Method
from reticent.methods.relabelled import relabelled
from reticent.randomness import Random
from reticent.recipe.group_labels import pad
from reticent.recipe.recipe import Recipe
from reticent.step import Progress, Step
from reticent.table.cells import Cells
from reticent.table.roles import Column
from reticent.time_limit import TimeLimitReached, run_within

STOPPING = 0.8  # an anytime method is told to stop when this share of its time is used
Watch = Callable[[Any], bool | None] | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one method would make of the job; `reachable` is None where there was no time to plan, and `why` says so."""

    method: str
    reachable: bool | None
    groups: int | None = None
    smallest: int | None = None
    withheld: int | None = None
    ail: float | None = None
    why: str = ""
    alone: int | None = None  # people whose group has one row; None where rows are in no groups


def other_methods(job: Job, asked: Sequence[str] | None) -> list[Method]:
    """Methods beside the job's own that can keep every promise, with their parameters at rest."""
    for name in asked or ():
        if name not in registry.METHODS:
            raise JobError(f"Unknown method {name!r}.", attempt=suggest(name, registry.METHODS))
    kinds = [
        registry.method(name) for name in (registry.METHODS if asked is None else asked) if name != job.method.name
    ]
    able = [
        kind
        for kind in kinds
        if all(isinstance(promise, kind.keeps) for promise in left_to_method(job.prepare, job.promises))
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


def outlook_of(
    job: Job,
    method: Method,
    cells: Cells,
    columns: Mapping[str, Column],
    *,
    own: bool,
    watch: Watch = None,
    progress: Progress = lambda step: None,
) -> tuple[Outlook, Recipe | None]:
    try:
        recipe = _planned(job, method, cells, watch, progress)
        writer = registry.writer(method.kind).of(recipe, columns)
    except PromiseUnreachable as error:
        return Outlook(method.name, False, why=str(error)), None
    except RequestError as error:
        if own:
            raise
        return Outlook(method.name, False, why=error.what), None
    said = writer.outlook(getattr(method, "weights", None))
    alone = count_lone_people(writer.recipe) if writer.generalizes else None
    return Outlook(method.name, True, withheld=writer.recipe.withheld, alone=alone, **said), recipe


def compared(
    job: Job, method: Method, cells: Cells, columns: Mapping[str, Column], clock: Clock | None
) -> Outlook | None:
    """What another method would make of the job; None where the clock leaves no time for it."""
    if clock is None:
        return outlook_of(job, method, cells, columns, own=False)[0]

    def attempt() -> Outlook | None:
        if not clock.suffices(len(cells), partial(_tried, job, method, cells)):
            return None
        return outlook_of(job, method, cells, columns, own=False, watch=lambda now: not clock.left(STOPPING))[0]

    try:
        return run_within(clock.remaining(), attempt)
    except TimeLimitReached:
        return None


def plan_own(
    job: Job, cells: Cells, columns: Mapping[str, Column], seconds: float, progress: Progress
) -> tuple[Outlook, Recipe | None]:
    """What the job's own method makes of it, within so many CPU seconds.

    A method that improves as long as it may is stopped before, and says so.  Where there is no plan in time, one cell in 16 (or 256)
    is planned instead, in a quarter of that time: what it finds is said, and `reachable` is None.
    """
    method, began = job.method, process_time()
    stopped: list[bool] = []

    def watch(now: Any) -> bool:
        if process_time() - began < STOPPING * seconds:
            progress(Step(f"planning: {now.sweep} sweeps", finding=f"loss {now.loss:.4f}"))
            return False
        stopped.append(True)
        return True

    plan_all = partial(outlook_of, job, method, cells, columns, own=True, watch=watch, progress=progress)
    try:
        own, recipe = run_within(seconds, plan_all)
    except TimeLimitReached:
        return _plan_sample(job, cells, columns, seconds, progress), None
    if stopped and own.reachable:
        more = f"Stopped after {process_time() - began:,.0f} CPU s; publishing improves the plan further."
        own = replace(own, why=more)
    return own, recipe


def _plan_sample(job: Job, cells: Cells, columns: Mapping[str, Column], seconds: float, progress: Progress) -> Outlook:
    """What can be said of a plan that did not end: a plan of some of the cells."""
    method = job.method
    why = f"No plan of all {cells.rows:,} rows within {seconds:,.0f} CPU s: nothing shows whether the promise is reachable."
    for step in SAMPLE_STEPS:
        few = _some_cells(cells, slice(None, None, step))
        progress(Step(f"planning one cell in {step}"))
        plan_few = partial(outlook_of, job, method, few, columns, own=False, watch=lambda now: True)
        try:
            found = run_within(seconds / 8, plan_few)[0]
        except TimeLimitReached:
            continue
        loss = "" if found.ail is None else f" with a loss of {found.ail:.4f}"
        said = f"is reachable{loss}" if found.reachable else "is not reachable"
        return Outlook(method.name, None, why=f"{why} On one cell in {step}, {few.rows:,} rows, it {said}.")
    return Outlook(method.name, None, why=why)


def _some_cells(cells: Cells, some: slice) -> Cells:
    codes, values, counts = (part[some].copy() for part in (cells.codes, cells.values, cells.counts))
    return replace(cells, codes=codes, values=values, counts=counts)


def _tried(job: Job, method: Method, cells: Cells, some: slice) -> None:
    """Plan a few cells, for what it takes."""
    try:
        _planned(job, method, _some_cells(cells, some), lambda now: True)
    except ReticentError:
        return


def _planned(
    job: Job, method: Method, cells: Cells, watch: Watch = None, progress: Progress = lambda step: None
) -> Recipe:
    at_most = job.release.suppress_at_most if registry.writer(method.kind).generalizes else Fraction(0)
    rng = Random.secure()
    recipe = pad(plan(job.prepare, method, cells, job.promises, rng, at_most, progress, watch=watch), rng)
    return relabelled(left_to_method(job.prepare, job.promises), cells, recipe)
