"""Incremental publication: one release for each batch of the rows, each with the same promise, and one summary.

Xu, Wang, Fu & Wong, section 1.1: data published day by day comes in small batches, and small batches are skewed. Each
batch is restored (by the job's stages), published and audited by itself.  A batch is a stratum that the promise
conditions on: readers of a release know in which batch its people are.  So the column that makes the batches must
reveal nothing that is to be protected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue
from reticent.data.cells import COUNT_COLUMN
from reticent.data.columns import Column, Role, find_columns_with_role, has_types, resolve_columns
from reticent.data.csv import suggest_column
from reticent.data.passthrough import MAX_UNIQUE_PERCENT, ChangeStamp
from reticent.data.source import TextRows
from reticent.errors import ColumnError, OutputExists, PromiseUnreachable, pluralize
from reticent.format.folder import translate_disk_errors
from reticent.job.job import Job
from reticent.ledger import private_files, staging
from reticent.ledger.commit import require_target_free
from reticent.ledger.fingerprint import CountedRows
from reticent.ledger.identifiers import MAX_COLLECTED_ROWS, MAX_HELD_ROWS, collect_identifiers
from reticent.ledger.journal import recover
from reticent.ledger.ledger import Ledger
from reticent.ledger.paths import PLACE_FILE, encode_place, require_separate_folders, resolve_notes_folder
from reticent.preconditions import require_whole_table_engine
from reticent.progress import ProgressEvent
from reticent.publish import publish
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
    text,
    validate_arguments,
)

SUMMARY_FILE = "batches.json"
_ROW_COUNT_COLUMN = "\x00rows"
PER_BATCH_SENTENCE = (
    "The promise holds for each batch alone, given that a person is in it: not for a person who is in several, nor for "
    "the batches together."
)
_ROLE_REFUSALS = {
    Role.IDENTIFYING: "Identifying values are never published, and each would be the name of a folder.",
    Role.QUASI: "Each release would tell the exact value of everyone in it, which is to be generalized.",
    Role.SENSITIVE: "Each release would tell the exact value of everyone in it, which is what the promise protects.",
}


@validate_arguments(
    job=is_job,
    by=text,
    to=path,
    seed=optional(integer),
    force=flag,
    again=flag,
    ledger=optional(is_ledger),
    progress=is_callable,
    engine=is_engine,
)
def publish_batches(
    job: Job,
    by: str,
    to: str | Path,
    *,
    frame: Any = None,
    seed: int | None = None,
    force: bool = False,
    again: bool = False,
    ledger: str | Path | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    engine: Any = catalogue.DEFAULT_ENGINE,
) -> dict[str, Any]:
    """Publish a release in `to` for each value of a column; return the summary, which the owner's folder keeps too.

    A batch that cannot keep the promise is left out and the summary names it; the others are published.
    """
    to = Path(to)
    book = Ledger.open(ledger)
    worker = require_whole_table_engine(engine, "Cutting batches")
    require_separate_folders(to, book.folder)
    recover(book.folder, [to])
    progress("reading")
    source = job.source if frame is None else None
    scanned = worker.scan(job.source, frame).rows
    rows = worker.cache(scanned)
    stamp = ChangeStamp.read(source if rows is scanned else None)  # rows in memory stay what they are
    names = rows.collect_schema().names()
    if by not in names:
        readable_rows = None if worker.distributed else rows
        raise ColumnError(f"There is no column {by!r} to batch by.", attempt=suggest_column(by, names, readable_rows))
    columns = resolve_columns(job.columns, names, "drop")
    values = worker.count_distinct_rows(rows, [by]).rename({COUNT_COLUMN: _ROW_COUNT_COLUMN}).sort(by)
    _require_safe_column(by, values, columns.get(by))
    is_typed = worker.distributed or has_types(job.source, frame)
    source_batches = list(_cut_batches(worker, rows, by, values, is_typed=is_typed, keep=by in columns))
    _require_free_folders(to, [batch.name for batch in source_batches], force)
    keys = [*find_columns_with_role(columns, Role.QUASI), *find_columns_with_role(columns, Role.SENSITIVE)]
    counted = worker.count_distinct_rows(rows, keys)
    row_counts = counted[COUNT_COLUMN].to_numpy()
    max_rows = MAX_HELD_ROWS if worker.name == catalogue.DEFAULT_ENGINE else MAX_COLLECTED_ROWS
    count_values = partial(worker.count_distinct_rows, rows)
    identifiers = collect_identifiers(columns, count_values, int(row_counts.sum()), max_rows)
    all_rows = CountedRows(counted.drop(COUNT_COLUMN), row_counts, source, identifiers)
    book.require_not_published(to, all_rows, again)
    book = book.for_batches(all_rows, to)
    summaries = []
    for number, batch in enumerate(source_batches):
        progress(ProgressEvent(f"batch {number + 1} of {len(source_batches)}", number / len(source_batches)))
        stamp.require_unchanged()
        publish_batch = partial(
            publish,
            job,
            frame=batch.frame,
            to=to / batch.name,
            seed=None if seed is None else seed + number,
            force=force,
            again=again,
            ledger=book,
            engine=engine,
        )
        summaries.append(_summarize_batch(batch, publish_batch))
    summary = _summarize_batches(by, summaries)
    _write_summary(to, summary, book.folder)
    return summary


@dataclass(frozen=True, eq=False)
class SourceBatch:
    """The rows with one value of the column, wherever the engine has them, and a name that a folder can have."""

    name: str
    rows: int
    frame: Any


def _require_safe_column(by: str, values: pl.DataFrame, column: Column | None) -> None:
    """Refuse a column that is neither insensitive nor undeclared: a batch reveals its column's value for everyone in it."""
    if column is not None and column.role in _ROLE_REFUSALS:
        raise ColumnError(
            f"The column {by!r} is {column.role.value}: it cannot make batches.",
            why=_ROLE_REFUSALS[column.role],
            attempt="an insensitive column or one without a role, such as the day of a delivery.",
        )
    rows = int(values[_ROW_COUNT_COLUMN].sum())
    missing = int(values.filter(pl.col(by).is_null())[_ROW_COUNT_COLUMN].sum())
    if missing:
        raise ColumnError(
            f"The column {by!r} to batch by is missing in {pluralize(missing, 'row')}.", attempt="filling it."
        )
    alone = int((values[_ROW_COUNT_COLUMN] == 1).sum())
    if alone * 100 > MAX_UNIQUE_PERCENT * rows and not (column is not None and column.acknowledge):
        raise ColumnError(
            f"The column {by!r} is near-unique: {alone:,} of {rows:,} rows would be a batch of their own.",
            why="Each value is the name of a folder, and who knows it knows the row.",
            attempt="a column with fewer values, such as the week instead of the minute.",
        )


