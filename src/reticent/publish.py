"""From a job to a kept release.

> A method turns cells and a promise into a recipe; an engine turns a recipe and rows into a release; an
> audit recounts the release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent import __version__, registry
from reticent.engines import local
from reticent.errors import ColumnError
from reticent.gate import handed, recount
from reticent.job import Job
from reticent.methods.compose import left_to_method, plan, settled
from reticent.opened import Release
from reticent.owner import ledger, store
from reticent.randomness import Random
from reticent.refusals import refuse_unable
from reticent.release import bundle
from reticent.release.disk import writing
from reticent.table import beside, carried
from reticent.table import source as sources
from reticent.table.cells import Cells
from reticent.table.joint import jointly
from reticent.table.roles import Role, resolve, with_role
from reticent.table.spelling import spelled_alike
from reticent.table.supported import refuse_unsupported

Progress = Callable[[str], None]


def publish(
    job: Job,
    *,
    frame: Any = None,
    to: str | Path | None = None,
    seed: int | None = None,
    force: bool = False,
    again: bool = False,
    progress: Progress = lambda stage: None,
) -> Release:
    """Plan, stage, audit, and only then keep.  Without `to` the release is temporary until `save`."""
    target = None if to is None else Path(to)
    refuse_unable(job)
    if target is not None:
        store.refuse_existing(target, force)
    progress("reading")
    lazy, columns = read(job, frame)
    fingerprint = sources.fingerprint(job.source, frame)
    if target is not None:
        ledger.refuse_again(target, fingerprint, again)
    looked = beside.look(lazy, columns)
    counted = local.count(lazy, columns, looked.rows_per_person)
    rng = Random.of(seed)
    progress("planning")
    cells = jointly(counted.cells) if job.jointly else counted.cells
    recipe = replace(
        plan(job.prepare, job.method, cells, job.promises, rng, job.release.suppress_at_most, progress),
        cells=counted.cells,
    )
    writer = registry.writer(job.method.kind).of(recipe, columns)
    writer.recipe.check_conserved()
    progress("writing")
    frames = writer.frames(*local.apply(counted, writer.recipe, rng, lazy))
    with store.staged(target) as staged:
        with writing(target):
            bundle.write(
                staged,
                frames,
                {**declared(job, rng, counted.cells), **writer.fields(counted.carried_types)},
                job.release.format,
            )
        del frames
        progress("auditing")
        found = recount(staged, job, handed(job, counted, writer.recipe))
        owned = {
            "source": fingerprint,
            "audit": found.to_dict(),
            "job": job.to_toml(),
            "promises": [registry.describe(promise) for promise in job.promises],
            "notices": (*looked.notices, *map(str, spelled_alike(counted.cells)), *_promised(job, cells)),
        }
        if target is None:
            return Release(staged, owned={**owned, "temporary": True})
        with store.kept(staged, target, force):
            ledger.record(target, digest=bundle.digest(target), **owned)
            return Release(target, owned=owned)


def read(job: Job, frame: Any = None):
    """The rows, lazily, and the declaration of each column that has one."""
    lazy = sources.scan(job.source, frame)
    present = sources.columns(job.source, frame, lazy)
    columns = resolve(job.columns, present, job.release.undeclared)
    if not with_role(columns, Role.QUASI):
        raise ColumnError(
            "No column is quasi-identifying.",
            why="Without one there is nothing to generalize.",
            attempt='role = "quasi-identifying" for what an adversary may know.',
        )
    refuse_unsupported(lazy.collect_schema(), columns)
    job.promises.check_columns(with_role(columns, Role.SENSITIVE), jointly=job.jointly)
    return carried.rounded(lazy, columns), columns


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
    if cells.rows_per_person > 1:
        found["rows_per_person"] = cells.rows_per_person
    if job.prepare:
        found["prepare"] = [registry.describe(stage) for stage in job.prepare]
    return found


def _promised(job: Job, cells: Cells) -> list[str]:
    """What a promise warns of on this table: parameters that make it say less than it seems to."""
    return [said for promise in job.promises if hasattr(promise, "warnings") for said in promise.warnings(cells)]
