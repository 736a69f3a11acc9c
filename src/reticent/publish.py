"""Publishes a job: from its table to a committed release.

> A method turns cells and a promise into a recipe; an engine turns a recipe and rows into a release; an
> audit recounts the release.

`publish` recovers what interrupted runs left, reads the rows, profiles their columns and counts them into cells, plans
on the cells, writes the release into a staging folder, audits it there, and commits it only if the audit passes.  The
steps are those of a `Table`: one that is held whole (`tables.WholeTable`), or one that an engine keeps in parts
(`partitioned.PartitionedTable`, ADR 10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from reticent import __version__, catalogue, registry
from reticent.audit.result import Audit
from reticent.audit.subject import make_folder_subject
from reticent.catalogue.choices import EngineName
from reticent.composition_check import check_composition, require_own_odds
from reticent.data.broken_lines import read_broken_lines
from reticent.data.cells import Cells
from reticent.data.columns import has_types, resolve_columns
from reticent.data.declared_hierarchy import get_plugin_name
from reticent.data.passthrough import ChangeStamp
from reticent.data.source import TextRows, list_broken_lines
from reticent.engines.engine import Engine, EngineContext
from reticent.errors import AuditFailed, InternalError, RequestError
from reticent.format.folder import translate_disk_errors
from reticent.job.job import Job
from reticent.job_table import collect_notices
from reticent.labels.label_loss import ReleaseLoss
from reticent.ledger.commit import commit, prepare_target
from reticent.ledger.exclusions import NewPeople, select_new_people
from reticent.ledger.ledger import Ledger
from reticent.ledger.notes import PublicationRecord
from reticent.ledger.staging import make_temp_dirs, stage_folder
from reticent.loss_limit import require_loss_within_limit
from reticent.methods.recipe_planning import select_method_promises, settle_method
from reticent.partitioned import PartitionedTable
from reticent.plugins import describe_versions, is_plugin_name, list_namespaces
from reticent.preconditions import require_partitionable, require_promises_supported
from reticent.progress import ProgressCallback, ProgressEvent, scale_progress
from reticent.randomness import Random
from reticent.release.bundle import verify_bundle
from reticent.release.release import Release, hold_publication
from reticent.tables import Table, WholeTable
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


@validate_arguments(
    job=is_job,
    to=optional(path),
    seed=optional(integer),
    force=flag,
    again=flag,
    only_new=flag,
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
    only_new: bool = False,
    ledger: Ledger | str | Path | None = None,
    progress: ProgressCallback = lambda stage: None,
    engine: EngineName | Engine = catalogue.DEFAULT_ENGINE,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Release:
    """Plan, stage, audit, and only then commit.  Without `to` the release is temporary until `save`.

    `ledger` is the folder of the ledger, instead of RETICENT_LEDGER or the user's own.  `engine` reads the rows. `warn`
    is called, before anything is written, with each sentence about people who would be alone or were known before; the
    release's notices repeat these sentences.  `only_new` leaves out people whom the ledger knows by their identifying
    columns.
    """
    loaded_engine = registry.load_engine(engine)
    require_promises_supported(job)
    target = None if to is None else Path(to)
    if loaded_engine.regions:
        require_partitionable(job, target)
    open_ledger = None if target is None else Ledger.open(ledger)
    recovered = [] if target is None or open_ledger is None else prepare_target(target, open_ledger, force)
    progress(ProgressEvent("reading", 0))
    source = job.source if frame is None else None
    stamp = ChangeStamp.read(source)
    ledger_folder = None if open_ledger is None else open_ledger.folder
    with make_temp_dirs(target, ledger_folder) as make_temp_dir:
        new_people = None
        if only_new:
            new_people = select_new_rows(loaded_engine, job, frame, open_ledger)
            is_typed = has_types(job.source, frame)
            frame = new_people.rows if is_typed else TextRows(new_people.rows)
        rng = Random.from_optional_seed(seed)
        table = read_table(loaded_engine, job, frame, EngineContext(progress, make_temp_dir, rng))
        broken_files = list_broken_lines(source)
        set_aside = sum(broken.count for broken in broken_files)
        if set_aside:
            progress(ProgressEvent(f"reading, lines set aside: {set_aside}", 0))
        rows = table.fingerprint(source)
        if target is not None and open_ledger is not None:
            open_ledger.require_not_published(target, rows, again)
        start, end = table.planning_range
        plan = table.plan(rng, scale_progress(progress, start, end))
        if job.release.loss_at_most is not None:
            require_loss_within_limit(job, plan.loss)
        lone_people = plan.describe_lone_people()
        for sentence in lone_people:
            warn(sentence)
        progress(ProgressEvent("writing", end))
        with stage_folder(target, ledger_folder) as staged:
            settled = plan.settled_job
            fields = {**make_manifest_fields(settled, rng, plan.cells, plan.chosen_parameters), **plan.manifest_fields}
            versions = describe_versions(list_plugin_names(settled, engine))
            if versions:
                fields["plugins"] = versions
            with translate_disk_errors(target), stamp.guard_passthrough(table.columns):
                witness = plan.write(staged, fields)
            progress(ProgressEvent("auditing", (1 + end) / 2))
            manifest = verify_bundle(staged)
            audit = require_passed(plan.audit(make_folder_subject(staged, manifest)), job)
            audited_loss = ReleaseLoss(audit.utility.get("ail"), audit.utility.get("ail_by_column", {}))
            require_loss_within_limit(job, audited_loss)
            require_own_odds(job.release.odds_at_most, manifest)
            record = PublicationRecord(
                rows=rows,
                audit=audit,
                job=job.to_toml(),
                promises=[registry.describe(promise) for promise in job.promises],
                notices=(
                    *recovered,
                    *(() if new_people is None else new_people.notices),
                    *table.notices,
                    *collect_notices(settled, plan.cells),
                    *lone_people,
                    *plan.describe_wider_labels(audit.utility),
                ),
                composition_check=partial(check_composition, job, frame, rows, loaded_engine.distributed),
                witness=witness,
                set_aside=set_aside,
                broken_lines=read_broken_lines(broken_files, job.source.encoding),
                left_out=None if new_people is None else new_people.left_out,
            )
            if target is None or open_ledger is None:
                return hold_publication(staged, manifest, record, ledger=ledger, temporary=True)
            record = commit(staged, target, record, open_ledger, force=force, again=again, progress=progress)
            return hold_publication(target, manifest, record)


def read_table(engine: Engine, job: Job, frame: Any, context: EngineContext) -> Table:
    """Read the job's table by an engine and count it, whole or in parts."""
    if engine.regions:
        return PartitionedTable.read(engine, job, frame, context)
    return WholeTable.read(engine, job, frame, context)


