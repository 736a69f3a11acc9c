"""Incremental publication: one release for each batch of the rows, each with the same promise, and one summary.

Xu, Wang, Fu & Wong, section 1.1: data published day by day comes in small batches, and small batches are skewed.  Each batch is
restored (by the job's stages), published and audited by itself.  The promise holds for each release alone: who is in several
batches, or is known to be in one, is not protected across them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import AlreadyPublished, ColumnError, PromiseUnreachable, suggest
from reticent.job import Job
from reticent.owner import ledger, store
from reticent.publish import publish
from reticent.release.disk import writing
from reticent.table import source as sources
from reticent.table.roles import Role, resolve

SUMMARY = "batches.json"
PER_BATCH = "The promise holds for each batch alone, not for a person who is in several, nor for the batches together."


def publish_batches(
    job: Job, by: str, to: Path, *, seed: int | None = None, force: bool = False, again: bool = False,
    progress: Callable[[str], None] = lambda stage: None,
) -> dict[str, Any]:  # fmt: skip
    """A release in `to` for each value of a column; the summary, which is also kept in the owner's folder.

    A batch that cannot keep the promise is left out and said so; the others are published.
    """
    fingerprint = sources.fingerprint(job.source)
    summary = ledger.owner_folder(to / "batch") / SUMMARY
    _refuse_again(summary, fingerprint, again or force)
    progress("reading")
    frame = sources.collect(sources.scan(job.source), "Reading the rows")
    if by not in frame.columns:
        raise ColumnError(f"There is no column {by!r} to batch by.", attempt=suggest(by, frame.columns))
    parts = list(_parts(frame, by, job))
    for name, _ in parts:
        store.refuse_existing(to / name, force)
    batches = []
    for at, (name, part) in enumerate(parts):
        progress(f"batch {at + 1} of {len(parts)}")
        batches.append(_publish_one(job, name, part, to, None if seed is None else seed + at, force))
    kept = [entry for entry in batches if entry["published"]]
    found = {
        "source": fingerprint, "batch_by": by, "batches": batches, "published": len(kept), "unreachable": len(batches) - len(kept),
        "rows": sum(entry["rows"] for entry in kept), "withheld": sum(entry["withheld"] for entry in kept), "promise": PER_BATCH,
    }  # fmt: skip
    with writing(summary):
        summary.parent.mkdir(parents=True, exist_ok=True)
        summary.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def _publish_one(job: Job, name: str, part: pl.DataFrame, to: Path, seed: int | None, force: bool) -> dict[str, Any]:
    try:
        release = publish(job, frame=part, to=to / name, seed=seed, force=force)
    except PromiseUnreachable as error:
        return {"batch": name, "published": False, "source_rows": len(part), "why": str(error)}
    return {"batch": name, "published": True, "source_rows": len(part), "rows": release.manifest.rows,
            "withheld": release.manifest.withheld, "digest": release.digest, "kept": (release.audited or {}).get("kept")}  # fmt: skip


def _parts(frame: pl.DataFrame, by: str, job: Job) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each batch under a name that a folder can have, in the order of the column's values."""
    if frame[by].null_count():
        raise ColumnError(
            f"The column {by!r} to batch by is missing in {frame[by].null_count()} row(s).", attempt="filling it."
        )
    roles = resolve(job.columns, frame.columns, "drop")
    drop = by not in roles or roles[by].role is Role.IDENTIFYING
    columns = [name for name in frame.columns if not (drop and name == by and name not in roles)]
    seen: set[str] = set()
    for value in frame[by].unique().sort().to_list():
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", str(value)).strip("-.") or "batch"
        while name in seen or name == ledger.OWNER:
            name += "-2"
        seen.add(name)
        yield name, frame.filter(pl.col(by) == value).select(columns)


def _refuse_again(summary: Path, fingerprint: str | None, again: bool) -> None:
    """A source is batched once: another cut of the same people can be joined with the first."""
    if again or fingerprint is None or not summary.exists():
        return
    if json.loads(summary.read_text(encoding="utf-8")).get("source") == fingerprint:
        raise AlreadyPublished(
            "This source was published in batches before.",
            why="Two releases of the same people can be joined: together they no longer promise what each alone does.",
            attempt="--again if you accept that, or --force to replace them.",
        )
