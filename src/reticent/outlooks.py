"""What each method would make of a job: planned in full for the job's own and for those named, within a budget for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from functools import partial
from typing import Any

from reticent import registry
from reticent.budget import Clock
from reticent.errors import JobError, PromiseUnreachable, RequestError, ReticentError, suggest
from reticent.job import Job
from reticent.methods.compose import left_to_method, plan
from reticent.methods.protocols import Method
from reticent.methods.relabelled import relabelled
from reticent.randomness import Random
from reticent.recipe.group_labels import pad
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells
from reticent.table.roles import Column

Watch = Callable[[Any], bool | None] | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one method would make of the job."""

    method: str
    reachable: bool
    groups: int | None = None
    smallest: int | None = None
    withheld: int | None = None
    ail: float | None = None
    why: str = ""


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
    job: Job, method: Method, cells: Cells, columns: Mapping[str, Column], *, own: bool, watch: Watch = None
) -> tuple[Outlook, Recipe | None]:
    try:
        recipe = _planned(job, method, cells, watch)
        writer = registry.writer(method.kind).of(recipe, columns)
    except PromiseUnreachable as error:
        return Outlook(method.name, False, why=str(error)), None
    except RequestError as error:
        if own:
            raise
        return Outlook(method.name, False, why=error.what), None
    said = writer.outlook(getattr(method, "weights", None))
    return Outlook(method.name, True, withheld=writer.recipe.withheld, **said), recipe


def compared(
    job: Job, method: Method, cells: Cells, columns: Mapping[str, Column], clock: Clock | None
) -> Outlook | None:
    """What another method would make of the job; None where the clock leaves no time for it."""
    if clock is None:
        return outlook_of(job, method, cells, columns, own=False)[0]
    if not clock.suffices(len(cells), partial(_tried, job, method, cells)):
        return None
    return outlook_of(job, method, cells, columns, own=False, watch=lambda now: not clock.left())[0]


def _tried(job: Job, method: Method, cells: Cells, some: slice) -> None:
    """Plan a few cells, for what it takes."""
    codes, values, counts = (part[some].copy() for part in (cells.codes, cells.values, cells.counts))
    few = replace(cells, codes=codes, values=values, counts=counts)
    try:
        _planned(job, method, few, lambda now: True)
    except ReticentError:
        return


def _planned(job: Job, method: Method, cells: Cells, watch: Watch = None) -> Recipe:
    at_most = job.release.suppress_at_most if registry.writer(method.kind).generalizes else Fraction(0)
    rng = Random.secure()
    recipe = pad(plan(job.prepare, method, cells, job.promises, rng, at_most, watch=watch), rng)
    return relabelled(left_to_method(job.prepare, job.promises), cells, recipe)