def select_new_rows(engine: Engine, job: Job, frame: Any, ledger: Ledger | None) -> NewPeople:
    """Select the rows of people whom the ledger does not know; refuse an engine that cannot look them up one by one."""
    if ledger is None:
        raise RequestError("Without a target no ledger is asked who is new.", attempt='to="release".')
    if engine.distributed or engine.regions:
        raise RequestError(
            "People are looked up in the ledger on one machine, and these rows are on a cluster.",
            attempt="--engine local or stream, or a source without them (`reticent forget`).",
        )
    scan = engine.scan(job.source, frame)
    return select_new_people(scan.rows, resolve_columns(job.columns, scan.names, job.release.undeclared), ledger)


def require_passed(audit: Audit, job: Job) -> Audit:
    """Return the audit of a staged folder if it shows that every promise of the job is kept; otherwise raise.

    A promise is published if the audit shows that it is kept, or if model and kind together explain why no file can
    show it and what was checked instead.
    """
    broken = [verdict.model for verdict in audit.promises if verdict.kept is False]
    foreign = list_namespaces((*broken, job.method.name))
    if broken and foreign:
        raise AuditFailed(
            f"The release does not keep {', '.join(broken)}; nothing was published.",
            why=f"The audit recounted the staged files and disagrees with code of the plugin {' or '.join(foreign)}.",
            attempt="another version of the plugin, or reporting this to its authors, with the job file.",
        )
    if broken or audit.kept is False:
        raise AuditFailed(
            f"The release does not keep {', '.join(broken) or 'its promises'}; nothing was published.",
            why="The audit recounted the staged files and disagrees with the method: this is our bug.",
            attempt="reporting it, with the job file.",
        )
    unproven = [verdict.model for verdict in audit.promises if verdict.kept is None and not verdict.why]
    if unproven or len(audit.promises) != len(tuple(job.promises)):
        raise InternalError(
            f"Nothing shows that the release keeps {', '.join(unproven) or 'all of its promises'}; nothing was published.",
            why="A promise is published on evidence, or on a stated reason why no file can show it.",
            attempt="reporting it, with the job file.",
        )
    return audit


def list_plugin_names(job: Job, engine: EngineName | Engine) -> list[str]:
    """List the plugins that a publication uses: those of its method, promises, hierarchies and engine."""
    names = [job.method.name, *(promise.name for promise in job.promises)]
    names += [name for column in job.columns.values() if (name := get_plugin_name(column.hierarchy)) is not None]
    for name, row in catalogue.ENGINES.plugin_rows.items():
        if engine == name or engine is catalogue.load_object(row.made_by):
            names.append(name)
    return [name for name in names if is_plugin_name(name)]


def make_manifest_fields(job: Job, rng: Random, cells: Cells, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Make the manifest fields that repeat the job, whose promises are settled; they are the same for all release kinds.

    `chosen` are the parameters that the method chose while planning.
    """
    method_promises = select_method_promises(job.prepare, job.promises)
    fields: dict[str, Any] = {
        "reticent": __version__,
        "jointly": job.jointly,
        "method": registry.describe(settle_method(job.method, method_promises, chosen), public=True),
        "promises": [registry.describe(promise, public=True) for promise in job.promises],
    }
    weights = getattr(job.method, "weights", None)
    if weights:
        fields["weights"] = registry.convert_to_plain(weights)
    if rng.seeded:
        fields["seeded"] = True
    if job.release.formulas == "quote":
        fields["formulas"] = job.release.formulas
    if job.release.part_rows is not None:
        fields["part_rows"] = job.release.part_rows
    if job.about is not None:
        fields["about"] = job.about.to_plain()
    if cells.rows_per_person > 1:
        fields["rows_per_person"] = cells.rows_per_person
    if cells.withheld_before.total:
        fields["withheld_before"] = cells.withheld_before.to_dict()
    if job.prepare:
        fields["prepare"] = [registry.describe(stage) for stage in job.prepare]
    return fields
