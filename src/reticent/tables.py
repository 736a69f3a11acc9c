"""The table that is published, in the steps of `publish`: count, fingerprint, plan, write, audit, describe notices.

`Table` and `TablePlan` are the protocols.  `WholeTable` is a table whose cells one machine holds; a table in parts is
`partitioned.PartitionedTable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from reticent import catalogue
from reticent.audit.audit import AuditContext, audit_staged
from reticent.audit.result import Audit
from reticent.audit.subject import Subject
from reticent.data.cells import Cells, combine_sensitive
from reticent.data.columns import Column
from reticent.data.population import LoadedPopulation
from reticent.data.source import Source
from reticent.engines.engine import CountedTable, Engine, EngineContext
from reticent.job.job import Job
from reticent.job_table import load_populations, read_and_count
from reticent.labels.label_loss import ReleaseLoss
from reticent.ledger.fingerprint import CountedRows
from reticent.ledger.identifiers import MAX_COLLECTED_ROWS, MAX_HELD_ROWS, collect_identifiers
from reticent.methods.recipe_planning import knows_priors, settle_promises, warn_of_lone_people
from reticent.planning import plan_recipe
from reticent.plugins import list_namespaces
from reticent.progress import ProgressCallback, ProgressEvent
from reticent.randomness import Random
from reticent.recipe.group_labels import measure_end_isolation
from reticent.recipe.kind import Writer
from reticent.recipe.planned_loss import describe_wider_labels
from reticent.recipe.recipe import Recipe
from reticent.release import bundle


class Table(Protocol):
    """A job's table, read and counted by an engine."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """The declaration of each declared column."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences for the owner about the columns and their values."""

    @property
    def planning_range(self) -> tuple[float, float]:
        """The fractions of a run at which planning begins and ends, roughly."""

    def fingerprint(self, source: Source | None) -> CountedRows:
        """Return the counted rows, by which the ledger knows the table; `source` is None for a frame."""

    def plan(self, rng: Random, progress: ProgressCallback) -> TablePlan:
        """Plan the job on this table; raise `PromiseUnreachable` if no groups keep the promises."""


class TablePlan(Protocol):
    """A plan of a job on its table, ready to be written."""

    @property
    def cells(self) -> Cells:
        """The cells as they are published."""

    @property
    def settled_job(self) -> Job:
        """The job with its promises as the manifest records them: what they leave to the table is chosen."""

    @property
    def manifest_fields(self) -> dict[str, Any]:
        """The manifest's fields that depend on the release's kind."""

    @property
    def chosen_parameters(self) -> Mapping[str, Any]:
        """The parameters that the method chose while planning, by name."""

    def describe_lone_people(self) -> list[str]:
        """Describe people who would be alone in their group, or known before, for the steward."""

    @property
    def loss(self) -> ReleaseLoss | None:
        """The loss of the labels that will be printed; None where the kind has none, or the audit alone can measure it."""

    def describe_wider_labels(self, audited: Mapping[str, Any]) -> list[str]:
        """Describe what labels that are wider than their groups lose, and whom ends of ranges single out.

        `audited` are the audit's measures of utility.
        """

    def write(self, folder: Path, fields: Mapping[str, Any]) -> bytes | None:
        """Write the release into an empty folder; return the witness where the kind has one."""

    def audit(self, subject: Subject) -> Audit:
        """Audit the release that was written."""


@dataclass(frozen=True, eq=False)
class WholeTable:
    """A table whose cells are on one machine; `rows` are lazy, for carried columns to be read again."""

    job: Job
    engine: Engine
    context: EngineContext
    rows: Any
    counted: CountedTable
    notices: tuple[str, ...]

    @classmethod
    def read(cls, engine: Engine, job: Job, frame: Any, context: EngineContext) -> WholeTable:
        """Read the job's table, profile its columns and count its rows into cells."""
        rows, profile, counted = read_and_count(engine, job, frame, context)
        return cls(job, engine, context, rows, counted, profile.notices)

    @property
    def columns(self) -> Mapping[str, Column]:
        return self.counted.columns

    @property
    def planning_range(self) -> tuple[float, float]:
        """The fractions of a run for planning: a method that searches takes longer."""
        return (0.1, 0.9) if getattr(self.job.method, "anytime", False) else (0.45, 0.75)

    def fingerprint(self, source: Source | None) -> CountedRows:
        counted = self.counted
        max_rows = MAX_HELD_ROWS if self.engine.name == catalogue.DEFAULT_ENGINE else MAX_COLLECTED_ROWS
        count_values = partial(self.engine.count_distinct_rows, self.rows)
        identifiers = collect_identifiers(counted.columns, count_values, counted.cells.rows, max_rows)
        return CountedRows(counted.combinations, counted.multiplicity, source, identifiers)

    def plan(self, rng: Random, progress: ProgressCallback) -> WholePlan:
        """Load the populations that promises name, and plan."""
        counted = self.counted
        job = load_populations(self.job, counted.columns, counted.cells)
        progress(ProgressEvent("planning", 0))
        planned_cells = combine_sensitive(counted.cells) if job.jointly else counted.cells
        job = job.at(promises=settle_promises(job.promises, planned_cells))
        planned = plan_recipe(job, planned_cells, counted.columns, rng, published=counted.cells, progress=progress)
        return WholePlan(self, job, rng, planned_cells, planned.writer)


