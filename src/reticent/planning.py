"""Planning: from the counted cells of a job's table to a recipe in its writer; and planning without publishing.

`plan_recipe` is how `publish`, `check` and `plan` plan a job, so that what is predicted is what is published.  For
users who plan without publishing, and nothing is written:

count(job, frame=people)      the cells of a table, to plan on several times
plan(job, frame=people)       the groups that the job's method makes, and their loss
plan(job, cells=counted)      the same from cells that were counted before
measure(planned)              every measure that an audit would report of the groups, by the audit's own formulas
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue, registry
from reticent.attacks.target import AttackTarget, make_target
from reticent.audit.groups import SensitiveColumn, find_paths
from reticent.audit.kind import find_worst_measures, measure_column
from reticent.audit.measure import anonymity
from reticent.audit.measure.counts import GroupCounts, list_views
from reticent.audit.result import convert_to_plain
from reticent.catalogue.choices import EngineName
from reticent.data.cells import Cells, combine_sensitive
from reticent.data.columns import Column, Role, find_columns_with_role, resolve_columns
from reticent.data.domain import Domain, TreeDomain
from reticent.engines.engine import Engine, EngineContext
from reticent.errors import JobError, RequestError, pluralize
from reticent.format.manifest import ColumnEntry, parse_component, parse_promise
from reticent.job.job import Job
from reticent.job_table import load_populations, read_and_count
from reticent.labels.adversary_view import Boxes, find_covers, list_range_ends
from reticent.labels.label_loss import ReleaseLoss, read_column_labels
from reticent.ledger.staging import make_temp_dirs
from reticent.methods.recipe_planning import Watch, compose_recipe, settle_promises
from reticent.preconditions import require_promises_supported
from reticent.progress import ProgressCallback
from reticent.randomness import Random
from reticent.recipe.group_labels import (
    GroupLabels,
    build_group_labels,
    build_quasi_entry,
)
from reticent.recipe.kind import Writer
from reticent.recipe.planned_loss import measure_recipe_loss
from reticent.recipe.recipe import Recipe
from reticent.utility import loss
from reticent.validation import (
    flag,
    integer,
    is_callable,
    is_cells,
    is_engine,
    is_job,
    is_plan,
    optional,
    validate_arguments,
)


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
        """The cells that were planned on: distinct combinations of codes, with the number of rows of each."""
        return self.recipe.cells

    @property
    def withheld(self) -> int:
        """The number of rows that would not be published."""
        return self.recipe.all_withheld

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of rows of each group."""
        return self.recipe.as_groups().sizes

    def histogram(self, column: str | None = None) -> np.ndarray:
        """Return (groups, values): the rows of each group with each value of a sensitive column, in the order of its codes."""
        return self.recipe.as_groups().histogram(self.cells.find_sensitive(column))

    @cached_property
    def labels(self) -> GroupLabels:
        """The distinct labels of each quasi-identifier, and which of them each group has."""
        self.require_labels()
        return build_group_labels(self.recipe)

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
        return dict(self._release_loss.by_column)

    @property
    def loss(self) -> float:
        """AIL (equation 5), weighted as the method weighs columns: the loss that the release has by its audit."""
        ail = self._release_loss.ail
        assert ail is not None  # a plan with labels has columns to lose by
        return ail

    @cached_property
    def _release_loss(self) -> ReleaseLoss:
        labels = self.labels
        columns = _resolve_columns(self.job, self.cells)
        return measure_recipe_loss(self.recipe, labels, columns, getattr(self.job.method, "weights", None))

    @cached_property
    def entries(self) -> tuple[ColumnEntry, ...]:
        """The manifest's entries of the quasi-identifiers: how their labels are read."""
        columns = _resolve_columns(self.job, self.cells)
        return tuple(
            ColumnEntry.parse(build_quasi_entry(domain, texts, columns[domain.name]))
            for domain, texts in zip(self.cells.quasi, self.labels.texts, strict=True)
        )

    @cached_property
    def boxes(self) -> Boxes:
        """The groups as a reader of their labels knows them, in codes: for workloads and attacks."""
        self.require_one_sensitive_column()
        until = np.pad(np.cumsum(self.histogram(), axis=1), ((0, 0), (1, 0)))
        covers = find_covers(self.entries, self.cells, self.labels.texts)
        ends = list_range_ends(self.entries, self.cells, self.labels.texts)
        return Boxes(covers, np.ascontiguousarray(self.labels.of_group.T), until, ends)

    @property
    def redrawn(self) -> tuple[Cells, np.ndarray, np.ndarray]:
        """For a method that redraws sensitive values: the cells as published, the matrix, and the codes that the matrix is over."""
        drawn = getattr(self.recipe, "perturbed_cells", None)
        if drawn is None:
            raise RequestError(
                f"{self.job.method.name} redraws no sensitive value: its plan has no matrix.",
                attempt="rt.BetaPerturbation(), or plan.boxes for groups.",
            )
        return drawn

    def to_attack_target(self) -> AttackTarget:
        """What an adversary sees of the release who knows the quasi-identifiers of everybody in it."""
        promises = tuple(parse_promise(registry.describe(promise, public=True)) for promise in self.job.promises)
        made = registry.describe(self.job.method, public=True)
        found = make_target(self.cells, self.boxes, promises)
        if self.cells.rows_per_person > 1:
            return found
        return replace(found, made_by=parse_component(made, catalogue.METHODS, "name", "method"))

    def require_labels(self) -> None:
        """Refuse a plan whose groups are not published as they are: it has no labels, no loss of labels and no measures of groups."""
        recipe = self.recipe
        name = self.job.method.name
        if not registry.load_writer(self.job.method.kind).generalizes:
            raise RequestError(
                f"{name} publishes quasi-identifiers as they are: its plan has no labels to lose by or to measure.",
                attempt="rt.publish(...) and rt.audit(...).",
            )
        if recipe.values is not None or recipe.published is not None:
            raise RequestError(
                f"{name} does not publish every row of a group with its own value: its groups are not what is published.",
                attempt="rt.publish(...) and rt.audit(...).",
            )

    def require_one_sensitive_column(self) -> None:
        if len(self.cells.sensitive) != 1:
            several = len(find_columns_with_role(self.job.columns, Role.SENSITIVE))
            raise RequestError(
                f"Workloads and attacks are about one sensitive column; the job declares {several}.",
                attempt="a job with one of them.",
            )


