"""The table of a job as an engine reads it: its columns, its rows counted into cells, its populations, and notices.

`scan_job_source` opens the source and resolves the declared columns; `scan_table` profiles what is no part of cells;
`read_and_count` counts the rows into cells too, where one machine holds them.  `check`, `plan`, `publish` and the
partitioned pipeline read a table here, so all of them refuse the same columns and notice the same things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue, registry
from reticent.data.broken_lines import describe_set_aside
from reticent.data.cells import Cells
from reticent.data.columns import (
    Column,
    Role,
    apply_source_types,
    count_beyond,
    describe_beyond,
    describe_types,
    find_columns_with_role,
    has_types,
    require_supported_types,
    resolve_columns,
)
from reticent.data.declared_withholding import NONE_WITHHELD, EarlyWithholding, find_row_limits, list_complete_columns
from reticent.data.domain import Domain
from reticent.data.label_styles import explain_snapping, use_tight_labels
from reticent.data.odd_values import FarValues, find_far_values_in_cells, find_spelling_variants
from reticent.data.parsing import categories_to_texts
from reticent.data.passthrough import PassthroughCounts, PassthroughProfile, describe_rounded_to_zero
from reticent.data.population import read_population
from reticent.data.source import is_in_memory, list_broken_lines, with_spellings
from reticent.data.spellings import describe_unused_spellings
from reticent.engines.engine import DEFAULT_CONTEXT, CountedTable, Engine, EngineContext
from reticent.errors import ColumnError
from reticent.job.job import Job
from reticent.preconditions import (
    may_relabel,
    require_method_columns,
    require_named_columns,
    require_one_sensitive_column,
    require_short_texts,
    require_unreserved_names,
)
from reticent.randomness import Random

ValueCounts = tuple[pl.Series, np.ndarray]
"""Values of a column, and the number of rows of each."""


def read_and_count(
    engine: Engine, job: Job, frame: Any = None, context: EngineContext = DEFAULT_CONTEXT
) -> tuple[Any, PassthroughProfile, CountedTable]:
    """Read the job's rows by an engine; return the rows, the profile of the columns outside cells, and the counted cells."""
    scanned = scan_table(engine, job, frame, context)
    profile = scanned.profile
    context.progress("counting")
    codable = _leave_missing_to_method(job, scanned.columns)
    counted = engine.count(scanned.rows, codable, profile.rows_per_person, context)
    cells = replace(counted.cells, withheld_before=scanned.withheld_before)
    counted = replace(counted, cells=cells, columns=scanned.columns)
    if hasattr(job.method, "require_cells"):
        job.method.require_cells(cells)
    require_short_texts(job, (cells.quasi, cells.sensitive))
    notices = scanned.describe_columns(
        (*cells.quasi, *cells.sensitive),
        cells.source_rows,
        find_far_values_in_cells(cells),
        lambda name: (counted.combinations[name], counted.multiplicity),
    )
    return scanned.rows, replace(profile, notices=(*profile.notices, *notices)), counted


def _leave_missing_to_method(job: Job, columns: Mapping[str, Column]) -> dict[str, Column]:
    """Have missing sensitive values counted where the method refuses them itself, with advice that it takes."""
    refuses = hasattr(job.method, "require_cells")
    return {
        name: replace(column, missing="category")
        if refuses and column.role is Role.SENSITIVE and column.missing == "refuse"
        else column
        for name, column in columns.items()
    }


def read_rows(job: Job, frame: Any = None, engine: Engine | None = None) -> tuple[Any, dict[str, Column]]:
    """Return the rows that are not withheld before planning, lazily, and the declaration of each declared column."""
    engine = engine or registry.load_engine(catalogue.DEFAULT_ENGINE)
    scanned, columns = scan_job_source(job, frame, engine)
    rows, _ = withhold_declared_rows(engine, engine.cast(scanned, columns), columns, DEFAULT_CONTEXT)
    return rows, columns


def withhold_declared_rows(
    engine: Engine, rows: Any, columns: Mapping[str, Column], context: EngineContext
) -> tuple[Any, EarlyWithholding]:
    """Return the rows without those that columns declare to be withheld, and how many these are by reason."""
    missing = 0
    surplus = 0
    if names := list_complete_columns(columns):
        rows, missing = engine.drop_missing(rows, names)
    if limits := find_row_limits(columns):
        rows, surplus = engine.drop_surplus(rows, limits, context.rng or Random.secure())
    return rows, EarlyWithholding(missing, surplus)


def load_populations(job: Job, columns: Mapping[str, Column], cells: Cells) -> Job:
    """Return the job with each population that a promise names, and the method's reference, as a table of typed values.

    The loaded values are for planning and the audit; they are never stored.
    """
    method: Any = job.method
    if hasattr(method, "load_reference") and method.reference is not None:
        job = job.at(method=method.load_reference(job.source, columns, cells))
    promises: list[Any] = list(job.promises)
    if not any(hasattr(promise, "population") for promise in promises):
        return job
    loaded = [
        replace(promise, population=read_population(job.source, promise.population, columns, cells.quasi))
        if hasattr(promise, "population")
        else promise
        for promise in promises
    ]
    return job.at(promises=loaded)