def _cut_batches(
    engine: Any, rows: Any, by: str, values: pl.DataFrame, *, is_typed: bool, keep: bool
) -> Iterator[SourceBatch]:
    """Yield each batch, in the order of the column's values; rows without types are marked as those of a CSV.

    The column itself is left out unless it is to be kept.
    """
    columns = [name for name in rows.collect_schema().names() if keep or name != by]
    taken_names: set[str] = {SUMMARY_FILE, PLACE_FILE}  # the owner's folder has the batches' notes beside these
    for index, row_count in enumerate(values[_ROW_COUNT_COLUMN]):
        value = values[by][index : index + 1]
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", str(value.item())).strip("-.") or "batch"
        while name in taken_names:
            name += "-2"
        taken_names.add(name)
        batch_rows = engine.filter_equal(rows, by, value, columns)
        yield SourceBatch(name, row_count, batch_rows if is_typed else TextRows(batch_rows))


def _require_free_folders(to: Path, names: list[str], force: bool) -> None:
    if (to / "manifest.json").exists():
        raise OutputExists(
            f"{to} is a release: batches cannot be put into it.",
            why="A release is handed out whole, as it was made.",
            attempt="another name.",
        )
    for name in names:
        require_target_free(to / name, force)


def _summarize_batch(batch: SourceBatch, publish_batch: Callable[[], Release]) -> dict[str, Any]:
    """Publish one batch and summarize it; the ledger was checked for all of them together before."""
    try:
        release = publish_batch()
    except PromiseUnreachable as error:
        return {"batch": batch.name, "published": False, "source_rows": batch.rows, "why": str(error)}
    return {
        "batch": batch.name,
        "published": True,
        "source_rows": batch.rows,
        "rows": release.manifest.rows,
        "withheld": release.manifest.withheld,
        "digest": release.digest,
        "kept": release.audited.kept,
    }


def _summarize_batches(by: str, summaries: list[dict[str, Any]]) -> dict[str, Any]:
    published = [summary for summary in summaries if summary["published"]]
    return {
        "batch_by": by,
        "batches": summaries,
        "published": len(published),
        "unreachable": len(summaries) - len(published),
        "rows": sum(summary["rows"] for summary in published),
        "withheld": sum(summary["withheld"] for summary in published),
        "promise": PER_BATCH_SENTENCE,
    }


def _write_summary(to: Path, summary: dict[str, Any], ledger: Path) -> None:
    """Write the summary in the owner's folder, beside the batches' notes."""
    notes = resolve_notes_folder(to)
    contents = {PLACE_FILE: encode_place(to), SUMMARY_FILE: json.dumps(summary, indent=1).encode() + b"\n"}
    with translate_disk_errors(notes):
        private_files.make_folder(notes)
        for name, content in contents.items():
            with staging.stage_file(notes / name, ledger=ledger) as path:
                private_files.write_file(path, content)
