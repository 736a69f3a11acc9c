"""Before publishing: is the promise reachable, by which methods, at what expected loss.  Plans, and writes nothing.

The expected loss is AIL (Cao & Karras 2012, equations 2 to 5) over the planned groups, each column weighing the same unless
the method weighs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from reticent import catalogue, notebook, registry
from reticent.advising import advised, warned
from reticent.budget import ENDING, OWN, Clock
from reticent.door import a_job, an_engine, called, door, names, optional, seconds
from reticent.engines.engine import Engine, Working
from reticent.errors import RequestError
from reticent.explaining import Explained, Trials, explain
from reticent.job import Job
from reticent.models.promises import Promises
from reticent.outlooks import Outlook, compared, other_methods, outlook_of
from reticent.owner.staging import scratch
from reticent.populated import populated
from reticent.publish import counted_by
from reticent.recipe.recipe import Recipe
from reticent.refusals import planning_whole, refuse_unable
from reticent.step import Step
from reticent.table.carried import Carried
from reticent.table.cells import Cells
from reticent.table.guessing import uncovered
from reticent.table.joint import jointly
from reticent.table.roles import Column
from reticent.table.spelling import Spelled, spelled_alike


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


@door(job=a_job, methods=optional(names), budget=optional(seconds), progress=called, finished=called, engine=an_engine)
def check(
    job: Job,
    *,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    finished: Callable[[Outlook, Cells], None] = lambda outlook, cells: None,
    engine: str | Engine = catalogue.ENGINE,
) -> Checked:
    """Plan the job by its own method and by the others that could keep its promises (or by those named).

    Comparisons and explanations together take about `budget` CPU seconds, by default BUDGET times what reading and the job's
    own plan took; methods that were named are planned whatever they take.  `finished` is told each method's outlook.
    """
    refuse_unable(job)
    worker, clock = planning_whole(engine, "Checking"), Clock(budget)
    others = other_methods(job, methods)
    progress(Step("reading", 0))
    with scratch(None) as room:
        rows, looked, counted = counted_by(worker, job, frame, Working(progress, room))
    job, columns = populated(job, counted.columns, counted.cells), counted.columns
    cells = jointly(counted.cells) if job.jointly else counted.cells
    progress(Step(f"planning by {job.method.name}", OWN / 2))
    own, recipe = outlook_of(job, job.method, cells, columns, own=True)
    found, spellings = {job.method.name: own}, spelled_alike(counted.cells)
    finished(own, counted.cells)
    clock.start()
    for method in others:
        progress(clock.step(f"planning by {method.name}"))
        if one := compared(job, method, cells, columns, clock if methods is None else None):
            found[method.name] = one
            finished(one, counted.cells)
    progress(clock.step("explaining"))
    explained = _explained(job, cells, columns, own, recipe, clock.left)
    progress(Step("looking at columns that are not generalized", ENDING))
    carried, said = uncovered(partial(worker.tallied, rows), columns, looked.carried)
    warnings = (*said, *looked.notices, *map(str, spellings), *warned(job, cells))
    more = advised(job, cells, recipe), spellings, explained, tuple(one.name for one in others if one.name not in found)
    return Checked(counted.cells.rows, len(counted.cells), tuple(found.values()), warnings, carried, *more)


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
        return outlook_of(changed, method, seen, columns, own=False)[0].ail

    base = own.ail if method is job.method else measure(cells, job.promises) if left() else None
    return explain(cells, job.promises, recipe, Trials(measure, left, base))