@dataclass(frozen=True, eq=False)
class ScannedTable:
    """A job's table before its cells are counted.

    `source_rows` are the rows as the source has them and `rows` the rows with declared types, both lazy; `passthrough`
    counts what rounding does to carried values; `profile` has the statistics of the columns that are no part of cells;
    `reading_notices` are about lines that were set aside and spellings that occur nowhere.
    `rows` and `profile` are without the rows that were `withheld_before`.
    """

    job: Job
    frame: Any
    source_rows: Any
    rows: Any
    columns: dict[str, Column]
    passthrough: PassthroughCounts
    profile: PassthroughProfile
    reading_notices: tuple[str, ...] = ()
    withheld_before: EarlyWithholding = NONE_WITHHELD

    def describe_columns(
        self,
        domains: Sequence[Domain],
        row_count: int,
        far_values: Iterable[FarValues],
        count_values: Callable[[str], ValueCounts],
    ) -> list[str]:
        """Describe, in sentences, guessed types, values far from others, rounding, and rows beyond a top or bottom."""
        rounded = self.passthrough.rounded_to_zero
        return [
            *self.reading_notices,
            *self.withheld_before.describe(self.columns),
            *self._describe_types(domains),
            *map(str, far_values),
            *describe_rounded_to_zero(rounded, self.columns, row_count),
            *self._describe_bounds(count_values),
        ]

    def _describe_types(self, domains: Sequence[Domain]) -> list[str]:
        """Describe columns whose type was guessed or taken from the source."""
        names = [domain.name for domain in domains]
        coded = (Role.QUASI, Role.SENSITIVE)
        declared = {name: column for name, column in self.job.columns.items() if column.role in coded}
        columns = resolve_columns(declared, names, "drop")
        typed = has_types(self.job.source, self.frame)
        return describe_types(columns, domains, self.source_rows.collect_schema(), typed=typed)

    def _describe_bounds(self, count_values: Callable[[str], ValueCounts]) -> list[str]:
        """Describe columns of which many rows lie beyond a declared top or bottom."""
        sentences: list[str] = []
        for name in find_columns_with_role(self.columns, Role.QUASI):
            column = self.columns[name]
            if column.top is None and column.bottom is None:
                continue
            values, multiplicity = count_values(name)
            texts, counts = categories_to_texts(values, multiplicity)
            sentences += describe_beyond(name, count_beyond(name, column, texts, counts), int(multiplicity.sum()))
        return sentences


def scan_table(engine: Engine, job: Job, frame: Any, context: EngineContext) -> ScannedTable:
    """Open the job's table, withhold rows as columns declare, and profile the columns that are no part of cells."""
    source_rows, columns = scan_job_source(job, frame, engine)
    rows, withheld = withhold_declared_rows(engine, engine.cast(source_rows, columns), columns, context)
    passthrough = engine.count_passthrough(source_rows, columns)
    passthrough.require_within_calendar()
    profile = engine.profile_columns(rows, columns, context)
    notices = (
        *describe_set_aside(list_broken_lines(job.source if frame is None else None)),
        *_describe_unused_spellings(engine, job, frame, columns),
    )
    return ScannedTable(job, frame, source_rows, rows, columns, passthrough, profile, notices, withheld)


def scan_job_source(job: Job, frame: Any, engine: Engine) -> tuple[Any, dict[str, Column]]:
    """Return the rows as the source has them, lazily, and the declaration of each declared column."""
    scan = engine.scan(job.source, frame)
    rows = scan.rows
    columns = resolve_columns(job.columns, scan.names, job.release.undeclared)
    columns = columns if may_relabel(job) else use_tight_labels(columns)
    schema = rows.collect_schema()
    quasi = find_columns_with_role(columns, Role.QUASI)
    if not quasi:
        raise ColumnError(
            "No column is quasi-identifying.",
            why="Without one there is nothing to generalize.",
            attempt='role = "quasi-identifying" for what an adversary may know.',
        )
    require_supported_types(schema, columns)
    if has_types(job.source, frame):
        columns = apply_source_types(columns, schema)
    if hasattr(job.method, "declare_types"):
        columns = job.method.declare_types(columns, schema)
    sensitive = find_columns_with_role(columns, Role.SENSITIVE)
    require_one_sensitive_column(job, sensitive)
    require_unreserved_names(job, columns)
    require_method_columns(job, columns)
    require_named_columns(job, quasi, sensitive)
    job.promises.check_columns(sensitive, jointly=job.jointly)
    return rows, columns


def _describe_unused_spellings(engine: Engine, job: Job, frame: Any, columns: Mapping[str, Column]) -> list[str]:
    """Describe maps of columns with texts that occur nowhere in the source, before anything was replaced.

    A lazy frame, and rows that an engine holds, may have been read by this job before, with their spellings replaced.
    """
    maps = {name: column.map for name, column in columns.items() if column.map is not None}
    if not maps or not (frame is None or is_in_memory(frame)):
        return []
    rows = engine.scan(with_spellings(replace(job.source, missing=()), ()), frame).rows
    sentences = []
    for name, spellings in maps.items():
        values = engine.count_distinct_rows(rows, [name])[name].to_list()
        sentences += describe_unused_spellings(name, spellings, values)
    return sentences


def collect_notices(job: Job, cells: Cells) -> list[str]:
    """Collect notices for the owner.

    They are about the method, values that are spelled alike, labels that were chosen, and parameters that weaken a
    promise.
    """
    method_notices = job.method.notices(job.promises) if hasattr(job.method, "notices") else ()
    warning_parts = [part for part in (job.method, *job.promises) if hasattr(part, "warnings")]
    warnings = [sentence for part in warning_parts for sentence in part.warnings(cells)]
    variants = map(str, find_spelling_variants(cells))
    return [*method_notices, *variants, *explain_snapping(cells.quasi), *warnings]
