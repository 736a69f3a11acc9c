"""Planning without publishing: what a method would make of a table, and what that is worth.  Nothing is written.

count(job, frame=people)      the cells of a table, to be planned on several times
plan(job, frame=people)       the groups that the job's method makes, and what they lose
plan(job, cells=counted)      the same from cells that were counted before
measure(planned)              every measure that an audit would report of them (`measuring.py`)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue, registry
from reticent.attacks.seen import Seen, of_cells
from reticent.door import a_job, an_engine, called, door, flag, optional, whole
from reticent.door import cells as counted_cells
from reticent.engines.engine import Engine, Working
from reticent.errors import JobError, RequestError, some
from reticent.job import Job
from reticent.methods.compose import left_to_method
from reticent.methods.compose import plan as compose
from reticent.methods.relabelled import relabelled
from reticent.owner.staging import scratch
from reticent.populated import populated
from reticent.publish import counted_by
from reticent.randomness import Random
from reticent.recipe.group_labels import Labels, coalesce, labels_of, pad
from reticent.recipe.losses import printed_losses, shares
from reticent.recipe.recipe import Recipe
from reticent.recipe.schema import quasi_schema
from reticent.refusals import refuse_unable
from reticent.release.manifest import ColumnEntry, described, promise_entry
from reticent.release.reading.boxes import Boxes, covers_of, ends_of
from reticent.table.cells import Cells
from reticent.table.domain import Domain
from reticent.table.joint import jointly
from reticent.table.roles import Column, Role, resolve, with_role

Watch = Callable[[Any], bool | None]


@dataclass(frozen=True, eq=False)
class Plan:
    """The groups that a method made, and the CPU `seconds` that planning took.

    Groups whose labels are equal are one group, as a recipient sees them; planned with `merged=False` they are those the
    method made.
    """

    job: Job
    recipe: Recipe
    seconds: float

    @property
    def cells(self) -> Cells:
        """What was planned on: distinct combinations of codes, with how many rows have each."""
        return self.recipe.cells

    @property
    def withheld(self) -> int:
        """How many rows would not be published."""
        return self.recipe.withheld

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many rows each group has."""
        return self.recipe.as_groups().sizes

    def histogram(self, column: str | None = None) -> np.ndarray:
        """(groups, values): the rows of each group that hold each value of a sensitive column, in the order of its codes."""
        return self.recipe.as_groups().histogram(self.cells.sensitive_at(column))

    @cached_property
    def labels(self) -> Labels:
        """The distinct labels of each quasi-identifier, and which of them each group has."""
        self.refuse_unlabelled()
        return labels_of(self.recipe)

    @cached_property
    def groups(self) -> pl.DataFrame:
        """A row for each group: its label in each quasi-identifier, and its `rows`."""
        labels = self.labels
        columns = {
            domain.name: pl.Series(labels.texts[at], dtype=pl.String).gather(labels.of_group[:, at])
            for at, domain in enumerate(self.cells.quasi)
        }
        return pl.DataFrame({**columns, "rows": self.sizes})

    @cached_property
    def loss_by_column(self) -> dict[str, float]:
        """The mean information loss in each quasi-identifier (Cao & Karras 2012, equations 2 and 3); a withheld row counts 1."""
        self.refuse_unlabelled()
        rows, each = self.cells.rows, self.sizes @ printed_losses(self.recipe)
        names = [domain.name for domain in self.cells.quasi]
        return {name: (float(lost) + self.withheld) / rows for name, lost in zip(names, each, strict=True)}

    @property
    def loss(self) -> float:
        """AIL (equation 5), weighted as the method weighs columns."""
        weights = getattr(self.job.method, "weights", None)
        return float(np.array([*self.loss_by_column.values()]) @ shares(self.cells, weights))

    @cached_property
    def entries(self) -> tuple[ColumnEntry, ...]:
        """What a manifest would say of each quasi-identifier: how its labels are read."""
        columns = _declared(self.job, self.cells)
        return tuple(
            ColumnEntry.of(quasi_schema(domain, texts, columns[domain.name]))
            for domain, texts in zip(self.cells.quasi, self.labels.texts, strict=True)
        )

    @cached_property
    def boxes(self) -> Boxes:
        """The groups as a reader of their labels knows them, in codes: for workloads and attacks."""
        self.refuse_several()
        until = np.pad(np.cumsum(self.histogram(), axis=1), ((0, 0), (1, 0)))
        covers = covers_of(self.entries, self.cells, self.labels.texts)
        ends = ends_of(self.entries, self.cells, self.labels.texts)
        return Boxes(covers, np.ascontiguousarray(self.labels.of_group.T), until, ends)

    @property
    def redrawn(self) -> tuple[Cells, np.ndarray, np.ndarray]:
        """Of a method that redraws sensitive values: the cells as published, the matrix, and the codes it is about."""
        drawn = getattr(self.recipe, "redrawn", None)
        if drawn is None:
            raise RequestError(
                f"{self.job.method.name} redraws no sensitive value: its plan has no matrix.",
                attempt="rt.BetaPerturbation(), or plan.boxes for groups.",
            )
        return drawn

    def seen(self) -> Seen:
        """What an adversary sees of the release who knows the quasi-identifiers of everybody in it."""
        promises = tuple(promise_entry(registry.describe(promise, public=True)) for promise in self.job.promises)
        made = registry.describe(self.job.method, public=True)
        found = of_cells(self.cells, self.boxes, promises)
        if self.cells.rows_per_person > 1:
            return found
        return replace(found, made_by=described(made, catalogue.METHODS, "name", "method"))

    def refuse_unlabelled(self) -> None:
        """Labels, their loss and measures of groups are for plans whose groups are published as they are."""
        recipe, name = self.recipe, self.job.method.name
        if not registry.writer(self.job.method.kind).generalizes:
            raise RequestError(
                f"{name} publishes quasi-identifiers as they are: its plan has no labels to lose by or to measure.",
                attempt="rt.publish(...) and rt.audit(...).",
            )
        if recipe.values is not None or recipe.published is not None:
            raise RequestError(
                f"{name} does not publish every row of a group with its own value: its groups are not what is published.",
                attempt="rt.publish(...) and rt.audit(...).",
            )

    def refuse_several(self) -> None:
        if len(self.cells.sensitive) != 1:
            several = len(with_role(self.job.columns, Role.SENSITIVE))
            raise RequestError(
                f"Workloads and attacks are about one sensitive column; the job declares {several}.",
                attempt="a job with one of them.",
            )


