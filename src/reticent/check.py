"""Before publishing: is the promise reachable, by which methods, at what expected loss.  Plans, and writes nothing.

The expected loss is AIL (Cao & Karras 2012, equations 2 to 5) over the planned groups, each column weighing the same unless
the method weighs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from time import process_time
from typing import Any

from reticent import catalogue, notebook, registry
from reticent.advising import advised, warned
from reticent.budget import COMPARED_SHARE, ENDING, LEAST, OWN, OWN_SECONDS, OWN_SHARE, SPARE, TIMES_READING, Clock
from reticent.door import a_job, an_engine, called, door, names, optional, seconds
from reticent.engines.engine import Engine, Working
from reticent.errors import RequestError
from reticent.explaining import Explained, Trials, explain
from reticent.job import Job
from reticent.methods.lone_people import warn_of_lone_people
from reticent.models.promises import Promises
from reticent.outlooks import Outlook, compared, other_methods, outlook_of, plan_own
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
from reticent.table.label_styles import explain_choice
from reticent.table.roles import Column
from reticent.table.spelling import Spelled, spelled_alike
from reticent.time_limit import TimeLimitReached, run_within


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
    def reachable(self) -> bool | None:
        """None where there was no time to plan by the job's own method."""
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

    With a `budget` all of it takes so many CPU seconds at the most, or LEAST for the job's own plan if that is more: what there was no
    time for is named in `unplanned`, in an outlook's `why` or among the warnings.  Without, the job's own plan takes OWN_SECONDS or ten times what reading took, comparing and explaining
    BUDGET times what reading and that plan took, and methods that were named are planned whatever they take.  `finished` is told
    each method's outlook.
    """
    refuse_unable(job)
    worker, clock, began = planning_whole(engine, "Checking"), Clock(budget), process_time()
    others = other_methods(job, methods)
    progress(Step("reading", 0))
    with scratch(None) as room:
        reading = partial(counted_by, worker, job, frame, Working(progress, room))
        rows, looked, counted = reading() if budget is None else _read_within(max(budget, LEAST), reading)
    job, columns = populated(job, counted.columns, counted.cells), counted.columns
    cells = jointly(counted.cells) if job.jointly else counted.cells
    progress(Step(f"planning by {job.method.name}", OWN / 2))
    own, recipe = plan_own(job, cells, columns, _own_seconds(clock, began, budget), progress)
    found, spellings = {job.method.name: own}, spelled_alike(counted.cells)
    finished(own, counted.cells)
    if budget is None:
        clock.start()
    compared_by = Clock.ending(clock.remaining(1.0 if budget is None else COMPARED_SHARE))
    for method in others:
        progress(clock.step(f"planning by {method.name}"))
        unlimited = methods is not None and budget is None
        if one := compared(job, method, cells, columns, None if unlimited else compared_by):
            found[method.name] = one
            finished(one, counted.cells)
    progress(clock.step("explaining"))
    explained = _explained(job, cells, columns, own, recipe, compared_by)
    progress(Step("looking at columns that are not generalized", ENDING))
    late: list[str] = []
    look = partial(uncovered, partial(worker.tallied, rows), columns, looked.carried)
    advise = partial(advised, job, cells, recipe)
    warn = partial(warned, job, cells)
    if budget is None:
        carried, said = look()
        warned_of = warn()
        advice = _within(late, "advice on promises", max(clock.remaining(), LEAST), advise, ())
    else:
        warned_of = _within(late, "warnings of promises", max(clock.remaining(), SPARE), warn, [])
        carried, said = _within(late, "columns that are not generalized", max(clock.remaining(), SPARE), look, ((), ()))
        advice = _within(late, "advice on promises", max(clock.remaining(), SPARE), advise, ())
    lone = warn_of_lone_people(job.promises, recipe, cells) if recipe is not None and own.alone is not None else []
    chosen = explain_choice(counted.cells.quasi)
    warnings = (*said, *looked.notices, *map(str, spellings), *chosen, *warned_of, *lone, *late)
    unplanned = tuple(one.name for one in others if one.name not in found)
    return Checked(
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


def _own_seconds(clock: Clock, began: float, budget: float | None) -> float:
    """CPU seconds for the job's own plan."""
    if budget is not None:
        return max(clock.remaining(OWN_SHARE), LEAST)
    return max(OWN_SECONDS, TIMES_READING * (process_time() - began))


def _within(late: list[str], what: str, seconds: float, function: Callable[[], Any], otherwise: Any) -> Any:
    """What the function returns; where there is no time, something else, and a warning that names what is missing."""
    try:
        return run_within(seconds, function)
    except TimeLimitReached:
        late.append(f"Not measured, for want of time: {what}. A greater --budget measures it.")
        return otherwise


def _explained(
    job: Job, cells: Cells, columns: Mapping[str, Column], own: Outlook, recipe: Recipe | None, clock: Clock
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
        return run_within(clock.remaining(), partial(outlook_of, changed, method, seen, columns, own=False))[0].ail

    base = own.ail
    if method is not job.method:
        try:
            base = measure(cells, job.promises)
        except TimeLimitReached:
            base = None
    return explain(cells, job.promises, recipe, Trials(measure, clock.left, base))
