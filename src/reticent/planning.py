"""Planning without publishing: what a method would make of a table, and what that is worth.  Nothing is written.

plan(job, frame=people)       the groups that the job's method makes, and what they lose
plan(job, cells=counted)      the same from cells that were counted before: `count(job, frame=people)`
measure(planned)              every measure that an audit would report of them, by the audit's own formulas
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent import registry
from reticent.audit.measure.counts import Counts, views
from reticent.audit.measures import measures, worst
from reticent.audit.result import plain
from reticent.audit.sensitive import Sensitive, paths_of
from reticent.engines import local
from reticent.errors import RequestError
from reticent.job import Job
from reticent.methods.compose import plan as compose
from reticent.publish import read
from reticent.randomness import Random
from reticent.recipe.group_labels import coalesce
from reticent.recipe.losses import column_losses, shares
from reticent.recipe.recipe import Recipe
from reticent.refusals import refuse_unable
from reticent.release.reading.boxes import Boxes
from reticent.table import beside
from reticent.table.cells import Cells
from reticent.table.domain import TreeDomain
from reticent.table.joint import jointly


@dataclass(frozen=True, eq=False)
class Plan:
    """The groups that a method made, and the CPU `seconds` that planning took."""

    job: Job
    recipe: Recipe
    seconds: float

    @property
    def cells(self) -> Cells:
        return self.recipe.cells

    @property
    def withheld(self) -> int:
        return self.recipe.withheld

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many rows each group has."""
        return self.recipe.as_groups().sizes

    def histogram(self, column: str | None = None) -> np.ndarray:
        """(groups, values): the rows of each group that hold each value of a sensitive column."""
        return self.recipe.as_groups().histogram(self.cells.sensitive_at(column))

    @cached_property
    def groups(self) -> pl.DataFrame:
        """A row for each group: its label in each quasi-identifier, and its `rows`."""
        merged, labels = coalesce(self.recipe)
        found = {
            domain.name: pl.Series(labels.texts[at], dtype=pl.String).gather(labels.of_group[:, at])
            for at, domain in enumerate(self.cells.quasi)
        }
        return pl.DataFrame({**found, "rows": merged.as_groups().sizes})

    @cached_property
    def loss_by_column(self) -> dict[str, float]:
        """The mean information loss of each quasi-identifier's cells (Cao & Karras 2012, equations 2 and 3); a withheld row counts 1."""
        rows, each = self.cells.rows, self.sizes @ column_losses(self.recipe)
        names = [domain.name for domain in self.cells.quasi]
        return {name: (float(lost) + self.withheld) / rows for name, lost in zip(names, each, strict=True)}

    @property
    def loss(self) -> float:
        """AIL (equation 5), weighted as the method weighs columns."""
        return float(np.array([*self.loss_by_column.values()]) @ shares(self.cells, _weights(self.job.method)))

    @cached_property
    def boxes(self) -> Boxes:
        """The groups as their labels show them, for workloads and attacks: a node covers all its leaves."""
        lower, upper = self.recipe.spans()
        first, last = lower.T.astype(np.int32).copy(), upper.T.astype(np.int32).copy()
        for at, domain in enumerate(self.cells.quasi):
            if isinstance(domain, TreeDomain) and not domain.null:
                node = domain.nodes(lower[:, at], upper[:, at])
                first[at], last[at] = domain.hierarchy.first[node], domain.hierarchy.last[node]
        until = np.pad(np.cumsum(self.histogram(), axis=1), ((0, 0), (1, 0)))
        return Boxes.of_spans(first, last, np.ascontiguousarray(until))


def count(job: Job, *, frame: Any = None) -> Cells:
    """The cells of the job's table: its distinct combinations with how many rows have each."""
    lazy, columns = read(job, frame)
    looked = beside.look(lazy, columns)
    counted = local.count(lazy, columns, looked.rows_per_person).cells
    return jointly(counted) if job.jointly else counted


def plan(
    job: Job,
    *,
    frame: Any = None,
    cells: Cells | None = None,
    seed: int | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Plan:
    """The groups that the job's method makes of a table: its source, a frame, or cells that were counted before."""
    refuse_unable(job)
    found = count(job, frame=frame) if cells is None else cells
    started = time.process_time()
    recipe = compose(
        job.prepare, job.method, found, job.promises, Random.of(seed), job.release.suppress_at_most, progress
    )
    return Plan(job, replace(recipe, cells=found), time.process_time() - started)


def measure(planned: Plan) -> dict[str, Any]:
    """What the planned groups achieve and lose: every measure that an audit reports, by its own formulas, and `ail`."""
    if not registry.writer(planned.job.method.kind).generalizes:
        raise RequestError(
            f"A {planned.job.method.kind} release shows no group's own values: the plan of {planned.job.method.name} has nothing to measure.",
            attempt="rt.publish(...) and rt.audit(...).",
        )
    cells, each = planned.cells, []
    for domain in cells.sensitive:
        counts = planned.histogram(domain.name)
        group, value = np.nonzero(counts)
        null = np.arange(domain.size) == domain.null_code
        held = Counts(group, value, counts[group, value], counts.sum(axis=0))
        paths = (
            paths_of(domain.hierarchy, [*domain.texts, *([None] if domain.null else [])])
            if isinstance(domain, TreeDomain) and domain.given
            else None
        )
        each.append(measures(Sensitive(domain.name, views(held, null), paths)))
    k = int(planned.sizes.min()) // cells.rows_per_person
    found = {"k-anonymity": k, **worst(each), "ail": planned.loss, "groups": len(planned.sizes)}
    return {**plain(found), "withheld": planned.withheld}


def _weights(method: Any) -> Mapping[str, Any] | None:
    return getattr(method, "weights", None)
