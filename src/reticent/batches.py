"""Incremental publication: one release for each batch of the rows, each with the same promise, and one summary.

Xu, Wang, Fu & Wong, section 1.1: data published day by day comes in small batches, and small batches are skewed.
Each batch is restored (by the job's stages), published and audited by itself.  A batch is a stratum that the promise
conditions on: who reads a release knows in which batch its people are.  So the column that makes the batches must
tell nothing that is to be protected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue
from reticent.door import a_job, a_ledger, an_engine, called, door, flag, optional, path, text, whole
from reticent.errors import ColumnError, OutputExists, PromiseUnreachable, some
from reticent.job import Job
from reticent.owner import private, staging
from reticent.owner.fingerprint import Rows
from reticent.owner.keeping import refuse_existing
from reticent.owner.ledger import Ledger
from reticent.owner.places import PLACE, notes_folder, refuse_overlap, written_place
from reticent.owner.recovery import recover
from reticent.publish import publish
from reticent.refusals import planning_whole
from reticent.release.disk import writing
from reticent.step import Step
from reticent.table.carried import NEAR_UNIQUE
from reticent.table.codec import COUNT
from reticent.table.header import known
from reticent.table.roles import Column, Role, resolve, with_role
from reticent.table.source import TextRows
from reticent.table.source_types import has_types
from reticent.table.stamped import Stamp

SUMMARY = "batches.json"
_ROWS = "\x00rows"
PER_BATCH = (
    "The promise holds for each batch alone, given that a person is in it: not for a person who is in several, nor for "
    "the batches together."
)
_REFUSED = {
    Role.IDENTIFYING: "Identifying values are never published, and each would be the name of a folder.",
    Role.QUASI: "Each release would tell the exact value of everyone in it, which is to be generalized.",
    Role.SENSITIVE: "Each release would tell the exact value of everyone in it, which is what the promise protects.",
}


@door(
    job=a_job,
    by=text,
    to=path,
    seed=optional(whole),
    force=flag,
    again=flag,
    ledger=optional(a_ledger),
    progress=called,
    engine=an_engine,
)
def publish_batches(
    job: Job, by: str, to: str | Path, *, frame: Any = None, seed: int | None = None, force: bool = False,
    again: bool = False, ledger: str | Path | None = None, progress: Callable[[str], None] = lambda stage: None,
    engine: Any = catalogue.ENGINE,
) -> dict[str, Any]:  # fmt: skip
    """Publish a release in `to` for each value of a column; returns the summary, which the owner's folder keeps too.

    A batch that cannot keep the promise is left out and the summary says so; the others are published.
    """
    to, book, worker = Path(to), Ledger.of(ledger), planning_whole(engine, "Cutting batches")
    refuse_overlap(to, book.folder)
    recover(book.folder, [to])
    progress("reading")
    source, scanned = job.source if frame is None else None, worker.scan(job.source, frame)
    rows = worker.held(scanned)
    stamp = Stamp.of(source if rows is scanned else None)  # rows in memory stay what they are
    names = rows.collect_schema().names()
    if by not in names:
        seen = None if worker.distributed else rows
        raise ColumnError(f"There is no column {by!r} to batch by.", attempt=known(by, names, seen))
    columns = resolve(job.columns, names, "drop")
    values = worker.tallied(rows, [by]).rename({COUNT: _ROWS}).sort(by)
    _refuse_telling(by, values, columns.get(by))
    handed = (lambda cut: cut) if worker.distributed or has_types(job.source, frame) else TextRows
    parts = list(_parts(worker, rows, by, values, handed, keep=by in columns))
    _refuse_places(to, [part.name for part in parts], force)
    counted = worker.tallied(rows, [*with_role(columns, Role.QUASI), *with_role(columns, Role.SENSITIVE)])
    whole = Rows(counted.drop(COUNT), counted[COUNT].to_numpy(), source)
    book.refuse_again(to, whole, again)
    book, batches = book.for_batches(whole, to), []
    for at, part in enumerate(parts):
        progress(Step(f"batch {at + 1} of {len(parts)}", at / len(parts)))
        number = None if seed is None else seed + at
        how: dict[str, Any] = {"seed": number, "force": force, "again": again, "ledger": book, "engine": engine}
        stamp.refuse_changed()
        batches.append(_publish_one(job, part, to / part.name, **how))
    found = _summary(by, batches)
    _write_summary(to, found, book.folder)
    return found


def _refuse_places(to: Path, names: list[str], force: bool) -> None:
    if (to / "manifest.json").exists():
        raise OutputExists(
            f"{to} is a release: batches cannot be put into it.", why="A release is handed out whole, as it was made.",
            attempt="another name.",
        )  # fmt: skip
    for name in names:
        refuse_existing(to / name, force)


def _write_summary(to: Path, found: dict[str, Any], ledger: Path) -> None:
    """In the owner's folder, beside the batches' notes."""
    notes = notes_folder(to)
    with writing(notes):
        private.make_folder(notes)
        for name, content in ((PLACE, written_place(to)), (SUMMARY, json.dumps(found, indent=1).encode() + b"\n")):
            with staging.new_file(notes / name, ledger=ledger) as path:
                private.write(path, content)


def _publish_one(job: Job, part: Batch, to: Path, **how: Any) -> dict[str, Any]:
    """One batch; the ledger was asked about all of them together before."""
    try:
        release = publish(job, frame=part.frame, to=to, **how)
    except PromiseUnreachable as error:
        return {"batch": to.name, "published": False, "source_rows": part.rows, "why": str(error)}
    return {"batch": to.name, "published": True, "source_rows": part.rows, "rows": release.manifest.rows,
            "withheld": release.manifest.withheld, "digest": release.digest,
            "kept": release.audited.kept}  # fmt: skip


def _summary(by: str, batches: list[dict[str, Any]]) -> dict[str, Any]:
    kept = [entry for entry in batches if entry["published"]]
    return {
        "batch_by": by, "batches": batches, "published": len(kept), "unreachable": len(batches) - len(kept),
        "rows": sum(entry["rows"] for entry in kept), "withheld": sum(entry["withheld"] for entry in kept),
        "promise": PER_BATCH,
    }  # fmt: skip


def _refuse_telling(by: str, values: pl.DataFrame, column: Column | None) -> None:
    """A batch tells its column's value of everyone in it: only an insensitive or undeclared column may make one."""
    if column is not None and column.role in _REFUSED:
        raise ColumnError(
            f"The column {by!r} is {column.role.value}: it cannot make batches.",
            why=_REFUSED[column.role],
            attempt="an insensitive column or one without a role, such as the day of a delivery.",
        )
    rows = int(values[_ROWS].sum())
    if missing := int(values.filter(pl.col(by).is_null())[_ROWS].sum()):
        raise ColumnError(f"The column {by!r} to batch by is missing in {some(missing, 'row')}.", attempt="filling it.")
    alone = int((values[_ROWS] == 1).sum())
    if alone * 100 > NEAR_UNIQUE * rows and not (column is not None and column.acknowledge):
        raise ColumnError(
            f"The column {by!r} is near-unique: {alone:,} of {rows:,} rows would be a batch of their own.",
            why="Each value is the name of a folder, and who knows it knows the row.",
            attempt="a column with fewer values, such as the week instead of the minute.",
        )


@dataclass(frozen=True, eq=False)
class Batch:
    """The rows with one value of the column, wherever the engine has them, and a name that a folder can have."""

    name: str
    rows: int
    frame: Any


def _parts(
    worker: Any, rows: Any, by: str, values: pl.DataFrame, handed: Callable[[Any], Any], *, keep: bool
) -> Iterator[Batch]:
    """Each batch, in the order of the column's values; `handed` says that rows are those of a CSV, where they are."""
    columns = [name for name in rows.collect_schema().names() if keep or name != by]
    seen: set[str] = {SUMMARY, PLACE}  # the owner's folder has the batches' notes beside these
    for at, many in enumerate(values[_ROWS]):
        value = values[by][at : at + 1]
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", str(value.item())).strip("-.") or "batch"
        while name in seen:
            name += "-2"
        seen.add(name)
        yield Batch(name, many, handed(worker.cut(rows, by, value, columns)))
