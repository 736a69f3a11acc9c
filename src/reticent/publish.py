"""From a job to a kept release.

> A method turns cells and a promise into a recipe; an engine turns a recipe and rows into a release; an
> audit recounts the release.
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
from reticent.door import a_job, a_ledger, an_engine, called, door, flag, optional, path, whole
from reticent.engines.engine import PLAINLY, Counted, Engine, Progress, Working
from reticent.errors import ColumnError
from reticent.gate import handed, passed, recount
from reticent.job import Job
from reticent.methods.compose import left_to_method, plan, settled
from reticent.methods.lone_people import warn_of_lone_people
from reticent.methods.relabelled import relabelled
from reticent.opened import Release
from reticent.owner.fingerprint import Rows
from reticent.owner.keeping import refuse_existing
from reticent.owner.ledger import Ledger
from reticent.owner.places import refuse_overlap
from reticent.owner.recovery import recover
from reticent.owner.staging import scratch as scratch_of
from reticent.owner.staging import staged as staged_for
from reticent.populated import populated
from reticent.randomness import Random
from reticent.recipe.end_isolation import measure_ends
from reticent.recipe.group_labels import pad
from reticent.recipe.kind import Writer
from reticent.recipe.losses import wider
from reticent.refusals import (
    refuse_long_texts,
    refuse_regions,
    refuse_reserved,
    refuse_several,
    refuse_unable,
    refuse_unfit_columns,
    refuse_unnamed,
    relabels,
)
from reticent.regional import Regional
from reticent.release import bundle
from reticent.release.disk import writing
from reticent.step import Step, within
from reticent.table import source as sources
from reticent.table.beside import Beside
from reticent.table.carried import describe_rounded_to_zero
from reticent.table.cells import Cells
from reticent.table.domain import Domain
from reticent.table.ends import count_beyond, describe_beyond
from reticent.table.joint import jointly
from reticent.table.label_styles import explain_choice, tightened
from reticent.table.parsing import as_texts
from reticent.table.roles import Column, Role, resolve, with_role
from reticent.table.sentinels import far_values_of
from reticent.table.source_types import describe_types, has_types, keep_types
from reticent.table.spelling import spelled_alike
from reticent.table.stamped import Stamp
from reticent.table.supported import refuse_unsupported
from reticent.together import Joining, joined


@door(
    job=a_job,
    to=optional(path),
    seed=optional(whole),
    force=flag,
    again=flag,
    ledger=optional(a_ledger),
    progress=called,
    engine=an_engine,
    warn=called,
)
def publish(
    job: Job, *, frame: Any = None, to: str | Path | None = None, seed: int | None = None, force: bool = False,
    again: bool = False, ledger: Ledger | str | Path | None = None, progress: Progress = lambda stage: None,
    engine: str | Engine = catalogue.ENGINE, warn: Callable[[str], None] = lambda sentence: None,
) -> Release:  # fmt: skip
    """Plan, stage, audit, and only then keep.  Without `to` the release is temporary until `save`.

    `ledger` is the folder of the ledger, instead of RETICENT_LEDGER or the user's own.  `engine` is what reads the rows.
    `warn` is given, before anything is written, each sentence on people who would stand alone or were known before; the
    release's notices repeat them.
    """
    target, worker = None if to is None else Path(to), registry.engine(engine)
    keeping = {"force": force, "again": again}
    refuse_unable(job)
    if worker.regions:
        return _by_regions(job, frame, target, seed, worker, ledger, progress, warn, **keeping)
    begun = begin(target, ledger, force)
    progress(Step("reading", 0))
    stamp = Stamp.of(job.source if frame is None else None)
    with scratch_of(target, _ledger_of(target, ledger)) as room:
        lazy, looked, counted = counted_by(worker, job, frame, how := Working(progress, room))
        rows, rng = Rows(counted.combinations, counted.times, job.source if frame is None else None), Random.of(seed)
        if target is not None:
            Ledger.of(ledger).refuse_again(target, rows, again)
        asked, (start, end) = populated(job, counted.columns, counted.cells), part_of_planning(job)
        writer = planned(asked, counted, rng, within(progress, start, end))
        planned_on = jointly(counted.cells) if job.jointly else counted.cells
        lone = warn_of_lone_people(asked.promises, writer.recipe, planned_on) if writer.generalizes else []
        for sentence in lone:
            warn(sentence)
        progress(Step("writing", end))
        with staged_for(target, _ledger_of(target, ledger)) as staged:
            fields = {**declared(job, rng, counted.cells), **writer.fields(counted.carried_types)}
            with writing(target), stamp.unchanged(counted.columns):
                pieces = worker.apply(counted, writer.recipe, rng, lazy, writer.place, how)
                recorded = writer.record_values(pieces) if hasattr(writer, "record_values") else None
                frames = writer.frames(pieces if recorded is None else recorded)
                bundle.write(staged, frames, fields, job.release.format)
                witness = None if recorded is None else recorded.to_bytes()
                del pieces, recorded, frames
            progress(Step("auditing", (1 + end) / 2))
            found = recount(staged, job, handed(asked, counted, writer.recipe))
            wider_labels = _wider(job, writer, counted.columns)
            noticed = [*begun, *looked.notices, *_noticed(job, counted.cells), *lone, *wider_labels]
            owned = to_own(job, rows, found, noticed, worker, frame) | {"witness": witness}
            return keep(staged, target, owned, ledger, progress, **keeping)


def _by_regions(
    job: Job, frame: Any, to: Path | None, seed: int | None, worker: Any, ledger: Any, progress: Progress,
    warn: Callable[[str], None], **keeping: bool,
) -> Release:  # fmt: skip
    """The same where cells, plans and groups stay in parts, wherever the engine has them (ADR 10)."""
    target = refuse_regions(job, to)
    begun = begin(target, ledger, keeping["force"])
    progress(Step("reading", 0))
    stamp = Stamp.of(job.source if frame is None else None)
    with scratch_of(target, _ledger_of(target, ledger)) as room:
        scanned, columns = scan(job, frame, worker)
        lazy = worker.typed(scanned, columns)
        carried = worker.count_carried(scanned, columns)
        carried.refuse_beyond_calendar()
        looked = worker.look(lazy, columns, how := Working(progress, room))
        table = Regional.counted(worker, lazy, columns, looked.rows_per_person, how)
        refuse_long_texts(job, table.domains_by_role)
        rows, rng = table.fingerprint(job.source if frame is None else None), Random.of(seed)
        Ledger.of(ledger).refuse_again(target, rows, keeping["again"])
        progress(Step("planning", 0.3))
        plan = table.planned(job, rng, worker.regions)
        lone = plan.lone()
        for sentence in lone:
            warn(sentence)
        progress(Step("writing", 0.6))
        with staged_for(target, _ledger_of(target, ledger)) as staged:
            fields = {**declared(job, rng, plan.cells), **plan.writer.fields()}
            with writing(target), stamp.unchanged(columns):
                bundle.write(staged, plan.frames(), fields, job.release.format)
            progress(Step("auditing", 0.8))
            found = passed(plan.audited(staged), job)
            told = [
                *described_types(job, frame, scanned, table.domains),
                *map(str, table.far_values()),
                *describe_rounded_to_zero(carried.rounded_to_zero, columns, plan.cells.rows),
                *(
                    said
                    for name in with_role(columns, Role.QUASI)
                    for said in described_bound(name, columns[name], *table.values_of(name))
                ),
            ]
            noticed = [*begun, *looked.notices, *told, *_noticed(job, plan.cells), *lone, *plan.wider()]
            return keep(staged, target, to_own(job, rows, found, noticed, worker, frame), ledger, progress, **keeping)


def _ledger_of(target: Path | None, ledger: Any) -> Path | None:
    """The folder of the ledger that staging folders are recorded in; a temporary release is staged without one, too."""
    return None if target is None else Ledger.of(ledger).folder


def begin(target: Path | None, ledger: Any, force: bool) -> list[str]:
    """Settle what interrupted runs left, in sentences, and refuse a target that cannot be, before any data is read."""
    if target is None:
        return []
    folder = Ledger.of(ledger).folder
    refuse_overlap(target, folder)
    settled_before = recover(folder, [target])
    refuse_existing(target, force)
    return settled_before


def _wider(job: Job, writer: Writer, columns: Mapping[str, Column]) -> list[str]:
    """What the ends of ranges lose where they were moved, and whom they single out where they were not."""
    if not writer.generalizes:
        return []
    telling = [str(measured) for measured in measure_ends(writer.recipe, columns) if measured.is_telling]
    return [*wider(writer.recipe, getattr(job.method, "weights", None)), *telling]


def _noticed(job: Job, cells: Cells) -> list[str]:
    """What the owner should know: of the method, values spelled alike, labels that were chosen, parameters that make a promise say less."""
    method = job.method.notices(job.promises) if hasattr(job.method, "notices") else ()
    warning = [part for part in (job.method, *job.promises) if hasattr(part, "warnings")]
    warnings = [said for part in warning for said in part.warnings(cells)]
    return [*method, *map(str, spelled_alike(cells)), *explain_choice(cells.quasi), *warnings]


def keep(
    staged: Path, target: Path | None, owned: dict[str, Any], ledger: Any, progress: Progress, **how: bool
) -> Release:
    """The staged release in its place and in the ledger, or, without a place, temporary until `save`."""
    if target is None:
        return Release(staged, owned={**owned, "temporary": True, "ledger": ledger})
    if how["again"]:
        owned["notices"] += joined(owned["joining"], staged, ledger, progress)
    noted = {name: value for name, value in owned.items() if name != "joining"}
    Ledger.of(ledger).keep(staged, target, **how, **{**noted, "audit": owned["audit"].to_dict()})
    return Release(target, owned=owned)


def part_of_planning(job: Job) -> tuple[float, float]:
    """The part of a run that planning is, roughly; longer by a method that searches."""
    return (0.1, 0.9) if getattr(job.method, "anytime", False) else (0.45, 0.75)


def planned(job: Job, counted: Counted, rng: Random, progress: Progress) -> Writer:
    """The job's recipe, ready to be written as its method's kind."""
    progress(Step("planning", 0))
    cells = jointly(counted.cells) if job.jointly else counted.cells
    recipe = plan(job.prepare, job.method, cells, job.promises, rng, job.release.suppress_at_most, progress)
    ready = relabelled(left_to_method(job.prepare, job.promises), cells, pad(replace(recipe, cells=counted.cells), rng))
    writer = registry.writer(job.method.kind).of(ready, counted.columns)
    writer.recipe.check_conserved()
    return writer


def to_own(job: Job, rows: Rows, found: Audit, notices: Sequence[str], worker: Engine, frame: Any) -> dict[str, Any]:
    """What the owner's folder keeps of a release, and how it is joined with earlier ones before it is kept."""
    source = job.source if frame is None else frame
    return {
        "source": rows,
        "audit": found,
        "job": job.to_toml(),
        "promises": [registry.describe(promise) for promise in job.promises],
        "notices": tuple(notices),
        "joining": Joining(source, job.source.missing, rows, job.release.together, worker.distributed),
    }


