"""Publishes a job: from its table to a committed release.

> A method turns cells and a promise into a recipe; an engine turns a recipe and rows into a release; an
> audit recounts the release.

`publish` settles what interrupted runs left, reads the rows and counts them into cells (`read_and_count`), loads the
populations that promises name (`load_populations`), plans (`plan_release`), writes the release into a staging folder,
audits it there, and commits it (`commit_release`) only if the audit passes. `_publish_partitioned` does the same for an
engine that keeps the table in parts (ADR 10).

A promise names its population by a path alone, and a steward's tables come out of one system; so a population is read
as the job's own table is, with the same null values, delimiter, encoding and formats. A population's column that does
not read in the job's format stays as it is, and is refused if it reads as no date or number at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import __version__, catalogue, registry
from reticent.audit.result import Audit
from reticent.composition_check import CompositionCheck, check_composition
from reticent.data.cells import Cells, combine_sensitive
from reticent.data.change_stamp import ChangeStamp
from reticent.data.column_types import apply_source_types, describe_types, has_types, require_supported_types
from reticent.data.columns import Column, Role, count_beyond, describe_beyond, find_columns_with_role, resolve_columns
from reticent.data.domain import Domain
from reticent.data.label_styles import explain_snapping, use_tight_labels
from reticent.data.parsing import categories_to_texts
from reticent.data.passthrough import PassthroughProfile, describe_rounded_to_zero
from reticent.data.population import LoadedPopulation
from reticent.data.sentinels import find_far_values_in_cells
from reticent.data.source import Source, collect_frame, scan_source
from reticent.data.spelling import find_spelling_variants
from reticent.data.text_formats import parse_stated
from reticent.engines.engine import DEFAULT_CONTEXT, CountedTable, Engine, EngineContext, ProgressCallback
from reticent.errors import ColumnError
from reticent.format.folder import translate_disk_errors
from reticent.job.job import Job
from reticent.ledger.commit import recover, require_target_free
from reticent.ledger.fingerprint import CountedRows
from reticent.ledger.ledger import Ledger
from reticent.ledger.paths import require_separate_folders
from reticent.ledger.staging import make_temp_dirs as scratch_of
from reticent.ledger.staging import stage_folder as staged_for
from reticent.methods.recipe_planning import (
    plan_recipe,
    relabel_recipe,
    select_method_promises,
    settle_method,
    warn_of_lone_people,
)
from reticent.partitioned import PartitionedTable
from reticent.preconditions import (
    may_relabel,
    require_method_columns,
    require_named_columns,
    require_one_sensitive_column,
    require_partitionable,
    require_promises_supported,
    require_short_texts,
    require_unreserved_names,
)
from reticent.progress import ProgressEvent, scale_progress
from reticent.publication_audit import audit_staged_release, make_audit_context, require_passed
from reticent.randomness import Random
from reticent.recipe.group_labels import draw_padded_ends, measure_end_isolation
from reticent.recipe.kind import Writer
from reticent.recipe.loss import describe_wider_labels
from reticent.release import bundle
from reticent.release.release import Release
from reticent.validation import (
    flag,
    integer,
    is_callable,
    is_engine,
    is_job,
    is_ledger,
    optional,
    path,
    validate_arguments,
)


def load_populations(job: Job, columns: Mapping[str, Column], cells: Cells) -> Job:
    """Return the job with each population that a promise names as a table of typed values.

    The loaded values are for planning and the audit; they are never stored.
    """
    asked: list[Any] = list(job.promises)
    promises = [
        replace(promise, population=_read_population(job.source, promise.population, columns, cells))
        if hasattr(promise, "population")
        else promise
        for promise in asked
    ]
    return job.at(promises=promises) if any(hasattr(promise, "population") for promise in promises) else job


def _read_population(source: Source, population: Any, columns: Mapping[str, Column], cells: Cells) -> LoadedPopulation:
    lazy = _scan_population(source, population)
    present = set(lazy.collect_schema().names())
    types = {domain.name: str(domain.dtype) for domain in cells.quasi if domain.name in present}
    rows = collect_frame(lazy.select(list(types)), "Reading the population") if types else lazy.collect()
    formatted = {name: columns[name] for name in types if columns[name].format is not None}
    return LoadedPopulation(population, parse_stated(rows, formatted, types))


def _scan_population(source: Source, population: Any) -> pl.LazyFrame:
    if isinstance(population, Source):
        return scan_source(population)
    if isinstance(population, str | Path):
        return scan_source(replace(source, path=str(population), url=None, table=None, query=None))
    return scan_source(Source(missing=source.missing), population)


@validate_arguments(
    job=is_job,
    to=optional(path),
    seed=optional(integer),
    force=flag,
    again=flag,
    ledger=optional(is_ledger),
    progress=is_callable,
    engine=is_engine,
    warn=is_callable,
)
def publish(
    job: Job,
    *,
    frame: Any = None,
    to: str | Path | None = None,
    seed: int | None = None,
    force: bool = False,
    again: bool = False,
    ledger: Ledger | str | Path | None = None,
    progress: ProgressCallback = lambda stage: None,
    engine: str | Engine = catalogue.DEFAULT_ENGINE,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Release:
    """Plan, stage, audit, and only then commit.  Without `to` the release is temporary until `save`.

    `ledger` is the folder of the ledger, instead of RETICENT_LEDGER or the user's own.  `engine` reads the rows. `warn`
    is called, before anything is written, with each sentence about people who would be alone or were known before; the
    release's notices repeat these sentences.
    """
    target = None if to is None else Path(to)
    worker = registry.load_engine(engine)
    keeping = {"force": force, "again": again}
    require_promises_supported(job)
    if worker.regions:
        return _publish_partitioned(job, frame, target, seed, worker, ledger, progress, warn, **keeping)
    begun = prepare_target(target, ledger, force)
    progress(ProgressEvent("reading", 0))
    stamp = ChangeStamp.read(job.source if frame is None else None)
    with scratch_of(target, _find_ledger_folder(target, ledger)) as room:
        lazy, looked, counted = read_and_count(worker, job, frame, how := EngineContext(progress, room))
        rows = CountedRows(counted.combinations, counted.multiplicity, job.source if frame is None else None)
        rng = Random.from_optional_seed(seed)
        if target is not None:
            Ledger.open(ledger).require_not_published(target, rows, again)
        asked, (start, end) = load_populations(job, counted.columns, counted.cells), estimate_planning_range(job)
        writer = plan_release(asked, counted, rng, scale_progress(progress, start, end))
        planned_on = combine_sensitive(counted.cells) if job.jointly else counted.cells
        lone = warn_of_lone_people(asked.promises, writer.recipe, planned_on) if writer.generalizes else []
        for sentence in lone:
            warn(sentence)
        progress(ProgressEvent("writing", end))
        with staged_for(target, _find_ledger_folder(target, ledger)) as staged:
            fields = {**make_manifest_fields(job, rng, counted.cells), **writer.fields(counted.passthrough_types)}
            with translate_disk_errors(target), stamp.guard_passthrough(counted.columns):
                pieces = worker.apply(counted, writer.recipe, rng, lazy, writer.place, how)
                recorded = writer.record_values(pieces) if hasattr(writer, "record_values") else None
                frames = writer.frames(pieces if recorded is None else recorded)
                bundle.write_bundle(staged, frames, fields, job.release.format)
                witness = None if recorded is None else recorded.to_bytes()
                del pieces, recorded, frames
            progress(ProgressEvent("auditing", (1 + end) / 2))
            found = audit_staged_release(staged, job, make_audit_context(asked, counted, writer.recipe))
            wider_labels = _describe_wider_labels(job, writer, counted.columns)
            noticed = [*begun, *looked.notices, *_collect_notices(job, counted.cells), *lone, *wider_labels]
            owned = make_owner_record(job, rows, found, noticed, worker, frame) | {"witness": witness}
            return commit_release(staged, target, owned, ledger, progress, **keeping)


def _publish_partitioned(
    job: Job,
    frame: Any,
    to: Path | None,
    seed: int | None,
    worker: Any,
    ledger: Any,
    progress: ProgressCallback,
    warn: Callable[[str], None],
    **keeping: bool,
) -> Release:
    """Publish as `publish` does, with cells, plans and groups in parts, wherever the engine has them (ADR 10)."""
    target = require_partitionable(job, to)
    begun = prepare_target(target, ledger, keeping["force"])
    progress(ProgressEvent("reading", 0))
    stamp = ChangeStamp.read(job.source if frame is None else None)
    with scratch_of(target, _find_ledger_folder(target, ledger)) as room:
        scanned, columns = scan_job_source(job, frame, worker)
        lazy = worker.cast(scanned, columns)
        carried = worker.count_passthrough(scanned, columns)
        carried.require_within_calendar()
        looked = worker.profile_columns(lazy, columns, how := EngineContext(progress, room))
        table = PartitionedTable.count(worker, lazy, columns, looked.rows_per_person, how)
        require_short_texts(job, table.domains_by_role)
        rows = table.fingerprint(job.source if frame is None else None)
        rng = Random.from_optional_seed(seed)
        Ledger.open(ledger).require_not_published(target, rows, keeping["again"])
        progress(ProgressEvent("planning", 0.3))
        plan = table.plan(job, rng, worker.regions)
        lone = plan.describe_lone_people()
        for sentence in lone:
            warn(sentence)
        progress(ProgressEvent("writing", 0.6))
        with staged_for(target, _find_ledger_folder(target, ledger)) as staged:
            fields = {**make_manifest_fields(job, rng, plan.cells), **plan.writer.fields()}
            with translate_disk_errors(target), stamp.guard_passthrough(columns):
                bundle.write_bundle(staged, plan.frames(), fields, job.release.format)
            progress(ProgressEvent("auditing", 0.8))
            found = require_passed(plan.audit(staged), job)
            told = [
                *describe_column_types(job, frame, scanned, table.domains),
                *map(str, table.far_values()),
                *describe_rounded_to_zero(carried.rounded_to_zero, columns, plan.cells.rows),
                *(
                    said
                    for name in find_columns_with_role(columns, Role.QUASI)
                    for said in describe_bound(name, columns[name], *table.values_of(name))
                ),
            ]
            noticed = [
                *begun,
                *looked.notices,
                *told,
                *_collect_notices(job, plan.cells),
                *lone,
                *plan.describe_wider_labels(),
            ]
            return commit_release(
                staged, target, make_owner_record(job, rows, found, noticed, worker, frame), ledger, progress, **keeping
            )


def _find_ledger_folder(target: Path | None, ledger: Any) -> Path | None:
    """Return the folder of the ledger in which staging folders are recorded; None for a temporary release."""
    return None if target is None else Ledger.open(ledger).folder


def prepare_target(target: Path | None, ledger: Any, force: bool) -> list[str]:
    """Settle what interrupted runs left, and refuse an impossible target, before any data is read.

    Returns sentences about what was settled.
    """
    if target is None:
        return []
    folder = Ledger.open(ledger).folder
    require_separate_folders(target, folder)
    settled_before = recover(folder, [target])
    require_target_free(target, force)
    return settled_before


def _describe_wider_labels(job: Job, writer: Writer, columns: Mapping[str, Column]) -> list[str]:
    """Describe what moved ends of ranges lose, and whom ends that were not moved single out."""
    if not writer.generalizes:
        return []
    telling = [str(measured) for measured in measure_end_isolation(writer.recipe, columns) if measured.is_telling]
    return [*describe_wider_labels(writer.recipe, getattr(job.method, "weights", None)), *telling]


def _collect_notices(job: Job, cells: Cells) -> list[str]:
    """Collect notices for the owner.

    They are about the method, values that are spelled alike, labels that were chosen, and parameters that weaken a
    promise.
    """
    method = job.method.notices(job.promises) if hasattr(job.method, "notices") else ()
    warning = [part for part in (job.method, *job.promises) if hasattr(part, "warnings")]
    warnings = [said for part in warning for said in part.warnings(cells)]
    return [*method, *map(str, find_spelling_variants(cells)), *explain_snapping(cells.quasi), *warnings]


def commit_release(
    staged: Path, target: Path | None, owned: dict[str, Any], ledger: Any, progress: ProgressCallback, **how: bool
) -> Release:
    """Move the staged release to its target and record it in the ledger; without a target, keep it temporarily until `save`."""
    if target is None:
        return Release(staged, owned={**owned, "temporary": True, "ledger": ledger})
    if how["again"]:
        owned["notices"] += check_composition(owned["joining"], staged, ledger, progress)
    noted = {name: value for name, value in owned.items() if name != "joining"}
    Ledger.open(ledger).commit(staged, target, **how, **{**noted, "audit": owned["audit"].to_dict()})
    return Release(target, owned=owned)


def estimate_planning_range(job: Job) -> tuple[float, float]:
    """Return the fractions of a run at which planning begins and ends, roughly; a method that searches takes longer."""
    return (0.1, 0.9) if getattr(job.method, "anytime", False) else (0.45, 0.75)


def plan_release(job: Job, counted: CountedTable, rng: Random, progress: ProgressCallback) -> Writer:
    """Plan the job; return the recipe in the writer of the method's release kind."""
    progress(ProgressEvent("planning", 0))
    cells = combine_sensitive(counted.cells) if job.jointly else counted.cells
    recipe = plan_recipe(job.prepare, job.method, cells, job.promises, rng, job.release.suppress_at_most, progress)
    ready = relabel_recipe(
        select_method_promises(job.prepare, job.promises),
        cells,
        draw_padded_ends(replace(recipe, cells=counted.cells), rng),
    )
    writer = registry.load_writer(job.method.kind).from_recipe(ready, counted.columns)
    writer.recipe.require_conserved()
    return writer