@dataclass(frozen=True, eq=False)
class WholePlan:
    """A plan with one recipe for all rows.

    `job` is the table's, with its populations loaded; `planned_cells` are what the promises were planned on.
    """

    table: WholeTable
    job: Job
    rng: Random
    planned_cells: Cells
    writer: Writer

    @property
    def cells(self) -> Cells:
        return self.table.counted.cells

    @property
    def settled_job(self) -> Job:
        job = self.table.job
        return job.at(promises=settle_promises(job.promises, self.planned_cells))

    @cached_property
    def manifest_fields(self) -> dict[str, Any]:
        return self.writer.fields(self.table.counted.passthrough_types)

    @property
    def chosen_parameters(self) -> Mapping[str, Any]:
        return self.writer.recipe.chosen

    def describe_lone_people(self) -> list[str]:
        if not self.writer.generalizes and not knows_priors(self.job.promises):
            return []
        return warn_of_lone_people(self.job.promises, self.writer.recipe, self.planned_cells)

    @cached_property
    def loss(self) -> ReleaseLoss | None:
        figures = self.writer.summarize_plan(getattr(self.job.method, "weights", None))
        return ReleaseLoss(figures["ail"], figures["ail_by_column"]) if "ail" in figures else None

    def describe_wider_labels(self, audited: Mapping[str, Any]) -> list[str]:
        if not self.writer.generalizes:
            return []
        recipe = self.writer.recipe
        columns = self.table.columns
        isolated_ends = [str(end) for end in measure_end_isolation(recipe, columns) if end.is_telling]
        weights = getattr(self.job.method, "weights", None)
        printed = ReleaseLoss(audited["ail"], audited["ail_by_column"])
        return [*describe_wider_labels(recipe, columns, printed, weights), *isolated_ends]

    def write(self, folder: Path, fields: Mapping[str, Any]) -> bytes | None:
        """Apply the recipe to the rows and write them; the witness records values that stand apart from rows."""
        table = self.table
        writer: Any = self.writer
        batches = table.engine.apply(table.counted, writer.recipe, self.rng, table.rows, writer.place, table.context)
        recorded = writer.record_values(batches) if hasattr(writer, "record_values") else None
        frames = writer.frames(batches if recorded is None else recorded)
        bundle.write_bundle(folder, frames, fields, self.job.release.format)
        return None if recorded is None else recorded.to_bytes()

    def audit(self, subject: Subject) -> Audit:
        """Audit the staged files with what they lack: the population of a promise, and the source as it was counted."""
        population = next((promise.population for promise in self.job.promises if hasattr(promise, "population")), None)
        people = population.rows if isinstance(population, LoadedPopulation) else population
        counted = self.table.counted
        true_values = partial(_count_true_values, self.writer.recipe)
        context = AuditContext(
            people,
            counted.combinations,
            counted.multiplicity,
            true_values,
            promises=tuple(self.job.promises),
            judges=list_namespaces(promise.name for promise in self.job.promises),
        )
        return audit_staged(subject, context)


def _count_true_values(recipe: Recipe, column: str) -> dict[str, int]:
    """Count the published people with each value of a sensitive column, before anything was perturbed."""
    cells = recipe.cells
    column_index = cells.find_sensitive(column)
    domain = cells.sensitive[column_index]
    published = recipe.published_entries
    codes = cells.values[recipe.cell[published], column_index]
    row_counts = np.bincount(codes, weights=recipe.quota[published], minlength=domain.size)
    return dict(zip(domain.texts, row_counts.astype(np.int64).tolist(), strict=False))