def counted_by(engine: Engine, job: Job, frame: Any = None, how: Working = PLAINLY) -> tuple[Any, Beside, Counted]:
    """The rows, what stands beside their cells, and the cells, by an engine."""
    scanned, columns = scan(job, frame, engine)
    rows = engine.typed(scanned, columns)
    carried = engine.count_carried(scanned, columns)
    carried.refuse_beyond_calendar()
    looked = engine.look(rows, columns, how)
    counted = engine.count(rows, columns, looked.rows_per_person, how)
    cells = counted.cells
    refuse_long_texts(job, (cells.quasi, cells.sensitive))
    noticed = [
        *described_types(job, frame, scanned, (*cells.quasi, *cells.sensitive)),
        *map(str, far_values_of(cells)),
        *describe_rounded_to_zero(carried.rounded_to_zero, columns, cells.rows),
        *_described_bounds(counted),
    ]
    return rows, replace(looked, notices=(*looked.notices, *noticed)), counted


def described_types(job: Job, frame: Any, scanned: Any, domains: Sequence[Domain]) -> list[str]:
    """Sentences on columns whose type was guessed, or kept as the source has it."""
    names = [domain.name for domain in domains]
    declared = {name: column for name, column in job.columns.items() if column.role in (Role.QUASI, Role.SENSITIVE)}
    columns = resolve(declared, names, "drop")
    return describe_types(columns, domains, scanned.collect_schema(), typed=has_types(job.source, frame))