def make_owner_record(
    job: Job, rows: CountedRows, found: Audit, notices: Sequence[str], worker: Engine, frame: Any
) -> dict[str, Any]:
    """Make the record that the owner's folder keeps of a release.

    It includes the check with earlier releases of the same people, which runs before the release is committed.
    """
    source = job.source if frame is None else frame
    return {
        "source": rows,
        "audit": found,
        "job": job.to_toml(),
        "promises": [registry.describe(promise) for promise in job.promises],
        "notices": tuple(notices),
        "joining": CompositionCheck(source, job.source.missing, rows, job.release.together, worker.distributed),
    }


def read_and_count(
    engine: Engine, job: Job, frame: Any = None, how: EngineContext = DEFAULT_CONTEXT
) -> tuple[Any, PassthroughProfile, CountedTable]:
    """Read the job's rows by an engine; return the rows, the profile of the columns outside cells, and the counted cells."""
    scanned, columns = scan_job_source(job, frame, engine)
    rows = engine.cast(scanned, columns)
    carried = engine.count_passthrough(scanned, columns)
    carried.require_within_calendar()
    looked = engine.profile_columns(rows, columns, how)
    counted = engine.count(rows, columns, looked.rows_per_person, how)
    cells = counted.cells
    require_short_texts(job, (cells.quasi, cells.sensitive))
    noticed = [
        *describe_column_types(job, frame, scanned, (*cells.quasi, *cells.sensitive)),
        *map(str, find_far_values_in_cells(cells)),
        *describe_rounded_to_zero(carried.rounded_to_zero, columns, cells.rows),
        *_describe_all_bounds(counted),
    ]
    return rows, replace(looked, notices=(*looked.notices, *noticed)), counted