@validate_arguments(job=is_job, engine=is_engine)
def count(job: Job, *, frame: Any = None, engine: EngineName | Engine = catalogue.DEFAULT_ENGINE) -> Cells:
    """Count the cells of the job's table: its distinct combinations with the number of rows of each."""
    with make_temp_dirs(None) as make_temp_dir:
        context = EngineContext(make_temp_dir=make_temp_dir)
        _, _, counted = read_and_count(registry.load_engine(engine), job, frame, context)
    return combine_sensitive(counted.cells) if job.jointly else counted.cells


@validate_arguments(
    job=is_job,
    cells=optional(is_cells),
    seed=optional(integer),
    merged=flag,
    watch=optional(is_callable),
    progress=is_callable,
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
    """Plan a table by the job's method; the table is the job's source, a frame, or cells that were counted before.

    `watch` is called with the state of a method that improves as long as it may (`loss`, `cpu_seconds`, `sweep`), and
    returns True to take the best plan so far.  `progress` is called with the same in words.
    """
    require_promises_supported(job)
    _require_consistent_request(job, frame, cells, watch)
    if cells is None:
        cells = count(job, frame=frame)
    counted = combine_sensitive(cells) if job.jointly else cells
    columns = _resolve_columns(job, counted)
    job = job.at(promises=settle_promises(job.promises, counted))
    loaded = load_populations(job, columns, counted)
    started = time.process_time()
    planned = plan_recipe(loaded, counted, columns, Random.from_optional_seed(seed), progress=progress, watch=watch)
    seconds = time.process_time() - started
    is_merged = merged and registry.load_writer(job.method.kind).generalizes
    return Plan(job, planned.writer.recipe if is_merged else planned.recipe, seconds)


def plan_recipe(
    job: Job,
    cells: Cells,
    columns: Mapping[str, Column],
    rng: Random,
    *,
    published: Cells | None = None,
    progress: ProgressCallback = lambda stage: None,
    watch: Watch | None = None,
) -> PlannedRecipe:
    """Plan a job on counted cells by its stages and its method; return the recipe with its labels, ready for its writer.

    `cells` have the column that combines the sensitive ones where the job takes them jointly; `published` are the cells
    as they are published, without it.  Raises `PromiseUnreachable` if no groups keep the promises.
    """
    generalizes = registry.load_writer(job.method.kind).generalizes
    recipe = compose_recipe(
        job.prepare,
        job.method,
        cells,
        job.promises,
        rng,
        published=published,
        suppress_at_most=job.release.suppress_at_most if generalizes else Fraction(0),
        progress=progress,
        watch=watch,
    )
    return PlannedRecipe(recipe, columns, job.method.kind)


@dataclass(frozen=True, eq=False)
class PlannedRecipe:
    """A recipe that keeps the promises, with its final labels; groups of it may still read the same."""

    recipe: Recipe
    columns: Mapping[str, Column]
    kind: str

    @cached_property
    def writer(self) -> Writer:
        """The recipe in the writer of its kind: groups that read the same are one, and every row has one outcome."""
        writer = registry.load_writer(self.kind).from_recipe(self.recipe, self.columns)
        writer.recipe.require_conserved()
        return writer


@validate_arguments(planned=is_plan)
def measure(planned: Plan) -> dict[str, Any]:
    """Measure what the planned groups achieve and lose: every measure that an audit of their release would report.

    The measures are computed by the audit's own formulas; no file is written or read.
    """
    planned.require_labels()
    sizes = planned.sizes
    cells = planned.cells
    achieved = find_worst_measures(
        [measure_column(_count_sensitive_values(planned, at)) for at in _select_measured_columns(planned)]
    )
    return convert_to_plain(
        {
            "rows": int(sizes.sum()),
            "groups": len(sizes),
            "withheld": planned.withheld,
            "k-anonymity": anonymity.measure_k(sizes, cells.rows_per_person),
            **achieved,
            **_measure_utility(planned),
        }
    )


def _resolve_columns(job: Job, cells: Cells) -> dict[str, Column]:
    """Return the job's declaration of each column of the cells."""
    coded = {name: column for name, column in job.columns.items() if column.role in (Role.QUASI, Role.SENSITIVE)}
    return resolve_columns(
        coded, [*_list_domain_names(cells.quasi), *_list_domain_names(_list_sensitive_domains(cells))], "drop"
    )


def _require_consistent_request(job: Job, frame: Any, cells: Cells | None, watch: Watch | None) -> None:
    """Refuse arguments that cannot be combined, before any data is read."""
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
    columns = _resolve_columns(job, cells)
    for role, names in (
        (Role.QUASI, _list_domain_names(cells.quasi)),
        (Role.SENSITIVE, _list_domain_names(_list_sensitive_domains(cells))),
    ):
        if sorted(find_columns_with_role(columns, role)) != sorted(names):
            raise JobError(
                f"The cells have {pluralize(len(names), f'{role.value} column')} that the job does not declare alike.",
                attempt="rt.count(...) by a job with the same columns.",
            )
    job.promises.check_columns(_list_domain_names(_list_sensitive_domains(cells)), jointly=job.jointly)


def _count_sensitive_values(planned: Plan, at: int) -> SensitiveColumn:
    """Count a column's groups as an audit does: values that no published row has are left out."""
    domain = planned.cells.sensitive[at]
    counts = planned.histogram(domain.name)
    occurring = np.flatnonzero(counts.sum(axis=0))
    counts = counts[:, occurring]
    group, value = np.nonzero(counts)
    held = GroupCounts(group, value, counts[group, value], counts.sum(axis=0))
    paths = None
    if isinstance(domain, TreeDomain) and domain.is_from_steward and domain.kind == "categorical":
        texts = [*domain.texts, *([None] if domain.null else [])]
        paths = find_paths(domain.hierarchy, [texts[code] for code in occurring])
    return SensitiveColumn(
        domain.name, list_views(held, occurring == domain.null_code), paths, joint=at == planned.cells.joint
    )


def _select_measured_columns(planned: Plan) -> list[int]:
    """Select the sensitive columns that an audit measures: each, or, taken jointly, the combination and those that a promise names."""
    cells = planned.cells
    named = {getattr(promise, "column", None) for promise in planned.job.promises}
    alone = [at for at, domain in enumerate(cells.sensitive) if at != cells.joint]
    return alone if cells.joint < 0 else [cells.joint, *(at for at in alone if cells.sensitive[at].name in named)]


def _measure_utility(planned: Plan) -> dict[str, Any]:
    """Measure information loss from the labels, as a recipient reads them."""
    labels = planned.labels
    columns = []
    for at, entry in enumerate(planned.entries):
        rows = np.bincount(labels.of_group[:, at], weights=planned.sizes, minlength=len(labels.texts[at]))
        columns.append(read_column_labels(entry, labels.texts[at], rows.astype(np.int64)).measure_loss())
    promised = [registry.describe(promise).get("k", 1) for promise in planned.job.promises]
    weights = getattr(planned.job.method, "weights", None)
    return loss.compute_loss_measures(
        columns, planned.sizes, withheld=planned.withheld, k=int(max(promised)), weights=weights
    )


def _list_domain_names(domains: tuple[Domain, ...]) -> list[str]:
    return [domain.name for domain in domains]


def _list_sensitive_domains(cells: Cells) -> tuple[Domain, ...]:
    """List the sensitive columns of the table, without the one that combines them."""
    return tuple(domain for at, domain in enumerate(cells.sensitive) if at != cells.joint)