def _described_bounds(counted: Counted) -> list[str]:
    """Sentences on columns of which many rows lie beyond a declared top or bottom."""
    return [
        sentence
        for name in with_role(counted.columns, Role.QUASI)
        for sentence in described_bound(name, counted.columns[name], counted.combinations[name], counted.times)
    ]


def described_bound(name: str, column: Column, values: pl.Series, times: np.ndarray) -> list[str]:
    if column.top is None and column.bottom is None:
        return []
    held, counts = as_texts(values, times)
    return describe_beyond(name, count_beyond(name, column, held, counts), int(times.sum()))


def read(job: Job, frame: Any = None, engine: Engine | None = None) -> tuple[Any, dict[str, Column]]:
    """The rows, lazily, and the declaration of each column that has one."""
    engine = engine or registry.engine(catalogue.ENGINE)
    scanned, columns = scan(job, frame, engine)
    return engine.typed(scanned, columns), columns


def scan(job: Job, frame: Any, engine: Engine) -> tuple[Any, dict[str, Column]]:
    """The rows as the source has them, lazily, and the declaration of each column that has one."""
    lazy = engine.scan(job.source, frame)
    present = sources.columns(job.source, frame, lazy)
    columns = resolve(job.columns, present, job.release.undeclared)
    columns = columns if relabels(job) else tightened(columns)
    schema = lazy.collect_schema()
    if not with_role(columns, Role.QUASI):
        raise ColumnError(
            "No column is quasi-identifying.",
            why="Without one there is nothing to generalize.",
            attempt='role = "quasi-identifying" for what an adversary may know.',
        )
    refuse_unsupported(schema, columns)
    if has_types(job.source, frame):
        columns = keep_types(columns, schema)
    refuse_several(job, with_role(columns, Role.SENSITIVE))
    refuse_reserved(job, columns)
    refuse_unfit_columns(job, columns)
    refuse_unnamed(job, with_role(columns, Role.QUASI), with_role(columns, Role.SENSITIVE))
    job.promises.check_columns(with_role(columns, Role.SENSITIVE), jointly=job.jointly)
    return lazy, columns


def declared(job: Job, rng: Random, cells: Cells) -> dict[str, Any]:
    """What the manifest repeats of the job, whatever the kind."""
    found: dict[str, Any] = {
        "reticent": __version__,
        "jointly": job.jointly,
        "method": registry.describe(settled(job.method, left_to_method(job.prepare, job.promises))),
        "promises": [registry.describe(promise, public=True) for promise in job.promises],
    }
    if weights := getattr(job.method, "weights", None):
        found["weights"] = registry.plain(weights)
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