def describe_column_types(job: Job, frame: Any, scanned: Any, domains: Sequence[Domain]) -> list[str]:
    """Describe, in sentences, columns whose type was guessed or taken from the source."""
    names = [domain.name for domain in domains]
    declared = {name: column for name, column in job.columns.items() if column.role in (Role.QUASI, Role.SENSITIVE)}
    columns = resolve_columns(declared, names, "drop")
    return describe_types(columns, domains, scanned.collect_schema(), typed=has_types(job.source, frame))


def _describe_all_bounds(counted: CountedTable) -> list[str]:
    """Describe, in sentences, columns of which many rows lie beyond a declared top or bottom."""
    return [
        sentence
        for name in find_columns_with_role(counted.columns, Role.QUASI)
        for sentence in describe_bound(name, counted.columns[name], counted.combinations[name], counted.multiplicity)
    ]


def describe_bound(name: str, column: Column, values: pl.Series, times: np.ndarray) -> list[str]:
    if column.top is None and column.bottom is None:
        return []
    held, counts = categories_to_texts(values, times)
    return describe_beyond(name, count_beyond(name, column, held, counts), int(times.sum()))


def read_rows(job: Job, frame: Any = None, engine: Engine | None = None) -> tuple[Any, dict[str, Column]]:
    """Return the rows, lazily, and the declaration of each declared column."""
    engine = engine or registry.load_engine(catalogue.DEFAULT_ENGINE)
    scanned, columns = scan_job_source(job, frame, engine)
    return engine.cast(scanned, columns), columns


