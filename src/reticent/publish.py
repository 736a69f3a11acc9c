"""From a job to a kept release.

> A method turns cells and a promise into a recipe; an engine turns a recipe and rows into a release; an
> audit recounts the release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from reticent import __version__, registry
from reticent.audit.audit import Handed, audit_staged
from reticent.audit.result import Audit
from reticent.engines import local
from reticent.engines.local import Counted
from reticent.errors import AuditFailed, ColumnError, InternalError, JobError
from reticent.job import Job
from reticent.methods.compose import left_to_method, plan, settled
from reticent.opened import Release
from reticent.owner import ledger, store
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
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
            "notices": (*looked.notices, *map(str, spelled_alike(counted.cells))),
        }
        if target is None:
            return Release(staged, owned={**owned, "temporary": True})
        with store.kept(staged, target, force):
            ledger.record(target, digest=bundle.digest(target), **owned)
            return Release(target, owned=owned)


def refuse_unable(job: Job) -> None:
    """Before any data is read: a method that cannot keep a promise says which can."""
    refuse_withholding(job)
    left = left_to_method(job.prepare, job.promises)
    for promise in left:
        if not isinstance(promise, job.method.keeps):
            able = [
                f"method = {name!r}" for name in registry.METHODS if isinstance(promise, registry.method(name).keeps)
            ]
            able += [
                f"a stage {name!r}" for name in registry.STAGES if isinstance(promise, registry.stage(name).can_keep)
            ]
            raise JobError(f"{job.method.name} cannot keep {promise.name}.", attempt=f"{' or '.join(able)}.")
    left.check_labels(getattr(job.method, "labels", None))


def refuse_withholding(job: Job) -> None:
    """`suppress_at_most` weighs what rows lose by being generalized, and would undo what a stage withheld for its promise."""
    if not job.release.suppress_at_most:
        return
    if not registry.writer(job.method.kind).generalizes:
        raise JobError(
            f"suppress_at_most is for methods that generalize; {job.method.name} publishes quasi-identifiers as they are.",
            attempt="suppress_at_most = 0, or another method.",
        )
    if job.prepare:
        raise JobError(
            "suppress_at_most and a preparing stage both withhold rows, and the stage's promise is about those it chose.",
            attempt="one of them.",
        )


def refuse_several(method: Any, sensitive: list[str]) -> None:
    if len(sensitive) > 1 and not registry.writer(method.kind).several_sensitive:
        raise JobError(
            f"A release by {method.name} has one sensitive column; the job declares {len(sensitive)}.",
            attempt='method = "mondrian" for several.',
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
    refuse_unsupported(lazy.collect_schema(), columns)
    refuse_several(job.method, with_role(columns, Role.SENSITIVE))
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


def handed(job: Job, counted: Counted, recipe: Recipe) -> Handed:
    """What the audit is given beside the files: the population that is promised about, and the source as it was counted."""
    population = next((p.population for p in job.promises if hasattr(p, "population")), None)
    cells, shown = recipe.cells, recipe.shown
    true: dict[str, dict[str, int]] = {}
    for at, domain in enumerate(cells.sensitive):
        held = np.bincount(cells.values[recipe.cell[shown], at], weights=recipe.quota[shown], minlength=domain.size)
        true[domain.name] = dict(zip(domain.texts, held.astype(np.int64).tolist(), strict=False))
    return Handed(population, counted.combinations, counted.times, true)


def recount(staged: Path, job: Job, beside: Handed) -> Audit:
    """Audit the staged folder; only what it shows to be kept is published, or what model and kind say no file can show."""
    found = audit_staged(staged, beside)
    broken = [verdict.model for verdict in found.promises if verdict.kept is False]
    if broken or found.kept is False:
        raise AuditFailed(
            f"The release does not keep {', '.join(broken) or 'its promises'}; nothing was published.",
            why="The audit recounted the staged files and disagrees with the method: this is our bug.",
            attempt="reporting it, with the job file.",
        )
    unproven = [verdict.model for verdict in found.promises if verdict.kept is None and not verdict.why]
    if unproven or len(found.promises) != len(tuple(job.promises)):
        raise InternalError(
            f"Nothing shows that the release keeps {', '.join(unproven) or 'all of its promises'}; nothing was published.",
            why="A promise is published on evidence, or on a stated reason why no file can show it.",
            attempt="reporting it, with the job file.",
        )
    return found
