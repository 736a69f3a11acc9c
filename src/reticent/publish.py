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
from reticent.errors import AuditFailed, ColumnError, JobError
from reticent.job import Job
from reticent.methods.compose import left_to_method, plan
from reticent.opened import Release
from reticent.owner import store
from reticent.owner.fingerprint import Rows
from reticent.owner.ledger import Ledger
from reticent.randomness import Random
from reticent.release import bundle
from reticent.release.disk import writing
from reticent.table import beside, carried
from reticent.table import source as sources
from reticent.table.cells import Cells
from reticent.table.joint import jointly
from reticent.table.roles import Role, resolve, with_role

Progress = Callable[[str], None]


def publish(
    job: Job,
    *,
    frame: Any = None,
    to: str | Path | None = None,
    seed: int | None = None,
    force: bool = False,
    again: bool = False,
    ledger: Ledger | str | Path | None = None,
    progress: Progress = lambda stage: None,
) -> Release:
    """Plan, stage, audit, and only then keep.  Without `to` the release is temporary until `save`.

    `ledger` is the folder of the ledger, instead of RETICENT_LEDGER or the user's own.
    """
    target = None if to is None else Path(to)
    refuse_unable(job)
    if target is not None:
        store.refuse_existing(target, force)
    progress("reading")
    lazy, columns = read(job, frame)
    looked = beside.look(lazy, columns)
    counted = local.count(lazy, columns, looked.rows_per_person)
    rows = Rows(counted.combinations, counted.counts, job.source if frame is None else None)
    if target is not None:
        Ledger.of(ledger).refuse_again(target, rows, again)
    rng = Random.of(seed)
    progress("planning")
    cells = jointly(counted.cells) if job.jointly else counted.cells
    recipe = replace(
        plan(job.prepare, job.method, cells, job.promises, rng, job.release.suppress_at_most, progress),
        cells=counted.cells,
    )
    way = registry.way(job.method.kind).of(recipe, columns)
    way.recipe.check_conserved()
    progress("writing")
    frames = way.frames(*local.apply(counted, way.recipe, rng, lazy))
    with store.staged(target) as staged:
        with writing(target):
            bundle.write(
                staged,
                frames,
                {**declared(job, rng, counted.cells), **way.manifest(counted.carried_types)},
                job.release.format,
            )
        del frames
        progress("auditing")
        found = recount(staged, job)
        owned = {
            "source": rows,
            "audit": found.to_dict(),
            "job": job.to_toml(),
            "promises": [registry.describe(promise) for promise in job.promises],
            "notices": looked.notices,
        }
        if target is None:
            return Release(staged, owned={**owned, "temporary": True, "ledger": ledger})
        with store.kept(staged, target, force):
            Ledger.of(ledger).record(target, digest=bundle.digest(target), **owned)
            return Release(target, owned=owned)


def refuse_unable(job: Job) -> None:
    """Before any data is read: a method that cannot keep a promise says which can."""
    refuse_withholding(job)
    for promise in left_to_method(job.prepare, job.promises):
        if not isinstance(promise, job.method.keeps):
            able = [
                f"method = {name!r}" for name in registry.METHODS if isinstance(promise, registry.method(name).keeps)
            ]
            able += [
                f"a stage {name!r}" for name in registry.STAGES if isinstance(promise, registry.stage(name).can_keep)
            ]
            raise JobError(f"{job.method.name} cannot keep {promise.name}.", attempt=f"{' or '.join(able)}.")


def refuse_withholding(job: Job) -> None:
    """`suppress_at_most` weighs what rows lose by being generalized, and would undo what a stage withheld for its promise."""
    if not job.release.suppress_at_most:
        return
    if job.method.kind != "generalized":
        raise JobError(
            f"suppress_at_most is for generalized releases; {job.method.name} makes a {job.method.kind} one.",
            attempt="suppress_at_most = 0, or another method.",
        )
    if job.prepare:
        raise JobError(
            "suppress_at_most and a preparing stage both withhold rows, and the stage's promise is about those it chose.",
            attempt="one of them.",
        )


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
    job.promises.check_columns(with_role(columns, Role.SENSITIVE), jointly=job.jointly)
    return carried.rounded(lazy, columns), columns


def declared(job: Job, rng: Random, cells: Cells) -> dict[str, Any]:
    """What the manifest repeats of the job, whatever the kind."""
    found: dict[str, Any] = {
        "reticent": __version__,
        "jointly": job.jointly,
        "method": registry.describe(job.method),
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


def recount(staged: Path, job: Job):
    """Audit the staged folder from its files alone (and a population, where one is promised); a broken promise stops it all."""
    from reticent.audit import audit

    found = audit(staged, population=next((p.population for p in job.promises if hasattr(p, "population")), None))
    if found.kept is False:
        broken = [entry["model"] for entry in found.to_dict()["promises"] if entry["kept"] is False]
        raise AuditFailed(
            f"The release does not keep {', '.join(broken)}; nothing was published.",
            why="The audit recounted the staged files and disagrees with the method: this is our bug.",
            attempt="reporting it, with the job file.",
        )
    return found
