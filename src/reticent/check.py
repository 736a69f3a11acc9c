"""Before publishing: is the promise reachable, by which methods, at what expected loss.  Plans, and writes nothing.

The expected loss is AIL (Cao & Karras 2012, equations 2 to 5) over the planned groups, each column weighing the same unless
the method weighs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent import notebook, registry
from reticent.door import a_job, called, door, names, optional
from reticent.engines import local
from reticent.errors import JobError, PromiseUnreachable, RequestError, suggest
from reticent.job import Job
from reticent.methods.compose import left_to_method, plan
from reticent.methods.protocols import Method
from reticent.models.shapes import Groups
from reticent.publish import read
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.refusals import refuse_unable
from reticent.table import beside
from reticent.table.carried import Carried, associated
from reticent.table.cells import Cells
from reticent.table.joint import jointly
from reticent.table.roles import Column, Role, with_role
from reticent.table.source import collect
from reticent.table.spelling import Spelled, spelled_alike


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
    """`methods` has the job's own first; `reachable` speaks of that one, as publishing would use it."""

    rows: int
    cells: int
    methods: tuple[Outlook, ...]
    warnings: tuple[str, ...] = field(default=())
    carried: tuple[Carried, ...] = field(default=())
    advice: tuple[Mapping[str, Any], ...] = field(default=())
    spellings: tuple[Spelled, ...] = field(default=())

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
        return {**found, "carried": carried, "advice": advice, "spellings": spellings}


@door(job=a_job, methods=optional(names), progress=called)
def check(
    job: Job,
    *,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Checked:
    """Plan the job by its own method and by the others that could keep its promises (or by those named)."""
    refuse_unable(job)
    others = [job.method, *_others(job, methods)]
    progress("reading")
    lazy, columns = read(job, frame)
    looked = beside.look(lazy, columns)
    counted = local.count(lazy, columns, looked.rows_per_person)
    cells = jointly(counted.cells) if job.jointly else counted.cells
    found, recipes = [], []
    for method in others:
        progress(f"planning by {method.name}")
        outlook, recipe = _outlook(job, method, cells, columns, own=method is job.method)
        found.append(outlook)
        recipes.append(recipe)
    progress("looking at columns that are not generalized")
    carried = associated(lazy, looked.carried, columns)
    spellings = spelled_alike(counted.cells)
    promised = [said for promise in job.promises if hasattr(promise, "warnings") for said in promise.warnings(cells)]
    warnings = (*_warnings(lazy, columns, carried), *looked.notices, *map(str, spellings), *promised)
    advice = tuple(one for name in registry.STAGES for one in registry.stage(name).advice(cells, job.promises))
    progress("proposing")
    advice += tuple(
        one
        for promise in job.promises
        if hasattr(promise, "advice")
        for one in promise.advice(_groups(cells, recipes[0]), recipes[0] is not None)
    )
    return Checked(counted.cells.rows, len(counted.cells), tuple(found), warnings, carried, advice, spellings)


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
    return [
        method
        for method in ready
        if job.promises.labels in (None, getattr(method, "labels", None) or job.promises.labels)
    ]


def _groups(cells: Cells, recipe: Recipe | None) -> Groups:
    """The planned groups, or all rows as one where nothing was planned."""
    if recipe is not None:
        return replace(recipe, cells=cells).as_groups()
    return Groups(cells, np.arange(len(cells)), cells.counts, np.array([0, len(cells)]))


def _outlook(
    job: Job, method: Method, cells: Cells, columns: Mapping[str, Column], *, own: bool
) -> tuple[Outlook, Recipe | None]:
    try:
        recipe = _planned(job, method, cells)
        writer = registry.writer(method.kind).of(recipe, columns)
    except PromiseUnreachable as error:
        return Outlook(method.name, False, why=str(error)), None
    except RequestError as error:
        if own:
            raise
        return Outlook(method.name, False, why=error.what), None
    said = writer.outlook(getattr(method, "weights", None))
    return Outlook(method.name, True, withheld=writer.recipe.withheld, **said), recipe


def _planned(job: Job, method: Method, cells: Cells) -> Recipe:
    at_most = job.release.suppress_at_most if registry.writer(method.kind).generalizes else Fraction(0)
    return plan(job.prepare, method, cells, job.promises, Random.secure(), at_most)


def _warnings(lazy: pl.LazyFrame, columns: Mapping[str, Column], carried: Sequence[Carried]) -> list[str]:
    """What the promise does not cover: carried columns that single people out or tell a sensitive value."""
    return [
        f"{one} It is published as it is{_guesses(lazy, one.column, with_role(columns, Role.SENSITIVE), one.rows)}."
        for one in carried
    ]


def _guesses(lazy: pl.LazyFrame, carried: str, sensitive: Sequence[str], rows: int) -> str:
    """How much better a sensitive value is guessed by who knows the carried one (Goodman and Kruskal's lambda, both sides)."""
    said = []
    for name in sensitive:
        pairs = lazy.group_by(carried, name).len("count")
        best = pairs.group_by(carried).agg(pl.col("count").max()).select(pl.col("count").sum())
        plain = lazy.group_by(name).len("count").select(pl.col("count").max())
        known, guessed = (collect(part, "Comparing columns").item() / rows for part in (best, plain))
        said.append(f"who knows it guesses {name!r} in {known:.1%} of the rows, who does not in {guessed:.1%}")
    return "".join(f"; {one}" for one in said)