def scan_job_source(job: Job, frame: Any, engine: Engine) -> tuple[Any, dict[str, Column]]:
    """Return the rows as the source has them, lazily, and the declaration of each declared column."""
    scan = engine.scan(job.source, frame)
    lazy = scan.rows
    columns = resolve_columns(job.columns, scan.names, job.release.undeclared)
    columns = columns if may_relabel(job) else use_tight_labels(columns)
    schema = lazy.collect_schema()
    if not find_columns_with_role(columns, Role.QUASI):
        raise ColumnError(
            "No column is quasi-identifying.",
            why="Without one there is nothing to generalize.",
            attempt='role = "quasi-identifying" for what an adversary may know.',
        )
    require_supported_types(schema, columns)
    if has_types(job.source, frame):
        columns = apply_source_types(columns, schema)
    require_one_sensitive_column(job, find_columns_with_role(columns, Role.SENSITIVE))
    require_unreserved_names(job, columns)
    require_method_columns(job, columns)
    require_named_columns(
        job, find_columns_with_role(columns, Role.QUASI), find_columns_with_role(columns, Role.SENSITIVE)
    )
    job.promises.check_columns(find_columns_with_role(columns, Role.SENSITIVE), jointly=job.jointly)
    return lazy, columns


def make_manifest_fields(job: Job, rng: Random, cells: Cells) -> dict[str, Any]:
    """Make the manifest fields that repeat the job; they are the same for all release kinds."""
    found: dict[str, Any] = {
        "reticent": __version__,
        "jointly": job.jointly,
        "method": registry.describe(settle_method(job.method, select_method_promises(job.prepare, job.promises))),
        "promises": [registry.describe(promise, public=True) for promise in job.promises],
    }
    if weights := getattr(job.method, "weights", None):
        found["weights"] = registry.convert_to_plain(weights)
    if rng.seeded:
        found["seeded"] = True
    if job.release.formulas == "quote":
        found["formulas"] = job.release.formulas
    if job.release.part_rows is not None:
        found["part_rows"] = job.release.part_rows
    if cells.rows_per_person > 1:
        found["rows_per_person"] = cells.rows_per_person
    if job.prepare:
        found["prepare"] = [registry.describe(stage) for stage in job.prepare]
    return found
