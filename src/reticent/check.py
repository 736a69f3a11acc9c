"""Before publishing: is the promise reachable, by which methods, at what expected loss.  Plans, and writes nothing.

The expected loss is AIL (Cao & Karras 2012, equations 2 to 5) over the planned groups, each column weighing the same unless
the method weighs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from fractions import Fraction
from functools import partial
from typing import Any

from reticent import notebook, registry
from reticent.advising import advised, warned
from reticent.budget import ENDING, OWN, Clock
from reticent.door import a_job, called, door, names, optional, seconds
from reticent.engines import local
from reticent.errors import JobError, PromiseUnreachable, RequestError, ReticentError, suggest
from reticent.explaining import Explained, Trials, explain
from reticent.job import Job
from reticent.methods.compose import left_to_method, plan
from reticent.methods.protocols import Method
from reticent.methods.relabelled import relabelled
from reticent.models.promises import Promises
from reticent.populated import populated
from reticent.publish import read
from reticent.randomness import Random
from reticent.recipe.group_labels import pad
from reticent.recipe.recipe import Recipe
from reticent.refusals import refuse_unable
from reticent.step import Step
from reticent.table import beside
from reticent.table.carried import Carried, associated
from reticent.table.cells import Cells
from reticent.table.guessing import uncovered
from reticent.table.joint import jointly
from reticent.table.roles import Column
from reticent.table.spelling import Spelled, spelled_alike

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


@dataclass(frozen=True, slots=True)
class Checked:
    """`methods` has the job's own first; `reachable` speaks of that one, as publishing would use it.

    `unplanned` are methods that could keep the promises and for which there was no time.
    """

    rows: int
    cells: int
    methods: tuple[Outlook, ...]
    warnings: tuple[str, ...] = field(default=())
    carried: tuple[Carried, ...] = field(default=())
    advice: tuple[Mapping[str, Any], ...] = field(default=())
    spellings: tuple[Spelled, ...] = field(default=())
    explained: Explained = field(default=Explained())
    unplanned: tuple[str, ...] = field(default=())

    @property
    def reachable(self) -> bool:
        return self.methods[0].reachable

    def _repr_html_(self) -> str:
        return notebook.check(self)

    def to_dict(self, *, show_values: bool = False) -> dict[str, Any]:
        """Values of the data only where they are asked for."""
        found = {"reachable": self.reachable, "method": self.methods[0].method, **asdict(self)}
        advice = [
            {name: said for name, said in one.items() if show_values or name != "dominating_values"}
            for one in self.advice
        ]
        spellings = [one.to_dict(show_values=show_values) for one in self.spellings]
        carried = [one.to_dict() for one in self.carried]
        more = {"carried": carried, "advice": advice, "spellings": spellings, "explained": self.explained.to_dict()}
        return {**found, **more}


@door(job=a_job, methods=optional(names), budget=optional(seconds), progress=called, finished=called)
def check(
    job: Job,
    *,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    finished: Callable[[Outlook, Cells], None] = lambda outlook, cells: None,
) -> Checked:
    """Plan the job by its own method and by the others that could keep its promises (or by those named).

    Comparisons and explanations together take about `budget` CPU seconds, by default BUDGET times what reading and the job's
    own plan took; methods that were named are planned whatever they take.  `finished` is told each method's outlook.
    """
    refuse_unable(job)
    clock, others = Clock(budget), _others(job, methods)
    progress(Step("reading", 0))
    lazy, columns = read(job, frame)
    looked = beside.look(lazy, columns)
    counted = local.count(lazy, columns, looked.rows_per_person)
    job, cells = populated(job, columns, counted.cells), jointly(counted.cells) if job.jointly else counted.cells
    progress(Step(f"planning by {job.method.name}", OWN / 2))
    own, recipe = _outlook(job, job.method, cells, columns, own=True)
    finished(own, counted.cells)
    clock.start()
    found = {job.method.name: own}
    for method in others:
        progress(clock.step(f"planning by {method.name}"))
        one = _compared(job, method, cells, columns, clock if methods is None else None)
        if one is not None:
            found[method.name] = one
            finished(one, counted.cells)
    progress(clock.step("explaining"))
    explained = _explained(job, cells, columns, own, recipe, clock.left)
    progress(Step("looking at columns that are not generalized", ENDING))
    carried, spellings = associated(lazy, looked.carried, columns), spelled_alike(counted.cells)
    warnings = (*uncovered(lazy, columns, carried), *looked.notices, *map(str, spellings), *warned(job, cells))
    more = warnings, carried, advised(job, cells, recipe), spellings, explained
    unplanned = tuple(method.name for method in others if method.name not in found)
    return Checked(counted.cells.rows, len(counted.cells), tuple(found.values()), *more, unplanned)


def _explained(
    job: Job, cells: Cells, columns: Mapping[str, Column], own: Outlook, recipe: Recipe | None, left: Callable[[], bool]
) -> Explained:
    """Why the plan loses what it does.  Other promises are measured by mondrian, which is quick and keeps any; so they are
    compared with what mondrian loses, and only where it or mosaic, which starts from it, is the job's method."""
    if not registry.writer(job.method.kind).generalizes:
        return Explained()
    if job.method.name not in ("mondrian", "mosaic"):
        return explain(cells, job.promises, recipe)
    method = job.method if job.method.name == "mondrian" else registry.method("mondrian")()

    def measure(seen: Cells, promises: Promises) -> float | None:
        changed = job.at(promises=promises, method=method)
        try:
            refuse_unable(changed)
        except RequestError:
            return None
        return _outlook(changed, method, seen, columns, own=False)[0].ail

    base = own.ail if method is job.method else measure(cells, job.promises) if left() else None
    return explain(cells, job.promises, recipe, Trials(measure, left, base))


def _others(job: Job, asked: Sequence[str] | None) -> list[Method]:
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


def _outlook(
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


def _compared(
    job: Job, method: Method, cells: Cells, columns: Mapping[str, Column], clock: Clock | None
) -> Outlook | None:
    """What another method would make of the job; None where the clock leaves no time for it."""
    if clock is None:
        return _outlook(job, method, cells, columns, own=False)[0]
    if not clock.suffices(len(cells), partial(_tried, job, method, cells)):
        return None
    return _outlook(job, method, cells, columns, own=False, watch=lambda now: not clock.left())[0]


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