@door(job=a_job, engine=an_engine)
def count(job: Job, *, frame: Any = None, engine: str | Engine = catalogue.ENGINE) -> Cells:
    """The cells of the job's table: its distinct combinations with how many rows have each."""
    with scratch(None) as room:
        counted = counted_by(registry.engine(engine), job, frame, Working(room=room))[-1].cells
    return jointly(counted) if job.jointly else counted


@door(
    job=a_job, cells=optional(counted_cells), seed=optional(whole), merged=flag, watch=optional(called), progress=called
)
def plan(
    job: Job,
    *,
    frame: Any = None,
    cells: Cells | None = None,
    seed: int | None = None,
    merged: bool = True,
    watch: Watch | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Plan:
    """The groups that the job's method makes of a table: its source, a frame, or cells that were counted before.

    `watch` is told how far a method is that improves as long as it may (`loss`, `cpu_seconds`, `sweep`), and returns True
    to have the best so far.  `progress` is told the same in words.
    """
    refuse_unable(job)
    _refuse_request(job, frame, cells, watch)
    counted = count(job, frame=frame) if cells is None else jointly(cells) if job.jointly else cells
    asked = populated(job, _declared(job, counted), counted).promises
    started = time.process_time()
    withholding = job.release.suppress_at_most
    rng = Random.of(seed)
    recipe = compose(job.prepare, job.method, counted, asked, rng, withholding, progress, watch)
    seconds = time.process_time() - started
    recipe = pad(replace(recipe, cells=counted), rng)
    labelled = merged and registry.writer(job.method.kind).generalizes
    recipe = relabelled(left_to_method(job.prepare, asked), counted, recipe)
    return Plan(job, coalesce(recipe)[0] if labelled else recipe, seconds)


def _refuse_request(job: Job, frame: Any, cells: Cells | None, watch: Watch | None) -> None:
    """What cannot be asked for together, before any data is read."""
    if watch is not None and (job.release.suppress_at_most or not getattr(job.method, "anytime", False)):
        why = "with suppress_at_most" if job.release.suppress_at_most else "in one go"
        raise JobError(
            f"{job.method.name} plans {why}: there is nothing to watch.", attempt="rt.Mosaic(), or no watch."
        )
    if cells is None:
        return
    if frame is not None:
        raise JobError("A plan is made of a frame or of cells, and both are given.", attempt="one of them.")
    if cells.joint >= 0 and not job.jointly:
        raise JobError(
            "The cells were counted for sensitive columns taken jointly, and the job takes each alone.",
            attempt="rt.count(...) by this job.",
        )
    columns = _declared(job, cells)
    for role, names in ((Role.QUASI, _names(cells.quasi)), (Role.SENSITIVE, _names(_parts(cells)))):
        if sorted(with_role(columns, role)) != sorted(names):
            raise JobError(
                f"The cells have {some(len(names), f'{role.value} column')} that the job does not declare alike.",
                attempt="rt.count(...) by a job with the same columns.",
            )
    job.promises.check_columns(_names(_parts(cells)), jointly=job.jointly)


def _declared(job: Job, cells: Cells) -> dict[str, Column]:
    """The job's declaration of each column of the cells."""
    coded = {name: column for name, column in job.columns.items() if column.role in (Role.QUASI, Role.SENSITIVE)}
    return resolve(coded, [*_names(cells.quasi), *_names(_parts(cells))], "drop")


def _parts(cells: Cells) -> tuple[Domain, ...]:
    """The sensitive columns of the table, without the one that combines them."""
    return tuple(domain for at, domain in enumerate(cells.sensitive) if at != cells.joint)


def _names(domains: tuple[Domain, ...]) -> list[str]:
    return [domain.name for domain in domains]
